package robots_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/web/internal/robots"
)

// Each case is a statement of RFC 9309, or of the practice that the RFC wrote down. The
// paths of may are allowed, those of not are not, both separated by spaces.
var cases = []struct {
	says, file, agent, may, not string
}{
	// 2.1 and 2.2: lines, groups, product tokens.
	{"no file allows", "", "bot", "/ /a", ""},
	{"nothing but comments allows", "# Disallow: /", "bot", "/ /a", ""},
	{"a group applies", "User-agent: bot\nDisallow: /a", "bot", "/ /b", "/a /a/b"},
	{"the group of another does not", "User-agent: other\nDisallow: /", "bot", "/ /a", ""},
	{"all means all", "User-agent: *\nDisallow: /a", "bot", "/b", "/a"},
	{"an own group excludes that of all", "User-agent: *\nDisallow: /\nUser-agent: bot\nDisallow: /a", "bot", "/b", "/a"},
	{"in either order", "User-agent: bot\nDisallow: /a\nUser-agent: *\nDisallow: /", "bot", "/b", "/a"},
	{"an own group without rules allows", "User-agent: *\nDisallow: /\n\nUser-agent: bot\n", "bot", "/ /a", ""},
	{"an own group with an empty rule allows", "User-agent: *\nDisallow: /\nUser-agent: bot\nDisallow:", "bot", "/ /a", ""},
	{"agents share rules", "User-agent: a\nUser-agent: b\nDisallow: /x", "a", "/", "/x"},
	{"the second agent too", "User-agent: a\nUser-agent: b\nDisallow: /x", "b", "/", "/x"},
	{"with an empty line between", "User-agent: a\n\nUser-agent: b\nDisallow: /x", "a", "/", "/x"},
	{"a third does not", "User-agent: a\nUser-agent: b\nDisallow: /x", "c", "/ /x", ""},
	{"an agent after rules begins a group", "User-agent: a\nDisallow: /x\nUser-agent: b\nDisallow: /y", "b", "/x", "/y"},
	{"and ends the one before", "User-agent: a\nDisallow: /x\nUser-agent: b\nDisallow: /y", "a", "/y", "/x"},
	{"groups of one agent are one", "User-agent: bot\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\nUser-agent: bot\nDisallow: /b", "bot", "/c", "/a /b"},
	{"groups of all are one", "User-agent: *\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\nUser-agent: *\nDisallow: /b", "bot", "/c", "/a /b"},
	{"merged groups weigh together", "User-agent: bot\nDisallow: /a\nUser-agent: bot\nAllow: /a/b", "bot", "/a/b", "/a/c"},
	{"a group of two names merges with one of each", "User-agent: a\nUser-agent: b\nDisallow: /x\nUser-agent: b\nDisallow: /y", "b", "/z", "/x /y"},
	{"not with the other", "User-agent: a\nUser-agent: b\nDisallow: /x\nUser-agent: b\nDisallow: /y", "a", "/y", "/x"},
	{"an empty line ends no group", "User-agent: bot\n\nDisallow: /a\n\n\nDisallow: /b", "bot", "/c", "/a /b"},
	{"a rule before all agents does not count", "Disallow: /\nUser-agent: bot\nDisallow: /a", "bot", "/b", "/a"},
	{"only such rules allow", "Disallow: /\nAllow: /b", "bot", "/ /a /b", ""},
	{"an empty agent is nobody", "User-agent:\nDisallow: /", "bot", "/ /a", ""},
	{"an empty agent asks for nobody", "User-agent:\nDisallow: /", "", "/ /a", ""},
	{"an agent twice", "User-agent: bot\nUser-agent: bot\nDisallow: /a", "bot", "/b", "/a"},
	{"a name in capitals", "User-agent: BOT\nDisallow: /a", "bot", "/b", "/a"},
	{"an agent in capitals", "User-agent: bot\nDisallow: /a", "BoT", "/b", "/a"},
	{"an agent with its version", "User-agent: bot\nDisallow: /a", "bot/2.1 (+https://example.com)", "/b", "/a"},
	{"a name with a version", "User-agent: bot/2.1\nDisallow: /a", "bot", "/b", "/a"},
	{"a name with another version", "User-agent: bot/1.0\nDisallow: /a", "bot/2.1", "/b", "/a"},
	{"a name with words behind", "User-agent: bot the great\nDisallow: /a", "bot", "/b", "/a"},
	{"- and _ belong to names", "User-agent: my-own_bot\nDisallow: /a", "My-Own_Bot/1", "/b", "/a"},
	{"a digit ends a name", "User-agent: bot2\nDisallow: /a", "bot", "/b", "/a"},
	{"a longer name is another", "User-agent: botanic\nDisallow: /", "bot", "/ /a", ""},
	{"a shorter name is another", "User-agent: bo\nDisallow: /", "bot", "/ /a", ""},
	{"a name with a hyphen is not its beginning", "User-agent: bot\nDisallow: /", "bot-news", "/ /a", ""},
	{"nor the other way", "User-agent: bot-news\nDisallow: /", "bot", "/ /a", ""},
	{"a star with a comment", "User-agent: * # all\nDisallow: /a", "bot", "/b", "/a"},
	{"a star and a word", "User-agent: * bots\nDisallow: /a", "bot", "/b", "/a"},
	{"a star before a name is no star", "User-agent: *bot\nDisallow: /", "bot", "/ /a", ""},
	{"a star among agents", "User-agent: x\nUser-agent: *\nDisallow: /a", "bot", "/b", "/a"},
	// Spaces, cases, ends of lines, marks, comments.
	{"keys in any case", "USER-AGENT: bot\ndIsAlLoW: /a\nALLOW: /a/b", "bot", "/a/b", "/a"},
	{"values in their case", "User-agent: bot\nDisallow: /A", "bot", "/a", "/A"},
	{"spaces around the colon", "User-agent : bot\nDisallow :/a", "bot", "/b", "/a"},
	{"no space", "User-agent:bot\nDisallow:/a", "bot", "/b", "/a"},
	{"tabs", "User-agent:\tbot\nDisallow:\t/a\t", "bot", "/b", "/a"},
	{"spaces before keys", "  User-agent: bot\n\t Disallow: /a", "bot", "/b", "/a"},
	{"spaces at the end", "User-agent: bot   \nDisallow: /a   ", "bot", "/b", "/a /ab"},
	{"CRLF", "User-agent: bot\r\nDisallow: /a\r\n", "bot", "/b", "/a"},
	{"CR", "User-agent: bot\rDisallow: /a\r", "bot", "/b", "/a"},
	{"all ends mixed", "User-agent: bot\rDisallow: /a\nDisallow: /b\r\nDisallow: /c", "bot", "/d", "/a /b /c"},
	{"no end of the last line", "User-agent: bot\nDisallow: /a", "bot", "/b", "/a"},
	{"a byte order mark", "\xef\xbb\xbfUser-agent: bot\nDisallow: /a", "bot", "/b", "/a"},
	{"a byte order mark elsewhere is a key", "\nUser-agent: bot\n\xef\xbb\xbfDisallow: /a", "bot", "/a", ""},
	{"a comment behind a rule", "User-agent: bot # me\nDisallow: /a # this", "bot", "/b", "/a"},
	{"a comment without a space", "User-agent: bot\nDisallow: /a#b", "bot", "/b", "/a /ab"},
	{"a comment line in a group", "User-agent: bot\n# more\nDisallow: /a", "bot", "/b", "/a"},
	{"a comment takes the rule", "User-agent: bot\n#Disallow: /a", "bot", "/a", ""},
	{"a line without a colon", "User-agent: bot\nDisallow /b\nDisallow: /a", "bot", "/b", "/a"},
	{"an unknown key", "User-agent: bot\nNoindex: /b\nDisallow: /a", "bot", "/b", "/a"},
	{"an unknown key between agents parts no group", "User-agent: a\nFoo: bar\nUser-agent: b\nDisallow: /x", "a", "/", "/x"},
	{"nor does a sitemap", "User-agent: a\nSitemap: https://x.example/s.xml\nUser-agent: b\nDisallow: /x", "a", "/", "/x"},
	{"nor a delay", "User-agent: a\nCrawl-delay: 1\nUser-agent: b\nDisallow: /x", "a", "/", "/x"},
	{"a sitemap between rules ends no group", "User-agent: bot\nDisallow: /a\nSitemap: https://x.example/s.xml\nDisallow: /b", "bot", "/c", "/a /b"},
	{"HTML in its place allows", "<html><body>Not found: /</body></html>", "bot", "/ /a", ""},
	{"bytes that are no text", "User-agent: bot\n\x00\xff\xfe: /\nDisallow: /a", "bot", "/b", "/a"},
	{"a colon in the value", "User-agent: bot\nDisallow: /a:b", "bot", "/a", "/a:b"},
	// 2.2.2: matching, the longest match, ties.
	{"an empty rule says nothing", "User-agent: bot\nDisallow:", "bot", "/ /a", ""},
	{"an empty allow says nothing", "User-agent: bot\nDisallow: /\nAllow:", "bot", "", "/ /a"},
	{"/ is all", "User-agent: bot\nDisallow: /", "bot", "", "/ /a /a/b?c"},
	{"a prefix", "User-agent: bot\nDisallow: /fish", "bot", "/Fish.asp /catfish /?id=fish", "/fish /fish.html /fish/salmon.html /fishheads /fish.php?id=anything"},
	{"a directory", "User-agent: bot\nDisallow: /fish/", "bot", "/fish /fish.html /animals/fish/", "/fish/ /fish/?id=anything /fish/salmon.htm"},
	{"cases differ", "User-agent: bot\nDisallow: /Secret", "bot", "/secret", "/Secret"},
	{"without a slash matches nothing", "User-agent: bot\nDisallow: fish", "bot", "/fish /", ""},
	{"the longer allow wins", "User-agent: bot\nDisallow: /a\nAllow: /a/b", "bot", "/a/b /a/bc", "/a /a/c"},
	{"the longer disallow wins", "User-agent: bot\nAllow: /a\nDisallow: /a/b", "bot", "/a /a/c", "/a/b"},
	{"the order does not matter", "User-agent: bot\nAllow: /a/b\nDisallow: /a", "bot", "/a/b", "/a"},
	{"allow wins among equals", "User-agent: bot\nDisallow: /a\nAllow: /a", "bot", "/a /ab", ""},
	{"allow first too", "User-agent: bot\nAllow: /a\nDisallow: /a", "bot", "/a", ""},
	{"equally long patterns", "User-agent: bot\nDisallow: /a*\nAllow: /ab", "bot", "/ab", "/ac"},
	{"a longer pattern with a star", "User-agent: bot\nAllow: /page\nDisallow: /*.htm", "bot", "/page /page.ht", "/page.htm"},
	{"the example of the RFC", "User-agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif", "foobot", "/example/page/ /example/page/x", "/example/page/disallowed.gif"},
	{"the root alone is allowed", "User-agent: bot\nAllow: /$\nDisallow: /", "bot", "/", "/a /?a"},
	{"three levels", "User-agent: bot\nDisallow: /\nAllow: /a\nDisallow: /a/b\nAllow: /a/b/c", "bot", "/a /a/b/c /a/d", "/ /b /a/b /a/b/d"},
	{"a path of two", "User-agent: bot\nDisallow: //a", "bot", "/a", "//a"},
	{"a query", "User-agent: bot\nDisallow: /a?b", "bot", "/a /a?c", "/a?b /a?b=c"},
	{"any query", "User-agent: bot\nDisallow: /*?", "bot", "/a", "/a? /a?b"},
	{"robots.txt itself", "User-agent: bot\nDisallow: /", "bot", "/robots.txt", "/robots.txt.bak /a/robots.txt"},
	{"an empty path is the root", "User-agent: bot\nDisallow: /$", "bot", "/a", "/"},
	// 2.2.3: special characters.
	{"a star at the end is nothing", "User-agent: bot\nDisallow: /fish*", "bot", "/catfish", "/fish /fish/a"},
	{"a star inside", "User-agent: bot\nDisallow: /*.php", "bot", "/ /windows.PHP /a/b", "/index.php /filename.php /folder/any.php.file.html /filename.php/ /x?a.php"},
	{"an end", "User-agent: bot\nDisallow: /*.php$", "bot", "/filename.php?x /filename.php/ /filename.php5 /windows.PHP", "/filename.php /folder/filename.php"},
	{"a star between", "User-agent: bot\nDisallow: /fish*.php", "bot", "/Fish.PHP /fish", "/fish.php /fishheads/catfish.php?x"},
	{"stars in a row", "User-agent: bot\nDisallow: /a**b", "bot", "/a", "/ab /axxb"},
	{"two stars", "User-agent: bot\nDisallow: /*a*b", "bot", "/b/a /ba", "/a/b /xaxb"},
	{"a star first", "User-agent: bot\nDisallow: *.gif", "bot", "/a.png", "/a.gif /x/a.gif?b"},
	{"a star alone", "User-agent: bot\nDisallow: *", "bot", "", "/ /a"},
	{"a star and an end", "User-agent: bot\nDisallow: /a*$", "bot", "/b", "/a /ab"},
	{"a last piece that is there twice", "User-agent: bot\nDisallow: /*.js$", "bot", "/a.js/b", "/a.js/b.js"},
	{"pieces do not overlap", "User-agent: bot\nDisallow: /a*ab$", "bot", "/ab", "/aab /axab"},
	{"a whole path", "User-agent: bot\nDisallow: /a$", "bot", "/ab /a/ /a?b", "/a"},
	{"an end alone", "User-agent: bot\nDisallow: $", "bot", "/ /a", ""},
	{"a dollar inside is itself", "User-agent: bot\nDisallow: /a$b", "bot", "/a /ab", "/a$b /a%24b /a$bc"},
	{"an encoded dollar at the end", "User-agent: bot\nDisallow: /a%24", "bot", "/a /ab", "/a$ /a%24b"},
	{"an encoded star is itself", "User-agent: bot\nDisallow: /a%2Ab", "bot", "/ab /axb", "/a*b /a%2ab /a%2Ab"},
	{"a star in a path is no pattern", "User-agent: bot\nDisallow: /axb", "bot", "/a*b", "/axb"},
	{"the RFC's star", "User-agent: bot\nDisallow: /path/file-with-a-%2A.html", "bot", "/path/file-with-a-x.html", "/path/file-with-a-*.html"},
	{"the RFC's dollar", "User-agent: bot\nDisallow: /path/foo-%24", "bot", "/path/foo-", "/path/foo-$ /path/foo-$x"},
	// 2.2.2: percent-encoding.
	{"characters beyond ASCII", "User-agent: bot\nDisallow: /foo/bar/ツ", "bot", "/foo/bar/", "/foo/bar/%E3%83%84 /foo/bar/ツ"},
	{"their codes", "User-agent: bot\nDisallow: /foo/bar/%E3%83%84", "bot", "/foo/bar/x", "/foo/bar/ツ /foo/bar/%e3%83%84"},
	{"codes of letters", "User-agent: bot\nDisallow: /foo/bar/%62%61%7A", "bot", "/foo/bar/ba", "/foo/bar/baz /foo/bar/%62az"},
	{"letters of codes", "User-agent: bot\nDisallow: /foo/bar/baz", "bot", "/foo/bar/", "/foo/bar/%62%61%7a"},
	{"digits of codes in any case", "User-agent: bot\nDisallow: /%e3%83%84", "bot", "/x", "/%E3%83%84"},
	{"a code of a slash is no slash", "User-agent: bot\nDisallow: /a%2Fb", "bot", "/a/b", "/a%2fb /a%2Fb"},
	{"a slash is not its code", "User-agent: bot\nDisallow: /a/b", "bot", "/a%2Fb", "/a/b"},
	{"a question mark is not its code", "User-agent: bot\nDisallow: /a?b", "bot", "/a%3Fb", "/a?b"},
	{"an address in a query", "User-agent: bot\nDisallow: /foo/bar?baz=https://foo.bar", "bot", "/foo/bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar /foo/bar?baz=https://foo.bar"},
	{"an encoded address in a query", "User-agent: bot\nDisallow: /foo/bar?baz=https%3A%2F%2Ffoo.bar", "bot", "/foo/bar", "/foo/bar?baz=https://foo.bar /foo/bar?baz=https%3a%2f%2ffoo.bar"},
	{"a space", "User-agent: bot\nDisallow: /a b", "bot", "/a /ab", "/a%20b"},
	{"the code of a tilde", "User-agent: bot\nDisallow: /%7Euser", "bot", "/user", "/~user /%7euser"},
	{"half a code is itself", "User-agent: bot\nDisallow: /a%2", "bot", "/a", "/a%2 /a%2x"},
	{"no code is itself", "User-agent: bot\nDisallow: /a%zz", "bot", "/a", "/a%zz"},
	{"a percent sign at the end", "User-agent: bot\nDisallow: /a%", "bot", "/a", "/a% /a%b"},
	{"bytes that are no characters", "User-agent: bot\nDisallow: /\xff", "bot", "/a", "/%FF /%ff"},
	{"& and = stay", "User-agent: bot\nDisallow: /a?b=c&d=e", "bot", "/a?b=c", "/a?b=c&d=e"},
	{"; of parameters", "User-agent: bot\nDisallow: /*;jsessionid", "bot", "/a", "/a;jsessionid=1"},
	{"+ is no space", "User-agent: bot\nDisallow: /a+b", "bot", "/a%20b", "/a+b"},
}

