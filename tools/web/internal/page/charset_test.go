package page_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/web/internal/page"
)

func TestDecode(t *testing.T) {
	in := func(encoding, text string) string {
		enc, ok := textfile.Lookup(encoding)
		if !ok {
			t.Fatal(encoding)
		}
		data, err := enc.Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	const russian = "<p>Воду из труб обязательно сливают до первых морозов, иначе весной придётся менять весь водопровод."
	for _, c := range []struct {
		name, body, header string
		text               string
		charset            page.Charset
	}{
		{"ASCII", "<p>a", "text/html", "<p>a", page.Charset{Name: "utf-8", Source: "valid UTF-8"}},
		{"empty", "", "", "", page.Charset{Name: "utf-8", Source: "valid UTF-8"}},
		{"mark", "\xef\xbb\xbf<p>é", "text/html; charset=koi8-r", "<p>é", page.Charset{Name: "utf-8", Source: "byte order mark"}},
		{"mark of UTF-16", "\xff\xfe<\x00p\x00>\x00", "", "<p>", page.Charset{Name: "utf-16le", Source: "byte order mark"}},
		{"mark of UTF-16, big", "\xfe\xff\x00<\x00p\x00>", "", "<p>", page.Charset{Name: "utf-16be", Source: "byte order mark"}},
		{"header", in("koi8-r", russian), `text/html;charset="KOI8-R"`, russian, page.Charset{Name: "koi8-r", Source: "header"}},
		{"header before meta", in("windows-1251", "<meta charset=koi8-r>"+russian), "text/html; charset=cp1251", "<meta charset=koi8-r>" + russian, page.Charset{Name: "windows-1251", Source: "header"}},
		{"meta", in("windows-1251", "<meta charset='windows-1251'>"+russian), "text/html", "<meta charset='windows-1251'>" + russian, page.Charset{Name: "windows-1251", Source: "meta"}},
		{"meta with a type", in("euc-jp", "<META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=EUC-JP; x=y'>日本"), "", "<META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=EUC-JP; x=y'>日本", page.Charset{Name: "euc-jp", Source: "meta"}},
		{"XML", in("iso-8859-2", `<?xml version="1.0" encoding="iso-8859-2"?><p>żółw`), "", `<?xml version="1.0" encoding="iso-8859-2"?><p>żółw`, page.Charset{Name: "iso-8859-2", Source: "meta"}},
		{"a declaration in a comment", "<!-- <meta charset=koi8-r> -->é", "", "<!-- <meta charset=koi8-r> -->é", page.Charset{Name: "utf-8", Source: "valid UTF-8"}},
		{"Latin-1 is that of Windows", "<p>\x93a\x94", "text/html; charset=iso-8859-1", "<p>“a”", page.Charset{Name: "windows-1252", Source: "header"}},
		{"a lie about UTF-8", "<p>Überfahrt", "text/html; charset=iso-8859-1", "<p>Überfahrt", page.Charset{Name: "utf-8", Source: "valid UTF-8"}},
		{"a lie of the page", "<meta charset=windows-1252><p>日本語", "", "<meta charset=windows-1252><p>日本語", page.Charset{Name: "utf-8", Source: "valid UTF-8"}},
		{"not UTF-8", in("windows-1251", russian), "text/html; charset=utf-8", russian, page.Charset{Name: "windows-1251", Source: "detected"}},
		{"nearly UTF-8", "<p>" + strings.Repeat("é", 50) + "\xff", "text/html; charset=utf-8", "<p>" + strings.Repeat("é", 50) + "\ufffd", page.Charset{Name: "utf-8", Source: "header"}},
		{"an unknown charset", in("windows-1251", russian), "text/html; charset=klingon", russian, page.Charset{Name: "windows-1251", Source: "detected"}},
		{"detected behind long scripts", "<script>" + strings.Repeat("var a = 1;", 9000) + "</script>" + in("koi8-r", russian), "", "<script>" + strings.Repeat("var a = 1;", 9000) + "</script>" + russian, page.Charset{Name: "koi8-r", Source: "detected"}},
		{"GBK by its older name", in("gb18030", "<p>镕"), "text/html; charset=gb2312", "<p>镕", page.Charset{Name: "gb18030", Source: "header"}},
		{"UTF-16 without a mark", in("utf-16le", "<html><p>The text of a page</p></html>"), "", "<html><p>The text of a page</p></html>", page.Charset{Name: "utf-16le", Source: "detected"}},
		{"a meta that says UTF-16 is read", "<meta charset=utf-16><p>é", "", "<meta charset=utf-16><p>é", page.Charset{Name: "utf-8", Source: "valid UTF-8"}},
	} {
		text, charset := page.Decode([]byte(c.body), c.header)
		if diff := cmp.Diff(c.charset, charset); diff != "" || string(text) != c.text {
			t.Errorf("%s: %.100q (-want +got):\n%s", c.name, text, diff)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("<meta charset=gbk>\xc4\xe3"), "text/html; charset=utf-8")
	f.Add([]byte("\xff\xfea\x00"), "")
	f.Add([]byte("<?xml encoding='euc-jp'?>\xa4"), "x; charset=iso-2022-jp")
	f.Fuzz(func(t *testing.T, body []byte, header string) {
		text, charset := page.Decode(body, header)
		if !utf8.Valid(text) || charset.Name == "" || charset.Source == "" {
			t.Errorf("%q %+v", text, charset)
		}
	})
}
