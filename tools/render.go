package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"toolcrib/tools/internal/text/textfile"
)

// Render words the Out of a call, within the tool's limits. Text over the limit
// is trimmed by the Out itself, as typed values; an Out that cannot be trimmed
// is too_large.
func (t Tool) Render(out any) (Result, error) {
	if r, ok := out.(Result); ok { // a dynamic tool words its own results
		return r, fits(r.Content, t.Limits.Text)
	}
	res, err := t.render(out)
	if err != nil {
		return Result{}, err
	}
	if size(res.Content) > t.Limits.Text && t.trim != nil {
		if res, err = t.render(t.trim(out, t.Limits.Text)); err != nil {
			return Result{}, err
		}
	}
	return res, fits(res.Content, t.Limits.Text)
}

func (t Tool) render(out any) (Result, error) {
	var res Result
	if t.output != nil {
		data, err := encode(out)
		if err != nil {
			return Result{}, err
		}
		res.Structured = data
	}
	if m, ok := out.(Metaer); ok {
		res.Meta = m.Meta()
	}
	if c, ok := out.(Contenter); ok {
		res.Content = c.Content()
		return res, nil
	}
	if w, ok := out.(Texter); ok {
		res.Content = []Block{Text(w.Text())}
		return res, nil
	}
	data := res.Structured
	if data == nil {
		var err error
		if data, err = encode(out); err != nil {
			return Result{}, err
		}
	}
	res.Content = []Block{Text(string(data))}
	return res, nil
}

// encode is json.Marshal without the escaping of <, > and &, which costs a
// model tokens and gains nothing here, and with that of characters that deceive.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return textfile.Escaped(bytes.TrimRight(b.Bytes(), "\n")), nil
}

func size(blocks []Block) int {
	n := 0
	for _, b := range blocks {
		n += len(b.Text)
	}
	return n
}

func fits(blocks []Block, limit int) error {
	if n := size(blocks); n > limit {
		return Errorf(TooLarge, "the result has %d bytes, the limit is %d", n, limit).
			WithHint("ask for less in one call")
	}
	return nil
}

// Visible returns a text with the characters shown that would deceive its reader:
// controls but tab and line feed, direction marks and invisible characters become
// \u{202e}. What says back a part of a request passes it.
func Visible(text string) string { return textfile.Visible(text) }

// Clip shortens an error text to MaxErrorText and says so.
func Clip(text string) string {
	if len(text) <= MaxErrorText {
		return text
	}
	const mark = "\n[cut: the message is longer]"
	return strings.ToValidUTF8(text[:MaxErrorText-len(mark)], "") + mark
}
