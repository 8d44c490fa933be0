package page_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/web/internal/page"
)

const sentence = "This is a sentence of a page, which is long enough to be counted as text by itself. "

// Pages of which extractors return nothing, or a part that is not the substance.
func TestNeverEmpty(t *testing.T) {
	for _, c := range []struct{ name, html, want, note string }{
		{"one word", "hello", "hello", ""},
		{"only links", "<table>" + strings.Repeat(`<tr><td><a href="/x">A title of some length</a></td><td>12 points</td></tr>`, 40) + "</table>", "A title of some length", ""},
		{"list of links", "<ul>" + strings.Repeat("<li><a href=/a>alpha beta gamma</a></li>", 50) + "</ul>", "alpha beta", ""},
		{"all in comments", `<div class="comments">` + strings.Repeat("<p>"+sentence, 5) + "</div>", "a sentence", ""},
		{"hidden until a script runs", `<div style="display:none">` + strings.Repeat("<p>"+sentence, 9) + "</div>", "a sentence", "until a script runs"},
		{"hidden until a script runs, behind a line", `Loading, please wait<div style="display:none">` + strings.Repeat("<p>"+sentence, 9) + "</div>", "a sentence", "until a script runs"},
		{"hidden, short", `<div hidden>some words</div>`, "some words", "nothing of the page is in sight"},
		{"a menu", "<nav><a href=/>Home</a></nav>", "Home", ""},
		{"a menu and a letter", "<nav><a href=/>Home</a></nav><p>x</p>", "x", ""},
		{"short", "<main><h1>Title</h1><p>Short page.</p></main>", "Short page.", ""},
		{"a form", "<form>" + strings.Repeat("<p>"+sentence, 5) + "</form>", "a sentence", ""},
		{"bare text", strings.Repeat(sentence+"<br><br>", 30), "a sentence", ""},
		{"only a footer", "<footer>Imprint</footer>", "Imprint", ""},
		{"no text but noscript", "<noscript><p>Please switch scripts on.</p></noscript><script>x</script>", "switch scripts on", "without its scripts"},
		{"an empty application", `<title>App</title><meta name=description content="Does things"><div id=root></div>`, "App\n\nDoes things", "without its scripts"},
		{"frames", `<frameset><frame src="/menu.html" name=menu><frame src="/text.html" name=text></frameset>`, "[text](https://x.example/text.html)", "without its scripts"},
		{"only an image", `<img src=/a.png alt="A cat">`, "![A cat](https://x.example/a.png)", ""},
		{"broken tags", "<div><p>a<b>b<table><td>c</div><<>", "c", ""},
		{"a heading alone", "<h1>Only this</h1>", "Only this", ""},
	} {
		doc := parsed(t, c.html).Main(t.Context())
		if !strings.Contains(doc.Markdown, c.want) || !strings.Contains(doc.Note, c.note) {
			t.Errorf("%s: %q (%s)", c.name, doc.Markdown, doc.Note)
		}
	}
	if doc := parsed(t, "<script>x</script>").Main(t.Context()); doc.Markdown != "" || doc.Note != "the page has no text" {
		t.Errorf("%+v", doc)
	}
}