func TestRules(t *testing.T) {
	if len(cases) < 120 {
		t.Errorf("%d cases", len(cases))
	}
	for _, c := range cases {
		f := robots.Parse([]byte(c.file))
		for path := range strings.FieldsSeq(c.may) {
			if v := f.Allowed(c.agent, path); !v.Allowed {
				t.Errorf("%s: %s is not allowed by line %d: %s\n%s", c.says, path, v.Line, v.Text, c.file)
			}
		}
		for path := range strings.FieldsSeq(c.not) {
			if f.Allowed(c.agent, path).Allowed {
				t.Errorf("%s: %s is allowed\n%s", c.says, path, c.file)
			}
		}
	}
	t.Logf("robots: %d cases", len(cases))
}

func TestVerdict(t *testing.T) {
	f := robots.Parse([]byte("# site\r\nUser-agent: *\r\n  Disallow: /a # not here\r\nAllow: /a/b\rDisallow: /c"))
	for _, c := range []struct {
		path string
		want robots.Verdict
	}{
		{"/a", robots.Verdict{Line: 3, Text: "Disallow: /a # not here"}},
		{"/a/b", robots.Verdict{Allowed: true, Line: 4, Text: "Allow: /a/b"}},
		{"/c", robots.Verdict{Line: 5, Text: "Disallow: /c"}},
		{"/x", robots.Verdict{Allowed: true}},
		{"", robots.Verdict{Allowed: true}},
	} {
		if diff := cmp.Diff(c.want, f.Allowed("bot", c.path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.path, diff)
		}
	}
}

