package page

import (
	"bytes"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"toolcrib/tools/internal/text/textfile"
)

// Charset is the encoding of a page and how it was found.
type Charset struct {
	Name   string
	Source string // byte order mark, header, meta, valid UTF-8, detected or guessed
}

const (
	// declaredLen is how far into a page its own declaration may lie.
	declaredLen = 4 << 10
	// sampleLen is how much text with characters beyond ASCII detection is given.
	sampleLen = 8 << 10
)

// Decode returns a page as valid UTF-8. The byte order mark decides, then the type that the
// server declares, then what the page declares, then how the bytes read. A declaration that
// the bytes contradict does not count.
func Decode(body []byte, contentType string) ([]byte, Charset) {
	if enc, n := textfile.BOM(body); n > 0 {
		return valid(enc.Decode(body[n:])), Charset{enc.Name(), "byte order mark"}
	}
	_, params, _ := mime.ParseMediaType(contentType) // what is not understood declares nothing
	head := declared(body[:min(len(body), declaredLen)])
	isUTF8 := utf8.Valid(body)
	for _, d := range [...]struct{ label, source string }{{params["charset"], "header"}, {head, "meta"}} {
		enc, ok := lookup(d.label)
		if !ok || enc.Unit() > 1 && d.source == "meta" || contradicted(body, enc, isUTF8) {
			continue
		}
		return valid(enc.Decode(body)), Charset{enc.Name(), d.source}
	}
	sample := body[:min(len(body), 64<<10)]
	if isUTF8 && !bytes.Contains(sample, []byte{0}) && !bytes.Contains(sample, []byte("\x1b$")) && !bytes.Contains(sample, []byte("~{")) {
		return body, Charset{"utf-8", "valid UTF-8"}
	}
	if !isUTF8 && !bytes.Contains(sample, []byte{0}) {
		sample = telling(body)
	}
	form := textfile.Sniff(sample, false)
	source := "guessed"
	if form.Source == textfile.Detected {
		source = "detected"
	}
	return valid(form.Encoding.Decode(body)), Charset{form.Encoding.Name(), source}
}

// lookup returns the encoding of a label as browsers read it: they take the labels of
// Latin-1 and Latin-5 for the larger encodings of Windows.
func lookup(label string) (textfile.Encoding, bool) {
	if label = strings.Trim(strings.TrimSpace(label), `"'`); label == "" {
		return textfile.Encoding{}, false
	}
	enc, ok := textfile.Lookup(label)
	if ok {
		switch enc.Name() {
		case "iso-8859-1":
			return textfile.Lookup("windows-1252")
		case "iso-8859-9":
			return textfile.Lookup("windows-1254")
		}
	}
	return enc, ok
}

// contradicted reports whether the bytes cannot be meant in an encoding: text in UTF-8 that
// is declared as something else, or bytes of which too many are no characters.
func contradicted(body []byte, enc textfile.Encoding, isUTF8 bool) bool {
	if isUTF8 {
		multi := bytes.ContainsFunc(body, func(r rune) bool { return r >= utf8.RuneSelf })
		return multi && !enc.UTF8()
	}
	head := body[:min(len(body), 256<<10)]
	text := enc.Decode(head)
	wrong, beyond := 0, 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r >= utf8.RuneSelf {
			beyond++
			if r == utf8.RuneError {
				wrong++
			}
		}
		i += size
	}
	return wrong*10 > beyond
}

// declared returns the label of the encoding that a page gives itself.
func declared(head []byte) string {
	if rest, ok := bytes.CutPrefix(head, []byte("<?xml")); ok {
		rest, _, _ = bytes.Cut(rest, []byte("?>"))
		if _, label, ok := bytes.Cut(rest, []byte("encoding=")); ok && len(label) > 1 {
			if end := bytes.IndexByte(label[1:], label[0]); end > 0 {
				return string(label[1 : end+1])
			}
		}
	}
	z := html.NewTokenizer(bytes.NewReader(head))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if t.DataAtom != atom.Meta {
				continue
			}
			for _, a := range t.Attr {
				if a.Key == "charset" {
					return a.Val
				}
				if a.Key == "content" {
					if _, label, ok := strings.Cut(strings.ToLower(a.Val), "charset="); ok {
						label, _, _ = strings.Cut(label, ";")
						return label
					}
				}
			}
		}
	}
}

// telling returns the pieces of text between tags that have bytes beyond ASCII, a line
// each: tags and long lines without such bytes would hide what the text reads like. In no
// encoding that pages use are the bytes of angle brackets parts of other characters.
func telling(body []byte) []byte {
	var sample []byte
	whole := body
	for len(body) > 0 && len(sample) < sampleLen {
		end := bytes.IndexByte(body, '<')
		if end < 0 {
			end = len(body)
		}
		piece := bytes.TrimSpace(body[:end])
		body = body[end:]
		if bytes.ContainsFunc(piece, func(r rune) bool { return r >= utf8.RuneSelf }) {
			sample = append(append(sample, piece[:min(len(piece), 1<<10)]...), '\n')
		}
		if end = bytes.IndexByte(body, '>'); end < 0 {
			break
		}
		body = body[end+1:]
	}
	if len(sample) == 0 {
		return whole[:min(len(whole), 64<<10)]
	}
	return sample
}

func valid(text []byte) []byte { return bytes.ToValidUTF8(text, []byte("\ufffd")) }
