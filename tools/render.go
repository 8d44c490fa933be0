package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"toolcrib/tools/internal/text/textfile"
)

// Render turns the Out of a call into a Result within the tool's limits. An Out whose text
// is over the limit trims itself; one that is not a Trimmer is too_large.
func (t Tool) Render(out any) (Result, error) {
	if r, ok := out.(Result); ok { // of a dynamic tool
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

// encode is json.Marshal with two differences: it does not escape <, > and &, which would
// only cost tokens, and it escapes characters that deceive a reader, see [Visible].
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

// Visible escapes characters that could deceive a reader: controls except tab and line
// feed, direction marks and invisible characters become, for example, \u{202e}. Every text
// that repeats a part of a request goes through it.
func Visible(text string) string { return textfile.Visible(text) }

// Clip shortens an error text to MaxErrorText bytes and says so at its end.
func Clip(text string) string {
	if len(text) <= MaxErrorText {
		return text
	}
	const mark = "\n[cut: the message is longer]"
	return strings.ToValidUTF8(text[:MaxErrorText-len(mark)], "") + mark
}
