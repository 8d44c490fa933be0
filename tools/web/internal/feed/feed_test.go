package feed_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/web/internal/feed"
)

func TestMarkdown(t *testing.T) {
	address, err := url.Parse("https://x.example/feeds/all")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"RSS", `<?xml version="1.0" encoding="iso-8859-1"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">
<channel><title>Tide &amp; Wind</title><link>https://x.example/</link><description>News of the <b>coast</b></description><image><title>logo</title></image>
<item><title>High &lt;i&gt;water&lt;/i&gt;</title><itunes:title>no</itunes:title><link>/a?b=1&amp;c=2</link><pubDate>Tue, 03 Nov 2026 10:00:00 GMT</pubDate><dc:creator>Ada</dc:creator>
<description><![CDATA[<p>The river <a href="/r">rose</a>&nbsp;twice.</p><script>no()</script>]]></description><content:encoded>All of it</content:encoded><enclosure url="https://x.example/a.mp3" type="audio/mpeg"/></item>
<item><description>Only a text.</description><guid isPermaLink="true">https://x.example/b</guid></item>
<item><title>[x] y</title><link>javascript:alert(1)</link></item>
</channel></rss>`,
			`# Tide & Wind

News of the coast

- [High *water*](https://x.example/a?b=1&c=2) · Tue, 03 Nov 2026 10:00:00 GMT · Ada · [file](https://x.example/a.mp3)
  The river [rose](https://x.example/r) twice.
- [Only a text.](https://x.example/b)
- [x] y`},
		{"Atom", `<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Log</title><subtitle>Of a ship</subtitle><link rel="self" href="/self"/><link href="https://x.example/"/>
<entry><title type="html">One &amp;amp; two</title><link rel="enclosure" href="/f.pdf"/><link href="one"/><id>urn:1</id><updated>2026-11-02T00:00:00Z</updated><published>2026-11-01T00:00:00Z</published>
<author><name>Grace</name><email>g@x.example</email></author><summary>Short.</summary><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Long <em>text</em> of it.</p></div></content></entry>
<entry><title>Two</title><content type="xhtml"><div><p>First</p><p>second</p></div></content></entry></feed>`,
			`# Log

Of a ship

- [One & two](https://x.example/feeds/one) · 2026-11-01T00:00:00Z · Grace · [file](https://x.example/f.pdf)
  Short.
- Two
  Firstsecond`},
		{"RSS 1.0", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="https://x.example/"><title>Old</title></channel>
<item rdf:about="https://x.example/1"><title>First</title><dc:date>2003-01-01</dc:date></item></rdf:RDF>`,
			"# Old\n\n- [First](https://x.example/1) · 2003-01-01"},
		{"JSON", `{"version":"https://jsonfeed.org/version/1.1","title":"J","items":[{"url":"https://x.example/1","title":"A","content_html":"<p>b</p>","date_published":"2026-01-01","authors":[{"name":"Ada"}],"attachments":[{"url":"https://x.example/a.mp3"}]},{"content_text":"only text"}]}`,
			"# J\n\n- [A](https://x.example/1) · 2026-01-01 · Ada · [file](https://x.example/a.mp3)\n  b\n- only text"},
		{"damaged", `<rss><channel><title>D</title><item><title>whole</title></item><item><title>ha`, "# D\n\n- whole\n- entry"},
		{"entities of its own", `<!DOCTYPE rss [<!ENTITY x "boo"><!ENTITY y "&x;&x;">]><rss><channel><title>E &y;</title><item><title>t &x;</title></item></channel></rss>`, "# E \\&y;\n\n- t \\&x;"},
	} {
		f, ok := feed.Parse([]byte(c.text))
		if !ok {
			t.Errorf("%s: no feed", c.name)
			continue
		}
		if diff := cmp.Diff(c.want, f.Markdown(t.Context(), address)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestNoFeed(t *testing.T) {
	for _, text := range []string{"", "  ", "text", "<html><body>rss</body></html>", "<!DOCTYPE html><p>", "{}", `{"version":1}`, `{"version":"1","items":[]}`, "<svg/>", strings.Repeat("<a>", 100)} {
		if f, ok := feed.Parse([]byte(text)); ok {
			t.Errorf("%.20q is a feed: %+v", text, f)
		}
	}
}

func TestBounds(t *testing.T) {
	f, ok := feed.Parse([]byte("<rss><channel>" + strings.Repeat("<item><title>a</title></item>", 501)))
	if !ok || len(f.Entries) != 500 || !f.Cut {
		t.Errorf("%d entries, cut %v", len(f.Entries), f.Cut)
	}
	f, ok = feed.Parse([]byte("<rss><channel><item><title>a</title><description>" + strings.Repeat("<b>", 100)))
	if !ok || len(f.Entries) != 1 {
		t.Errorf("%+v", f)
	}
	f.Entries[0].Summary = strings.Repeat("词", 2000)
	if got := f.Markdown(t.Context(), nil); !strings.HasSuffix(got, "词…") || strings.Count(got, "词") != 1000 {
		t.Errorf("%d characters are shown", strings.Count(got, "词"))
	}
}

func FuzzFeed(f *testing.F) {
	f.Add([]byte(`<rss><channel><item><title>a</title></item></channel></rss>`))
	f.Add([]byte(`<feed><entry><title>a</title><content><div>x</div></content></entry></feed>`))
	f.Add([]byte(`{"version":"https://jsonfeed.org/version/1","items":[{}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, ok := feed.Parse(text); ok {
			if len(got.Entries) > 500 {
				t.Errorf("%d entries", len(got.Entries))
			}
			_ = got.Markdown(t.Context(), nil)
		}
	})
}
