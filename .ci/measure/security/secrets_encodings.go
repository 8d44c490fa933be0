package security

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"

	"toolcrib/.ci/measure/harness"
)

// encodings are how a known secret is written in arguments, in the order of the list of
// package redact.
var encodings = [...]struct {
	name  string
	write func(string) string
}{
	{"plain", func(s string) string { return s }},
	{"JSON", inJSON},
	{"JSON twice", func(s string) string { return inJSON(inJSON(s)) }},
	{"quoted by Go", func(s string) string { return strings.Trim(strconv.QuoteToASCII(s), `"`) }},
	{"URL", func(s string) string { return url.QueryEscape(url.PathEscape(s)) }},
	{"percent", func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
		return b.String()
	}},
	{"HTML", html.EscapeString},
	{"Unicode escapes", func(s string) string {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune(s)) {
			fmt.Fprintf(&b, `\u%04x`, u)
		}
		return b.String()
	}},
	{"shell", func(s string) string { return strings.ReplaceAll(s, "'", `'\''`) }},
	{"hex", func(s string) string { return hex.EncodeToString([]byte(s)) }},
	{"HEX", func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }},
	{"base64", func(s string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + s)) }},
	{"base64 of URLs", func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("me:" + s)) }},
	{"base32", func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) }},
}

func inJSON(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string is always to be had
	}
	return strings.Trim(string(quoted), `"`)
}

// sendEncoded makes a call with each known secret in each encoding, and returns how many.
func sendEncoded(u *harness.ToolUser, all []planted) (int, error) {
	calls := 0
	for _, s := range all {
		for _, e := range encodings {
			if s.variable == "" {
				continue
			}
			calls++
			if _, err := u.Use("read_file", map[string]any{"path": "x/" + e.write(s.value)}); err != nil {
				return calls, err
			}
		}
	}
	return calls, nil
}
