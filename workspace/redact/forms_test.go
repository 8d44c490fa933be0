package redact_test

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"toolcrib/workspace/redact"
)

// form writes a secret in some way.
type form struct {
	name  string
	write func(string) string
}

func escapedJSON(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func unicodeEscapes(s string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, `\u%04x`, unit)
	}
	return b.String()
}

func percentAll(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, "%%%02x", c)
	}
	return b.String()
}

func numberedHTML(form, s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, form, r)
	}
	return b.String()
}

func halfEscaped(s string) string {
	runes := []rune(s)
	half := len(runes) / 2
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace
	return escaped(string(runes[:half])) + unicodeEscapes(string(runes[half:half+1])) + escaped(string(runes[half+1:]))
}

func forms() []form {
	list := []form{
		{"plain", func(s string) string { return s }},
		{"json", escapedJSON},
		{"json twice", func(s string) string { return escapedJSON(escapedJSON(s)) }},
		{"json three times", func(s string) string { return escapedJSON(escapedJSON(escapedJSON(s))) }},
		{"json, all escaped", unicodeEscapes},
		{"json, one escaped", halfEscaped},
		{"quoted", strconv.Quote},
		{"quoted ascii", strconv.QuoteToASCII},
		{"query", url.QueryEscape},
		{"path", url.PathEscape},
		{"query twice", func(s string) string { return url.QueryEscape(url.QueryEscape(s)) }},
		{"percent", percentAll},
		{"query in json", func(s string) string { return escapedJSON("?a=" + url.QueryEscape(s)) }},
		{"html", html.EscapeString},
		{"html in json", func(s string) string { return escapedJSON(html.EscapeString(s)) }},
		{"hex", func(s string) string { return hex.EncodeToString([]byte(s)) }},
		{"HEX", func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }},
		{"base32", func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) }},
		{"html, decimal", func(s string) string { return numberedHTML("&#%d;", s) }},
		{"html, hexadecimal", func(s string) string { return numberedHTML("&#x%X;", s) }},
		{"shell, backslashes", func(s string) string {
			var b strings.Builder
			for _, c := range []byte(s) {
				if c < 0x80 && c > ' ' && !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", rune(c)) || c == ' ' {
					b.WriteByte('\\')
				}
				b.WriteByte(c)
			}
			return b.String()
		}},
		{"shell", func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }},
	}
	for name, enc := range map[string]*base64.Encoding{
		"std": base64.StdEncoding, "raw std": base64.RawStdEncoding, "url": base64.URLEncoding, "raw url": base64.RawURLEncoding,
	} {
		for before := range 3 {
			list = append(list, form{fmt.Sprintf("base64 %s after %d", name, before), func(s string) string {
				return enc.EncodeToString([]byte("user:"[:before] + s + "\nand more"[:before*3]))
			}})
		}
	}
	return append(list, form{"base64 in query", func(s string) string {
		return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s)))
	}})
}

// secrets are 50 values of all kinds that people choose and programs make.
func secrets() []string {
	rnd := rand.New(rand.NewPCG(24, 50))
	list := []string{
		`quote"and\slash/`, "per%cent&amp+plus", "with spaces in it", "tab\tand\nnewline", "pässwörd-ünicode", "<html>&'\"", "emoji😀secret", "100%25sure%41", `c:\new\u0041x`, "it's a $ecret",
	}
	const chars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+/=!@#$%^&*()~:;,.?\\\"'<>{}|"
	for len(list) < 50 {
		var b strings.Builder
		for range 8 + rnd.IntN(40) {
			b.WriteByte(chars[rnd.IntN(len(chars))])
		}
		list = append(list, b.String())
	}
	return list
}

// leaks reports whether a secret can be read from a text: in base64 among other
// bytes, by the characters that hold bits of the secret alone.
func leaks(text string, s string, f form) bool {
	if strings.Contains(text, s) || strings.Contains(text, f.write(s)) {
		return true
	}
	if !strings.HasPrefix(f.name, "base64") {
		return false
	}
	whole := f.write(s)
	return strings.Contains(text, whole[4:len(whole)-4])
}

func TestKnownValuesInEveryForm(t *testing.T) {
	all := secrets()
	r := redact.New(all)
	if r.Ignored() != 0 {
		t.Fatalf("%d secrets ignored", r.Ignored())
	}
	if n := len(forms()); n < 19 {
		t.Fatalf("%d forms", n)
	}
	for _, s := range all {
		for _, f := range forms() {
			for _, around := range [][2]string{{"", ""}, {"before ", " after"}, {"key=", "&x=y"}, {`{"a":"`, `"}`}} {
				text := around[0] + f.write(s) + around[1]
				got := r.String(text)
				if leaks(got, s, f) || !strings.Contains(got, "[redacted") {
					t.Errorf("%s of %q: %q became %q", f.name, s, text, got)
				}
				if !strings.HasPrefix(got, around[0]) || !strings.HasSuffix(got, around[1]) {
					t.Errorf("%s of %q: %q became %q, which has lost what is around", f.name, s, text, got)
				}
			}
			raw := r.JSON(json.RawMessage(`{"n":[1,{"x":` + escapedJSON("a "+f.write(s)+" b") + `}],` + escapedJSON(f.write(s)) + `:2}`))
			var v any
			if err := json.Unmarshal(raw, &v); err != nil {
				t.Errorf("%s of %q: JSON became %s: %v", f.name, s, raw, err)
			}
			if shown := fmt.Sprint(v); leaks(shown, s, f) || strings.Count(shown, "[redacted") < 2 {
				t.Errorf("%s of %q: JSON became %s", f.name, s, raw)
			}
		}
	}
}

func FuzzString(f *testing.F) {
	r := redact.New(secrets())
	for i, s := range secrets() {
		f.Add("a " + forms()[i%len(forms())].write(s))
	}
	f.Add("password=\"x\\\"y token: eyJ://a:b@c -----BEGIN PRIVATE KEY-----")
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range []*redact.Redactor{nil, r} {
			once := r.String(text)
			if twice := r.String(once); twice != once {
				t.Errorf("%q: once is %q, twice is %q", text, once, twice)
			}
			if utf8.ValidString(text) && !utf8.ValidString(once) {
				t.Errorf("%q became invalid: %q", text, once)
			}
		}
		for _, s := range secrets() {
			if strings.Contains(r.String(text), s) {
				t.Errorf("%q keeps %q", text, s)
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	r := redact.New(secrets())
	f.Add([]byte(`{"password":["a b c d",{"x":"quote\"and\\slash/"}],"token":123456789,"a":-1.5e3}`))
	f.Add([]byte(`{"p\u0061ssword" : "x y z z y", "b": null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := r.JSON(raw)
		if len(raw) > 0 && !json.Valid(got) {
			t.Errorf("%q became %q", raw, got)
		}
		if twice := r.JSON(got); string(twice) != string(got) {
			t.Errorf("%q: once is %q, twice is %q", raw, got, twice)
		}
	})
}