// Short pages, of which all parts count that lie in the main element, an article or under headings.
func TestShortPages(t *testing.T) {
	const flags = `<h1>Flags</h1><p>The program takes flags in any order, and the last one counts if a flag is given twice on the line.
		<h2>Input</h2><ul><li>-f FILE<li>-d DIR<ul><li>twice: both</ul></ul><h2>Output</h2><ul><li>-o FILE</ul><h2>Files</h2><ul><li><a href=/conf>kestrel.conf</a><li><a href=/log>kestrel.log</a></ul>`
	const wantFlags = "## Input\n\n- -f FILE\n- -d DIR\n  - twice: both\n\n## Output\n\n- -o FILE\n\n## Files\n\n- [kestrel.conf](https://x.example/conf)\n- [kestrel.log](https://x.example/log)"
	const menu = `<div id=top><a href=/>Home</a> <a href=/docs>Docs</a> <a href=/blog>Blog</a></div>`
	for _, c := range []struct{ name, html, want, not, note string }{
		{"main", menu + "<main>" + flags + "</main>", wantFlags, "Blog", ""},
		{"role", menu + "<div role=main>" + flags + "</div>", wantFlags, "Blog", ""},
		{"article", menu + "<article>" + flags + "</article>", wantFlags, "Blog", ""},
		{"neither", menu + "<div>" + flags + "</div>", wantFlags, "Blog", ""},
		{"two articles", menu + "<article>" + flags + "</article><article><p>Another.</article>", wantFlags, "Blog", ""},
		{"less than what is around it", "<div id=help><h2>Keys</h2><p>Press S to search, or ? for more?<p>Press Esc to hide this.</div><main><h1>Commands</h1><ul><li><a href=/a>kestrel run with options</a><li><a href=/b>kestrel stop with options</a></ul></main>",
			"- [kestrel run with options](https://x.example/a)\n- [kestrel stop with options](https://x.example/b)", "Press", ""},
		{"an empty main element", "<main></main><p>" + sentence, "a sentence", "", ""},
		{"little in the main element", "<main>Please wait until all is loaded, it takes a while</main>" + strings.Repeat("<p>"+sentence, 4), "a sentence", "", ""},
		{"a heading that is not the title", "<title>Kestrel manual</title>" + "<main>" + flags + "</main>", "# Flags\n\nThe program", "", ""},
		{"a heading that is the title", "<title>Flags of Kestrel</title>" + "<main>" + flags + "</main>", "The program", "# Flags", ""},
		{"links beside a text", "<p>" + sentence + "<ul><li><a href=/1>debian/</a><li><a href=/2>gnu/</a><li><a href=/3>kernel/</a><li><a href=/4>tex/</a></ul>", "a sentence", "gnu", "4 links beside this text are left out"},
		{"an index", "<main><h1>Manual</h1><p>" + sentence + "<div class=toc><ul><li><a href=/1>Start</a><li><a href=/2>Install</a><li><a href=/3>Use</a></ul></div></main>",
			"- [Start](https://x.example/1)\n- [Install](https://x.example/2)\n- [Use](https://x.example/3)", "", ""},
		{"the contents of the page", "<main><h1>Manual</h1><p>" + sentence + "<div class=toc><ul><li><a href='#1'>Start</a><li><a href='#2'>Install</a></ul></div><h2 id=1>Start</h2><p>Run it.<h2 id=2>Install</h2><p>Copy it.</main>",
			"## Start\n\nRun it.", "[Start]", ""},
		{"terms that link to themselves", "<article>" + strings.Repeat("<p>"+sentence+sentence, 4) + `<h2 id=o><a href="#o">Options</a></h2><dl><dt id=v><a href="#v">-v</a><dd>Prints the version.</dl>` + strings.Repeat("<p>"+sentence, 3) + "</article>",
			"## Options\n\n**-v**\n: Prints the version.", "", ""},
		{"a form to sign in", "<form><label>Name<input></label><label>Word<input type=password></label></form>", "Name Word", "", "the page asks for a password"},
		{"a button in a heading", "<main><h2>Kestrel <button>Copy</button></h2><p>Short.</main>", "## Kestrel\n", "Copy", ""},
		{"a button that is a heading", "<main><h2><button>Open me</button></h2><p>Short.</main>", "## Open me\n", "", ""},
	} {
		doc := parsed(t, c.html).Main(t.Context())
		if !strings.Contains(doc.Markdown, c.want) || c.not != "" && strings.Contains(doc.Markdown, c.not) || doc.Note != c.note {
			t.Errorf("%s: (%s)\n%s", c.name, doc.Note, doc.Markdown)
		}
	}
}

// A short page may hide a long text, for a model to read.
func TestHiddenBesideLittle(t *testing.T) {
	hidden := `<div style="display:none">` + strings.Repeat("<p>"+sentence, 9) + "</div>"
	for _, shown := range []string{
		"<p>Welcome to our shop, which is open from nine to five.", "<ul><li><a href=/a>First of the pages</a><li><a href=/b>Second of the pages</a><li><a href=/c>Third</a></ul>",
		"<h1>Night of the Organs</h1><table><tr><td>Adults<td>12<tr><td>Children<td>free<tr><td>Students<td>6</table>",
	} {
		if doc := parsed(t, shown+hidden).Main(t.Context()); strings.Contains(doc.Markdown, "a sentence") || doc.Markdown == "" {
			t.Errorf("%s: %q (%s)", shown, doc.Markdown, doc.Note)
		}
	}
}

