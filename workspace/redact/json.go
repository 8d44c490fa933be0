package redact

import (
	"bytes"
	"encoding/json"
	"strings"
)

// JSON returns a JSON text without its secrets: those in strings and keys behind any
// escapes, in numbers, and the values of keys that name secrets. Valid JSON stays valid;
// any other text is returned as a JSON string of its redacted text.
func (r *Redactor) JSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	if !json.Valid(raw) {
		return quoted(r.String(strings.ToValidUTF8(string(raw), "\ufffd")))
	}
	out := make([]byte, 0, len(raw))
	depth, secret := 0, false // secret: the next value, or the list around it, belongs to a secret's name
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			end := stringEnd(raw, i)
			value := string(raw[i+1 : end-1])
			if strings.IndexByte(value, '\\') >= 0 {
				_ = json.Unmarshal(raw[i:end], &value) // it is valid
			}
			key := isKey(raw, end)
			shown := r.String(value)
			if secret && !key && !placeholder(value) {
				shown = markOf("secret-value")
			}
			if shown == value {
				out = append(out, raw[i:end]...)
			} else {
				out = append(out, quoted(shown)...)
			}
			if key {
				secret, depth = SecretName(value), 0
			} else if depth == 0 {
				secret = false
			}
			i = end
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(raw) && strings.IndexByte("0123456789+-.eE", raw[end]) >= 0 {
				end++
			}
			number := string(raw[i:end])
			if r.String(number) != number || secret && len(number) >= leastQuoted {
				out = append(out, quoted(mark+"]")...)
			} else {
				out = append(out, number...)
			}
			if depth == 0 {
				secret = false
			}
			i = end
		default:
			switch c {
			case '[':
				depth++
			case ']':
				if depth--; depth <= 0 {
					depth, secret = 0, false
				}
			case '{', '}', 't', 'f', 'n': // true, false, null
				secret = secret && depth > 0 && c != '{'
			}
			out = append(out, c)
			i++
		}
	}
	return out
}

// quoted returns a text as a JSON string.
func quoted(text string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(err) // a string can always be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// stringEnd returns the position behind the string that begins at i.
func stringEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// isKey reports whether the string that ends at i is the key of a member.
func isKey(raw []byte, i int) bool {
	rest := bytes.TrimLeft(raw[i:], " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}