func TestSize(t *testing.T) {
	head := "User-agent: bot\nDisallow: /a\n"
	fill := strings.Repeat("# comment\n", (500<<10-len(head))/10)
	inside := head + fill
	for _, c := range []struct {
		name, file, path string
		allowed          bool
	}{
		{"the head counts", inside + "\n", "/a", false},
		{"what is behind the bound does not", inside + "# 34567890\nDisallow: /b\n", "/b", true},
		{"nor a line that the bound cuts", inside + "Disallow: /abcdef/ghi", "/abcdef/x", false},
		{"a cut line does not rule more than it says", strings.Replace(inside, "/a\n", "/q\n", 1) + "Disallow: /abcdef/ghi", "/x", true},
	} {
		if got := robots.Parse([]byte(c.file)).Allowed("bot", c.path).Allowed; got != c.allowed {
			t.Errorf("%s: allowed is %v", c.name, got)
		}
	}
}

func TestDelay(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"1": time.Second, "0.5": time.Second / 2, "10": 10 * time.Second, "11": 10 * time.Second, "1e30": 10 * time.Second, "inf": 10 * time.Second,
		"0": 0, "-1": 0, "nan": 0, "": 0, "soon": 0, "2 # s": 2 * time.Second,
	} {
		f := robots.Parse([]byte("User-agent: bot\nCrawl-delay: " + value + "\nUser-agent: x\nDisallow: /"))
		if got := f.Delay("Bot/1"); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
	if got := robots.Parse([]byte("User-agent: *\nCrawl-delay: 3")).Delay("bot"); got != 3*time.Second {
		t.Errorf("the delay of all is %v", got)
	}
}

