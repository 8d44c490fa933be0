package clientfile

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlDocument is a [document] in TOML.
type tomlDocument struct {
	place   Entry
	text    []byte
	decoded map[string]any
	blocks  []block // of the entry, in the order of the text
	inline  int     // where the table is written as an inline table, -1 elsewhere
}

// block is a run of whole lines that belong to the entry, without the end of
// the last.
type block struct {
	from, to int
	table    bool // begins with a header, so it can be replaced in place
}

func parseTOML(text []byte, p Entry) (document, error) {
	d := &tomlDocument{place: p, text: text, decoded: map[string]any{}, inline: -1}
	if err := toml.Unmarshal(text, &d.decoded); err != nil {
		wrong, ok := errors.AsType[*toml.DecodeError](err)
		if !ok {
			return nil, syntaxError(text, 0, "%v", err)
		}
		line, column := wrong.Position()
		return nil, &SyntaxError{line, column, strings.TrimPrefix(wrong.Error(), "toml: ")}
	}
	first := d.scan()
	if value, found := d.decoded[p.Table]; found {
		if _, ok := value.(map[string]any); !ok {
			return nil, syntaxError(text, first, "%q is not a table", p.Table)
		}
	}
	return d, nil
}

// scan notes the offsets of the entry, and returns where its table is first named.
func (d *tomlDocument) scan() (first int) {
	var p unstable.Parser
	p.Reset(d.text)
	first = -1
	var header []string
	adjacent := false // the expression before belongs to the entry
	for p.NextExpression() {
		e := p.Expression()
		key, from, to := d.keyOf(e)
		path := key
		if e.Kind == unstable.KeyValue {
			path = slices.Concat(header, key)
			to = int(e.Raw.Offset + e.Raw.Length)
		} else {
			header = key
		}
		if path[0] == d.place.Table && first < 0 {
			first = from
		}
		if len(path) == 1 && path[0] == d.place.Table && e.Kind == unstable.KeyValue {
			d.inline = from
		}
		ours := len(path) > 1 && path[0] == d.place.Table && path[1] == d.place.Name
		if ours {
			from = bytes.LastIndexByte(d.text[:from], '\n') + 1
			if end := bytes.IndexByte(d.text[to:], '\n'); end >= 0 {
				to += end
			} else {
				to = len(d.text)
			}
			to = len(bytes.TrimSuffix(d.text[:to], []byte("\r")))
			if adjacent {
				d.blocks[len(d.blocks)-1].to = to
			} else {
				d.blocks = append(d.blocks, block{from, to, e.Kind != unstable.KeyValue})
			}
		}
		adjacent = ours
	}
	return first
}

// keyOf returns the key of an expression, and its offset.
func (d *tomlDocument) keyOf(e *unstable.Node) (path []string, from, to int) {
	parts := e.Key()
	for parts.Next() {
		raw := parts.Node().Raw
		if path == nil {
			from = int(raw.Offset)
		}
		path, to = append(path, string(parts.Node().Data)), int(raw.Offset+raw.Length)
	}
	return path, from, to
}

func (d *tomlDocument) data() map[string]any { return d.decoded }

func (d *tomlDocument) span() (from, to int) {
	if len(d.blocks) != 1 {
		return 0, 0
	}
	return d.blocks[0].from, d.blocks[0].to
}

// editable refuses a table that is on one line: to write it in another way
// would touch the other entries.
func (d *tomlDocument) editable() error {
	if d.inline < 0 {
		return nil
	}
	return syntaxError(d.text, d.inline, "%s is an inline table, which cannot be edited in place; write its entries as [%s.NAME]", d.place.Table, d.place.Table)
}

func (d *tomlDocument) set(entry any) ([]byte, error) {
	if err := d.editable(); err != nil {
		return nil, err
	}
	body, err := toml.Marshal(entry)
	if err != nil {
		return nil, err
	}
	nl := newline(d.text)
	item := "[" + d.place.Table + "." + d.place.Name + "]\n" + string(body)
	item = strings.ReplaceAll(strings.TrimSuffix(item, "\n"), "\n", nl)
	if len(d.blocks) > 0 && d.blocks[0].table {
		first := d.blocks[0]
		out := d.without(d.blocks[1:])
		return splice(out, first.from, first.to, item), nil
	}
	out := d.without(d.blocks)
	switch {
	case len(out) == 0:
		return []byte(item + nl), nil
	case out[len(out)-1] == '\n':
		return append(out, nl+item+nl...), nil
	default:
		return append(out, nl+nl+item...), nil
	}
}

func (d *tomlDocument) remove() ([]byte, error) {
	return d.without(d.blocks), d.editable()
}

// without returns the text without these blocks. One that a header begins takes
// the blank line before it along.
func (d *tomlDocument) without(blocks []block) []byte {
	out := bytes.Clone(d.text)
	for i := range blocks {
		b := blocks[len(blocks)-1-i]
		before, after := out[:b.from], out[b.to:]
		rest, ended := cutNewline(after)
		if !ended {
			before, _ = trimNewline(before)
		}
		if b.table {
			shorter, ok := trimNewline(before)
			if ok && (!ended || len(shorter) == 0 || shorter[len(shorter)-1] == '\n') {
				before = shorter
			} else if len(before) == 0 {
				rest, _ = cutNewline(rest)
			}
		}
		out = append(bytes.Clone(before), rest...)
	}
	return out
}

// cutNewline takes a line end off the front, trimNewline off the back.
func cutNewline(text []byte) ([]byte, bool) {
	if rest, ok := bytes.CutPrefix(text, []byte("\r\n")); ok {
		return rest, true
	}
	return bytes.CutPrefix(text, []byte("\n"))
}

func trimNewline(text []byte) ([]byte, bool) {
	if rest, ok := bytes.CutSuffix(text, []byte("\r\n")); ok {
		return rest, true
	}
	return bytes.CutSuffix(text, []byte("\n"))
}