// A page may be made to need much time or memory.
func TestBounds(t *testing.T) {
	tooltest.Unraced(t)
	many := func(n int, s string) string { return strings.Repeat(s, n) }
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for _, c := range []struct{ name, html, want string }{
		{"deep boxes", many(100_000, "<div>") + "needle" + many(100_000, "</div>"), "needle"},
		{"deep lists", many(50_000, "<ul><li>") + "needle", "needle"},
		{"deep quotes", many(50_000, "<blockquote>") + "needle", "needle"},
		{"deep tables", many(20_000, "<table><tr><td>") + "needle", "needle"},
		{"deep marks", many(100_000, "<b><i>") + "needle", "needle"},
		{"open marks in many blocks", numbered(300, "<b id=a%d>") + many(10_000, "<p>x") + "needle", "needle"},
		{"attributes", "<p" + numbered(50_000, " a%d=b") + ">x<b" + numbered(20_000, " c%d") + "><b" + numbered(20_000, " c%d") + ">needle", "needle"},
		{"different attributes", "<p>" + numbered(20_000, "<font color=%d>") + "needle", "needle"},
		{"wide cells", "<table><tr><th>a<th>b" + many(300, "<tr><td colspan=1000 rowspan=1000>x"+many(200, "<tr>")) + "</table>needle", ""},
		{"brackets", "<p>needle" + many(300_000, "[") + many(300_000, "]("), "needle"},
		{"marks of Markdown", "<p>needle" + many(300_000, "*_`<&"), "needle"},
		{"many blocks", many(50_000, "<p>x ") + "needle", "needle"},
		{"many links", many(10_000, "<a href=/"+many(200, "y")+">x</a> ") + "needle", "needle"},
		{"many names", "<p>needle" + many(20_000, "<div class='share related comments tags footer'>x"), "needle"},
		{"tables of contents", "<p>needle" + many(20_000, "<div class=toc>x"), "needle"},
		{"buttons of a heading", "<h2>" + many(200_000, "<button></button>") + "</h2><p>needle", "needle"},
		{"one long class", "<div class='" + many(100_000, "share ") + "'>needle</div>", "needle"},
		{"nested links of blocks", many(300, "<a href=x><div>") + "needle", "needle"},
	} {
		begin := tooltest.Spent(t)
		p := parsed(t, c.html)
		doc := p.Whole(t.Context())
		main := p.Main(t.Context())
		p.Links(50)
		if d := tooltest.Spent(t) - begin; d > 20*time.Second {
			t.Errorf("%s: it takes %v", c.name, d)
		} else {
			t.Logf("%s: %v, %d bytes, cut %v", c.name, d, len(doc.Markdown), doc.Cut)
		}
		if !strings.Contains(doc.Markdown, c.want) || main.Markdown == "" {
			t.Errorf("%s: %.100q", c.name, doc.Markdown)
		}
		if kind, _, _ := strings.Cut(c.name, " "); slices.Contains([]string{"deep", "open", "wide", "attributes"}, kind) && !doc.Cut {
			t.Errorf("%s: it does not say that something may be missing", c.name)
		}
	}
}

func TestTimeIsOver(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := page.Parse(ctx, []byte("<title>T</title><p>text"), nil)
	if doc := p.Main(ctx); !doc.Cut {
		t.Errorf("%+v", doc)
	}
	if doc := p.Whole(t.Context()); !strings.Contains(doc.Markdown, "text") {
		t.Errorf("%+v", doc)
	}
}