func TestSitemaps(t *testing.T) {
	f := robots.Parse([]byte("Sitemap: https://x.example/a.xml\nUser-agent: *\nDisallow: /\nsitemap:https://x.example/b.xml?c=d:e \nSitemap:\n"))
	if diff := cmp.Diff([]string{"https://x.example/a.xml", "https://x.example/b.xml?c=d:e"}, f.Sitemaps()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A pattern of many stars against a path that nearly matches takes no more than a moment.
func TestBacktracking(t *testing.T) {
	f := robots.Parse([]byte("User-agent: *\nDisallow: /" + strings.Repeat("a*", 2000) + "b$\nDisallow: /" + strings.Repeat("*a", 2000) + "b"))
	path := "/" + strings.Repeat("a", 100_000)
	begin := time.Now()
	if v := f.Allowed("bot", path); !v.Allowed {
		t.Errorf("%v", v.Line)
	}
	if d := time.Since(begin); d > time.Second {
		t.Errorf("it takes %v", d)
	}
}

func FuzzRobots(f *testing.F) {
	for _, c := range cases {
		f.Add(c.file, c.agent, c.may+c.not)
	}
	f.Fuzz(func(t *testing.T, file, agent, path string) {
		r := robots.Parse([]byte(file))
		v := r.Allowed(agent, path)
		if !v.Allowed && (v.Line == 0 || !strings.Contains(strings.ToLower(v.Text), "disallow")) {
			t.Errorf("%q decides", v.Text)
		}
		if v.Text != "" && !strings.Contains(file, v.Text) {
			t.Errorf("%q is not in the file", v.Text)
		}
		if d := r.Delay(agent); d < 0 || d > 10*time.Second {
			t.Errorf("a delay of %v", d)
		}
	})
}

func TestSitemap(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       robots.Sitemap
		fails      bool
	}{
		{"pages", `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc> https://x.example/a?b=1&amp;c=2 </loc><lastmod>2026-01-01</lastmod></url>
			<url><loc><![CDATA[https://x.example/b]]></loc><image:image><image:loc>https://x.example/i.png</image:loc></image:image></url></urlset>`,
			robots.Sitemap{Pages: []string{"https://x.example/a?b=1&c=2", "https://x.example/b"}}, false},
		{"maps", `<sitemapindex><sitemap><loc>https://x.example/1.xml</loc></sitemap></sitemapindex>`, robots.Sitemap{Maps: []string{"https://x.example/1.xml"}}, false},
		{"lines", "\ufeffhttps://x.example/a\r\n\r\nhttps://x.example/b\nnot one\njavascript:alert(1)\nhttps://x.example/c", robots.Sitemap{Pages: []string{"https://x.example/a", "https://x.example/b", "https://x.example/c"}}, false},
		{"cut off", `<urlset><url><loc>https://x.example/a</loc></url><url><lo`, robots.Sitemap{Pages: []string{"https://x.example/a"}}, false},
		{"other addresses", `<urlset><url><loc>file:///etc/passwd</loc></url><url><loc>/a</loc></url><url><loc>https://x.example/a</loc></url></urlset>`, robots.Sitemap{Pages: []string{"https://x.example/a"}}, false},
		{"a declared type", `<!DOCTYPE urlset [<!ENTITY a "https://x.example/">]><urlset><url><loc>&a;b</loc></url></urlset>`, robots.Sitemap{}, true},
		{"too deep", strings.Repeat("<a>", 100), robots.Sitemap{}, true},
		{"another kind", `<rss><channel><link>https://x.example/</link></channel></rss>`, robots.Sitemap{}, false},
		{"empty", " \n", robots.Sitemap{}, false},
	} {
		got, err := robots.ParseSitemap([]byte(c.text))
		if diff := cmp.Diff(c.want, got); diff != "" || (err != nil) != c.fails {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
	}
	many, err := robots.ParseSitemap([]byte("<urlset>" + strings.Repeat("<url><loc>https://x.example/a</loc></url>", 50_001) + "</urlset>"))
	if err != nil || len(many.Pages) != 50_000 || !many.Cut {
		t.Errorf("%d pages, cut %v: %v", len(many.Pages), many.Cut, err)
	}
}

func FuzzSitemap(f *testing.F) {
	f.Add([]byte(`<urlset><url><loc>https://x.example/a</loc></url></urlset>`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := robots.ParseSitemap(text)
		if err == nil && len(m.Pages) > 50_000 {
			t.Errorf("%d pages", len(m.Pages))
		}
	})
}
