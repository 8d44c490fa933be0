package page_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/web/internal/page"
)

func parsed(t *testing.T, text string) *page.Page {
	t.Helper()
	address, err := url.Parse("https://x.example/dir/page.html?q")
	if err != nil {
		t.Fatal(err)
	}
	return page.Parse(t.Context(), []byte(text), address)
}

func TestMarkdown(t *testing.T) {
	for _, c := range []struct{ name, html, want string }{
		{"paragraphs", "<p>One  two\n three</p><p>Four", "One two three\n\nFour"},
		{"headings", "<h1>A <b>b</b></h1><h3>C<a class=headerlink href='#c'>¶</a></h3><h2><a href='#d'>#</a>D</h2><h4> </h4>", "# A **b**\n\n### C\n\n## D"},
		{"emphasis", "a<b> bold </b>c <i>it</i><em></em> <strong>x</strong><strong>y</strong> <s>old</s>", "a **bold** c *it* **xy** ~~old~~"},
		{"emphasis over lines", "<b>one<br>two</b>", "**one**  \n**two**"},
		{"emphasis at spaces that do not break", "a&nbsp;<b>b&nbsp;</b>c", "a **b** c"},
		{"lines", "a<br>b<br><br>c", "a  \nb\n\nc"},
		{"code", "Use <code>a `b` c</code> and <kbd>Ctrl</kbd>.", "Use ``a `b` c`` and `Ctrl`."},
		{"block of code", "<pre><code class='language-go'>\nfunc a() {\n\treturn `x`\n}\n</code></pre>", "```go\nfunc a() {\n\treturn `x`\n}\n```"},
		{"fences in code", "<pre>```\na\n```</pre>", "````\n```\na\n```\n````"},
		{"languages", "<div class='highlight-python notranslate'><div class=highlight><pre>a</pre></div></div><pre class='sourceCode haskell'>b</pre><div class='highlight highlight-source-shell'><pre>c</pre></div><pre data-lang=JS>d</pre><pre class='brush: sql;'>e</pre>",
			"```python\na\n```\n\n```haskell\nb\n```\n\n```shell\nc\n```\n\n```js\nd\n```\n\n```sql\ne\n```"},
		{"numbers of lines", "<table><tr><td class=linenos><pre>1\n2</pre></td><td class=code><pre>a\nb</pre></td></tr></table><pre><span class=lineno>1</span>x</pre>", "```\na\nb\n```\n\n```\nx\n```"},
		{"lines of code in elements", "<pre><div>a</div><div>b</div></pre><pre>c<br>d</pre>", "```\na\nb\n```\n\n```\nc\nd\n```"},
		{"links", "<a href=a>A</a> <a href='/b c'>B</a> <a href='//y.example/(1)'>C</a> <a href='mailto:a@x.example'>D</a>",
			"[A](https://x.example/dir/a) [B](https://x.example/b%20c) [C](https://y.example/%281%29) [D](mailto:a@x.example)"},
		{"no links", "<a href='#x'>A</a> <a href='javascript:b()'>B</a> <a href=' JavaScript:b()'>C</a> <a>D</a> <a href='data:text/html,x'>E</a> <a href='vbscript:x'>F</a>", "A B C D E F"},
		{"base", "<base href='/other/'><a href=a>A</a><img src=i.png alt=I>", "[A](https://x.example/other/a)![I](https://x.example/other/i.png)"},
		{"brackets in links", "<a href=a>[1] x</a>", `[\[1\] x](https://x.example/dir/a)`},
		{"link of blocks", "<a href=a><h2>T</h2><p>text</p></a>", "## [T](https://x.example/dir/a)\n\ntext"},
		{"link of an image", "<a href=a><img src=i.png alt='An i'></a>", "[![An i](https://x.example/dir/i.png)](https://x.example/dir/a)"},
		{"images", "<img src=a.png alt=A> <img src='data:image/gif;base64,R0' data-src=b.png alt=B> <img src='data:image/gif;base64,R0'> <img src=p.gif width=1 height=1> <img srcset='c.png 1x, d.png 2x'>",
			"![A](https://x.example/dir/a.png) ![B](https://x.example/dir/b.png) ![](https://x.example/dir/c.png)"},
		{"figure", "<p>a</p><figure><img src=f.png><figcaption>A <b>cat</b></figcaption></figure><p>b", "a\n\n![](https://x.example/dir/f.png)\n\nA **cat**\n\nb"},
		{"list", "<ul><li>a<li>b<ol start=3><li>c<li>d<ul><li>e</ul></ol><li>f</ul>", "- a\n- b\n  3. c\n  4. d\n     - e\n- f"},
		{"list of a list", "<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>", "- a\n  - b\n- c"},
		{"loose list", "<ol><li><p>a</p><p>b</p></li><li><p>c</p><pre>d</pre></li></ol>", "1. a\n\n   b\n\n2. c\n\n   ```\n   d\n   ```"},
		{"list of tasks", "<ul><li><input type=checkbox checked> done<li><input type=checkbox> open</ul>", "- [x] done\n- [ ] open"},
		{"values of items", "<ol><li value=7>a<li>b</ol>", "7. a\n8. b"},
		{"definitions", "<dl><dt>A<dd>first<dd>second<dt><code>B</code><dd><p>x</p><p>y</p></dl>", "**A**\n: first\n: second\n\n`B`\n: x\n\n  y"},
		{"definitions in boxes", "<dl><div><dt>A</dt><dd>a</dd></div><div><dt>B</dt><dd>b</dd></div></dl>", "**A**\n: a\n\n**B**\n: b"},
		{"quote", "<blockquote><p>a</p><blockquote>b</blockquote><ul><li>c</ul></blockquote>", "> a\n>\n> > b\n>\n> - c"},
		{"rule", "<hr><p>a</p><hr><hr><p>b</p><hr>", "a\n\n---\n\nb"},
		{"table", "<table><caption>T</caption><thead><tr><th>A<th>B</thead><tr><td>1<td>x|y<tr><td><b>2</b><td>a<br>b</table>", "**T**\n\n| A | B |\n| --- | --- |\n| 1 | x\\|y |\n| **2** | a<br>b |"},
		{"table without a head", "<table><tr><td>a<td>b<tr><td>c<td>d</table>", "| a | b |\n| --- | --- |\n| c | d |"},
		{"table of keys", "<table><tr><th>a<td>1<tr><th>b<td>2</table>", "| | |\n| --- | --- |\n| a | 1 |\n| b | 2 |"},
		{"merged cells", "<table><tr><th colspan=2>A<th>B<tr><td rowspan=2>1<td>2<td>3<tr><td>4<td>5</table>", "| A |  | B |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n|  | 4 | 5 |"},
		{"list in a table", "<table><tr><th>A<th>B<tr><td><ul><li>x<li>y</ul><td>z</table>", "| A | B |\n| --- | --- |\n| - x<br>- y | z |"},
		{"empty rows and columns", "<table><tr><th>A<th><th>B<tr><td><td><td><tr><td>1<td> <td>2</table>", "| A | B |\n| --- | --- |\n| 1 | 2 |"},
		{"table that places", "<table><tr><td>Menu<td><table><tr><td>a<td>b<tr><td>c<td>d</table></table>", "Menu\n\n| a | b |\n| --- | --- |\n| c | d |"},
		{"table of one column", "<table><tr><td>a<tr><td>b</table>", "a\n\nb"},
		{"raised and lowered", "10<sup>6</sup> H<sub>2</sub>O 1<sup>st</sup>", "10^6 H2O 1st"},
		{"ruby", "<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>", "漢字(かんじ)"},
		{"formula", "<math alttext='x^2'><mi>x</mi></math> <math><semantics><mi>y</mi><annotation encoding='application/x-tex'>y_1</annotation></semantics></math>", "$x^2$ $y_1$"},
		{"details", "<details><summary>More</summary><p>a</p></details>", "**More**\n\na"},
		{"heading that opens", "<h3><button>Question?</button></h3><div>Answer.</div>", "### Question?\n\nAnswer."},
		{"shadow root", "<x-card><template shadowrootmode=open><p>in</p></template></x-card><template><p>out</p></template>", "in"},
		{"block in an inline element", "<span>a<div>b</div>c</span>", "a\n\nb\n\nc"},
		{"what looks like Markdown", "<p># a</p><p>- b</p><p>1. c</p><p>> d</p><p>*e* _f_ `g` snake_case read_<wbr>dir 2 * 3</p><p>&lt;b> [h](i) &amp;amp;</p><p>+</p><p>---</p><p>#tag</p>",
			"\\# a\n\n\\- b\n\n1\\. c\n\n\\> d\n\n\\*e\\* \\_f_ \\`g\\` snake_case read_dir 2 * 3\n\n\\<b> [h\\](i) \\&amp;\n\n\\+\n\n\\---\n\n#tag"},
		{"parts that are no text", "<nav>N</nav><p>a</p><script>s</script><style>t</style><svg><text>v</text></svg><select><option>o</select><textarea>x</textarea><button>b</button><footer>F</footer><!-- c -->", "N\n\na\n\nF"},
		{"nothing", "", ""},
		{"no tags", "just text", "just text"},
	} {
		if diff := cmp.Diff(c.want, parsed(t, c.html).Whole(t.Context()).Markdown); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// What a reader does not see is where instructions to a model are put.
func TestHidden(t *testing.T) {
	for _, hidden := range []string{
		`<p style="display:none">BAD</p>`, `<p style="DISPLAY : none !important">BAD</p>`, `<p style="visibility: hidden">BAD</p>`, `<p hidden>BAD</p>`, `<p hidden="">BAD</p>`,
		`<p aria-hidden="true">BAD</p>`, `<p style="font-size:0">BAD</p>`, `<p style="font-size:0px;color:red">BAD</p>`, `<p style="opacity:0">BAD</p>`, `<p style="opacity: 0.01">BAD</p>`,
		`<div style="height:0;overflow:hidden">BAD</div>`, `<div style="width:1px;height:1px;overflow:hidden">BAD</div>`, `<div style="position:absolute;left:-9999px">BAD</div>`,
		`<div style="position:fixed;top:-2000px">BAD</div>`, `<div style="text-indent:-9999px">BAD</div>`, `<div style="position:absolute;clip:rect(0 0 0 0)">BAD</div>`, `<div style="clip-path: inset(100%)">BAD</div>`,
		`<!-- BAD -->`, `<dialog>BAD</dialog>`, `<template>BAD</template>`, `<span style="display:none">BAD</span>`, `<a href="/x" style="display:none">BAD</a>`, `<noscript>BAD</noscript>`,
		`<ul><li hidden>BAD<li>ok</ul>`, `<table><tr hidden><td>BAD<td>BAD<tr><td>a<td>b<tr><td>c<td>d</table>`, `<pre><span hidden>BAD</span>x</pre>`, `<img alt=BAD src=x.png style="display:none">`, `<img alt=BAD src=x.png width=1>`,
		`<div style="display:none"><div style="display:block"><p>BAD</p></div></div>`, `<input type=hidden value=BAD>`, `<p title="BAD">x</p>`,
	} {
		body := `<article><p>The text of this page, which is long enough, has some commas, and so it is the main text of it.</p>` + hidden + `<p>It goes on for another paragraph of the same kind, so that there is a tail, and a head.</p></article>`
		p := parsed(t, body)
		for name, doc := range map[string]page.Document{"main": p.Main(t.Context()), "whole": p.Whole(t.Context())} {
			if strings.Contains(doc.Markdown, "BAD") || !strings.Contains(doc.Markdown, "It goes on") {
				t.Errorf("%s: %s shows\n%s", hidden, name, doc.Markdown)
			}
		}
		if links, _ := p.Links(50); len(links) > 0 {
			t.Errorf("%s: links %v", hidden, links)
		}
	}
	for _, shown := range []string{`<p style="opacity:1">x`, `<p style="height:100%;overflow:hidden">x`, `<p style="font-size:0.9em">x`, `<p style="position:absolute;left:0">x`, `<p aria-hidden=false>x`, `<p hidden=until-found>x`, `<dialog open>x</dialog>`, `<p style="display:block">x`} {
		if got := parsed(t, shown).Whole(t.Context()); got.Markdown != "x" || got.Note != "" {
			t.Errorf("%s: %+v", shown, got)
		}
	}
}

func TestInvisibleCharacters(t *testing.T) {
	for in, want := range map[string]string{
		"a\U000e0049\U000e0067b": "ab", "a\u200bb": "ab", "a\u200b\u200c\u200d\u200bb": "ab", "\ufeffa": "a", "a\u202eb\u202c": "ab", "a\u2066b\u2069": "ab", "soft\u00adware": "software",
		"می\u200cخواهم": "می\u200cخواهم", "👩\u200d💻": "👩\u200d💻", "🏳\ufe0f\u200d🌈": "🏳\ufe0f\u200d🌈", "a\ufe01\ufe02\ufe03b": "ab", "a\x00b\x1bc": "abc", "a\U000e0100\U000e0101b": "ab", "a\u3164b": "ab", "a\u2062b": "ab",
	} {
		if got := parsed(t, "<p>"+strings.ReplaceAll(in, "\x00", "")+"</p>").Whole(t.Context()).Markdown; got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestLinks(t *testing.T) {
	p := parsed(t, `<nav><a href="/">Home</a></nav><a href="/">again</a><a href="#a">part</a><a href="javascript:x()">s</a><a href="b"><img alt="An image" src=i></a><a href=c title=T></a><a href=d aria-label=L></a>`)
	links, total := p.Links(3)
	want := []page.Link{{Text: "Home", Href: "https://x.example/"}, {Text: "An image", Href: "https://x.example/dir/b"}, {Text: "T", Href: "https://x.example/dir/c"}}
	if diff := cmp.Diff(want, links); diff != "" || total != 4 {
		t.Errorf("%d (-want +got):\n%s", total, diff)
	}
}

func TestStructured(t *testing.T) {
	p := parsed(t, `<title>T</title><meta name=description content=D><p>`+strings.Repeat("词", 6000)+`</p>`+strings.Repeat(`<a href=a>a</a>`, 3))
	got := p.Structured(t.Context())
	if got.Title != "T" || got.Description != "D" || strings.Count(got.Text, "词") != 5000 || !strings.HasSuffix(got.Text, "…") || len(got.Links) != 1 {
		t.Errorf("%q %q %d %v", got.Title, got.Description, strings.Count(got.Text, "词"), got.Links)
	}
}

func TestOutline(t *testing.T) {
	text := "# Ä\n\ntext\n\n```\n# no\n```\n\n## B b\n\n> # quoted\n\nmore ü\n\n### C\n"
	want := []page.Heading{{1, "Ä", 0}, {2, "B b", 25}, {3, "C", 53}}
	got := page.Outline(text)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, h := range got {
		if runes := []rune(text); !strings.HasPrefix(string(runes[h.Offset:]), "#") {
			t.Errorf("%s does not begin at %d", h.Text, h.Offset)
		}
	}
}

// A table is one section however long it is.
func TestBestOfLongSection(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Bridges\n\n| name | length |\n| --- | --- |\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "| bridge number%d | %d m |\n", i, 7*i)
	}
	text := b.String()
	best := page.Best(page.Sections(text), "how long is number1234?", 300)
	if len(best) != 1 || !strings.Contains(best[0].Text, "| bridge number1234 | 8638 m |\n") || len(best[0].Text) != 300 ||
		!strings.HasPrefix(string([]rune(text)[best[0].Offset:]), best[0].Text) {
		t.Errorf("got %+v", best)
	}
}

func TestSections(t *testing.T) {
	long := strings.Repeat(strings.Repeat("wörd ", 100)+"\n\n", 5)
	text := "Before.\n\n# Cats\n\nThey purr.\n\n## Food\n\nFish and milk, 鱼.\n\n# Dogs\n\n" + long + "They bark."
	sections := page.Sections(text)
	joined, offset := "", 0
	for _, s := range sections {
		if s.Offset != offset {
			t.Errorf("%v begins at %d, not %d", s.Path, s.Offset, offset)
		}
		joined += s.Text
		offset += len([]rune(s.Text))
	}
	if joined != text {
		t.Errorf("the sections are\n%s", joined)
	}
	if diff := cmp.Diff([]string{"Cats", "Food"}, sections[2].Path); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		query string
		limit int
		want  []string
	}{
		{"a cat", 20, []string{"# Cats\n\nThey purr.\n\n"}},
		{"鱼", 1000, []string{"## Food\n\nFish and milk, 鱼.\n\n"}},
		{"barks cats", 5000, []string{"# Cats\n\nThey purr.\n\n", "## Food\n\nFish and milk, 鱼.\n\n", "They bark."}},
		{"bark", 4, []string{"They"}},
		{"bark", 12, []string{"They bark."}},
		{"zebra", 1000, nil},
		{"", 1000, nil},
	} {
		var got []string
		for _, s := range page.Best(sections, c.query, c.limit) {
			if i := strings.LastIndex(s.Text, "They bark"); i > 0 {
				s.Text = s.Text[i:]
			}
			got = append(got, s.Text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.query, diff)
		}
	}
}