func TestMeta(t *testing.T) {
	const head = `<html lang="en-GB"><head><title>Bridge closes - The Courier</title><meta property="og:title" content="Bridge &amp; ferry"><meta property="og:site_name" content="The Courier">
		<meta name="description" content=" The bridge  closes. "><meta property="og:description" content="Other"><meta name="author" content="Ann Lee"><meta property="article:published_time" content="2026-11-20T08:00:00Z">
		<link rel="canonical" href="/a1"><link rel="alternate" type="application/rss+xml" href="/feed"></head>`
	for _, c := range []struct {
		name, html string
		want       page.Meta
	}{
		{"all", head, page.Meta{Title: "Bridge & ferry", Byline: "Ann Lee", Date: "2026-11-20T08:00:00Z", Language: "en-GB", Description: "The bridge closes.", Site: "The Courier", Canonical: "https://x.example/a1", Feed: "https://x.example/feed"}},
		{"nothing", "<p>a", page.Meta{}},
		{"a title with a site", "<title>A - B | Site</title><h1>A - B</h1>", page.Meta{Title: "A - B"}},
		{"a title behind its site", "<title>Site » A</title><h1>A</h1>", page.Meta{Title: "A"}},
		{"a title without a site", "<title>A - B</title>", page.Meta{Title: "A - B"}},
		{"a heading", "<h1>A <b>b</b></h1>", page.Meta{Title: "A b"}},
		{"a title in a picture", "<svg><title>no</title></svg>", page.Meta{}},
		{"data", `<script type="application/ld+json">{"@graph":[{"@type":["NewsArticle"],"headline":"H","author":[{"name":"A"},{"name":"B"}],"datePublished":"2026-01-02"},{"@type":"WebSite","name":"S"}]}</script>`,
			page.Meta{Title: "H", Byline: "A, B", Date: "2026-01-02", Site: "S"}},
		{"broken data", `<script type="application/ld+json">{"@type":</script><time datetime="2026-01-03">x</time>`, page.Meta{Date: "2026-01-03"}},
		{"microdata", `<div itemscope itemtype="https://schema.org/BlogPosting"><span itemprop="author">By me</span><meta itemprop="datePublished" content="2026-02-03"></div>`, page.Meta{Byline: "By me", Date: "2026-02-03"}},
		{"a link to the author", `<a rel="author" href="/x">C D</a><p class="byline">By E</p>`, page.Meta{Byline: "C D"}},
		{"an author that is an address", `<meta property="article:author" content="https://x.example/u">`, page.Meta{}},
		{"tag characters", "<title>A\U000e0041B</title>", page.Meta{Title: "AB"}},
	} {
		if diff := cmp.Diff(c.want, parsed(t, c.html).Meta, cmpopts.IgnoreUnexported(page.Meta{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func FuzzPage(f *testing.F) {
	for _, p := range kindPages(f, "kinds") {
		if len(p.body) < 2000 {
			f.Add(p.body)
		}
	}
	f.Add([]byte("<table><tr><td colspan=3 rowspan=2>a<td>b<tr><td>c</table><pre>```</pre>"))
	f.Add([]byte("<a href='//['><b><i>x</a></b><ul><li><ol start=9><li>y<dl><dt>z<dd><blockquote><br><br>q"))
	address := &url.URL{Scheme: "https", Host: "x.example", Path: "/"}
	f.Fuzz(func(t *testing.T, body []byte) {
		text, _ := page.Decode(body, "")
		p := page.Parse(t.Context(), text, address)
		for _, doc := range []page.Document{p.Main(t.Context()), p.Whole(t.Context())} {
			if !utf8.ValidString(doc.Markdown) {
				t.Errorf("%q", doc.Markdown)
			}
			for _, bad := range []string{"](javascript:", "](data:", "](vbscript:"} {
				if strings.Contains(doc.Markdown, bad) {
					t.Errorf("%q", doc.Markdown)
				}
			}
			joined := ""
			for _, s := range page.Sections(doc.Markdown) {
				joined += s.Text
			}
			if joined != doc.Markdown {
				t.Errorf("%q is parted into %q", doc.Markdown, joined)
			}
		}
		p.Links(50)
	})
}

// A short heading before the text is that of a section if others of its kind follow.
func TestFirstSection(t *testing.T) {
	text := strings.Repeat("<p>"+sentence, 3)
	for _, c := range []struct {
		html string
		kept bool
	}{
		{"<h2>Overview</h2>" + text + "<h2>Details</h2>" + text, true},
		{"<h3>Overview</h3>" + text + "<h2>Details</h2>" + text, false},
	} {
		doc := parsed(t, "<title>Kites</title><article>"+c.html+"</article>").Main(t.Context())
		if strings.Contains(doc.Markdown, "## Overview\n") != c.kept {
			t.Errorf("%s:\n%s", c.html, doc.Markdown)
		}
	}
}

// A heading at the end stays if its text does.
func TestTail(t *testing.T) {
	article := "<article>" + strings.Repeat("<p>"+sentence+sentence, 5)
	for _, c := range []struct{ tail, want, without string }{
		{"<h2>Update</h2><p>It opened.</p>", "## Update\n\nIt opened.", ""},
		{"<h2>More</h2>", "", "More"},
		{"<h2>Update</h2><p>It opened.</p><h2>Share</h2><p>Mail</p>", "## Update\n\nIt opened.", "Share"},
	} {
		got := parsed(t, article+c.tail+"</article>").Main(t.Context()).Markdown
		if !strings.Contains(got, c.want) || c.without != "" && strings.Contains(got, c.without) {
			t.Errorf("%s: %s", c.tail, got)
		}
	}
}
