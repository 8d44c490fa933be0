package audit

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"slices"
	"strings"
)

// Bounds of the arguments in a record.
const (
	maxArguments = 2 << 10 // bytes
	maxText      = 256     // bytes of a string
	maxItems     = 20      // of a list or an object
)

// Digest identifies data without revealing it: without the key, even short data cannot be
// guessed from it. It is the same in every process.
func (l *Log) Digest(data []byte) string {
	mac := l.digests.Get().(hash.Hash)
	defer l.digests.Put(mac)
	mac.Reset()
	mac.Write(data)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// Arguments returns canonical arguments as a record has them: without secrets, digested
// ones replaced, long strings cut, at most 2 KiB. Of the rest only the length is recorded.
func (l *Log) Arguments(args json.RawMessage) json.RawMessage {
	if len(args) <= len("{}") {
		return nil
	}
	if l.plain(args) {
		return l.redact(args)
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return marshal(fmt.Sprintf("%d bytes that are no JSON", len(args)))
	}
	short := l.redact(marshal(l.shorten("", v)))
	if len(short) > maxArguments {
		return marshal(fmt.Sprintf("%d bytes", len(args)))
	}
	return short
}

// plain reports whether arguments can be told as they are: they are short and none is
// digested. It is the way of most calls, and saves taking them apart.
func (l *Log) plain(args json.RawMessage) bool {
	if len(args) > maxText || bytes.IndexByte(args, '\\') >= 0 || !json.Valid(args) {
		return false
	}
	for _, name := range l.opt.Digested {
		if bytes.Contains(args, []byte(name)) {
			return false
		}
	}
	return true
}

func (l *Log) redact(v json.RawMessage) json.RawMessage {
	if l.opt.Redact == nil {
		return v
	}
	return l.opt.Redact(v)
}

// shorten returns a value of arguments as a record has it; name is that of its field
// or list.
func (l *Log) shorten(name string, v any) any {
	switch v := v.(type) {
	case string:
		switch {
		case slices.Contains(l.opt.Digested, name):
			return fmt.Sprintf("%d bytes, digest %s", len(v), l.Digest([]byte(v)))
		case len(v) > maxText:
			return l.cut(v)
		}
		return v
	case []any:
		list := make([]any, 0, min(len(v), maxItems+1))
		for i, item := range v {
			if i == maxItems {
				list = append(list, fmt.Sprintf("%d more", len(v)-i))
				break
			}
			list = append(list, l.shorten(name, item))
		}
		return list
	case map[string]any:
		fields := make(map[string]any, min(len(v), maxItems+1))
		for key, item := range v {
			if len(fields) == maxItems {
				fields["..."] = fmt.Sprintf("%d more", len(v)-maxItems)
				break
			}
			fields[strings.ToValidUTF8(key[:min(len(key), maxText)], "")] = l.shorten(key, item)
		}
		return fields
	}
	return v
}

// cut shortens a string. Secrets are taken out before: a part of one is not known
// as one any more.
func (l *Log) cut(text string) string {
	whole := len(text)
	const enough = 16 * maxText
	clean := l.redact(marshal(text[:min(len(text), enough)]))
	if json.Unmarshal(clean, &text) != nil {
		return fmt.Sprintf("%d bytes", whole)
	}
	return fmt.Sprintf("%s… of %d bytes", strings.ToValidUTF8(text[:min(len(text), maxText)], ""), whole)
}

// marshal encodes what can always be encoded, without escapes for HTML.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return json.RawMessage(`"not readable"`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}
