// Package jsondoc reads, writes and compares JSON documents.
//
// A document keeps what a Go value would lose: the digits of numbers, the order of keys, keys
// that an object has twice, and where each value is in the text. [Parse] takes JSON as RFC 8259
// defines it; [Repair] also takes what people and models write in its place, and says what it
// read differently. The package imports nothing of toolcrib. Start at [Node].
package jsondoc

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is what a value is, in the words of JSON Schema.
type Kind string

// The kinds.
const (
	Object  Kind = "object"
	Array   Kind = "array"
	String  Kind = "string"
	Number  Kind = "number"
	Boolean Kind = "boolean"
	Null    Kind = "null"
)

// Node is a value of a document.
type Node struct {
	Kind    Kind
	At      int      // byte offset of its first character
	Raw     string   // of a scalar: as JSON writes it
	Text    string   // of a string: what it says
	Items   []*Node  // of an array
	Members []Member // of an object, in the order written; a key may be there twice
	value   *big.Rat // of a number, once it was asked for
	index   map[string]*Node
}

// Member is a key of an object with its value.
type Member struct {
	Key   string
	Raw   string // the key as JSON writes it
	At    int    // byte offset of the key
	Value *Node
}

// Doc is a document.
type Doc struct {
	Text    string // the text that offsets refer to
	Root    *Node
	Repairs []Note // what was read differently from what it says
	Twice   []Note // keys that an object has twice
}

// Note is a remark on a place.
type Note struct {
	At  int
	Say string
}

// Position returns the line and column of a byte offset, both from 1, in characters.
func (d *Doc) Position(at int) (line, column int) { return position(d.Text, at) }

func position(text string, at int) (line, column int) {
	before := text[:min(at, len(text))]
	start := strings.LastIndexByte(before, '\n') + 1
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[start:])
}

// Get returns the value of a key, the last one if the object has it twice; nil if there is none.
func (n *Node) Get(key string) *Node {
	if n.index == nil && len(n.Members) > 16 {
		n.index = make(map[string]*Node, len(n.Members))
		for _, m := range n.Members {
			n.index[m.Key] = m.Value
		}
	}
	if n.index != nil {
		return n.index[key]
	}
	for _, m := range slices.Backward(n.Members) {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// Unique returns the members of an object whose value counts: the last of each key.
func (n *Node) Unique() []Member {
	return slices.DeleteFunc(slices.Clone(n.Members), func(m Member) bool { return n.Get(m.Key) != m.Value })
}

// maxExponent is the largest exponent of a number whose value is calculated; others are
// compared by their text.
const maxExponent = 10_000

// Value returns the exact value of a number; ok is false if it has too many digits.
func (n *Node) Value() (r *big.Rat, ok bool) {
	if n.value != nil {
		return n.value, true
	}
	if i := strings.IndexAny(n.Raw, "eE"); i >= 0 {
		if e, err := strconv.Atoi(n.Raw[i+1:]); err != nil || max(e, -e) > maxExponent {
			return nil, false
		}
	}
	if len(n.Raw) > maxExponent {
		return nil, false
	}
	n.value, ok = new(big.Rat).SetString(n.Raw)
	return n.value, ok
}

// Rounded reports whether a number has digits that floating point loses.
func (n *Node) Rounded() bool {
	f, err := strconv.ParseFloat(n.Raw, 64)
	if err != nil {
		return true
	}
	exact, ok := n.Value()
	kept, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return !ok || exact.Cmp(kept) != 0
}

// Equal reports whether two values are the same: numbers by value, objects in any order.
func Equal(a, b *Node) bool {
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case Object:
		members := a.Unique()
		return len(members) == len(b.Unique()) && !slices.ContainsFunc(members, func(m Member) bool {
			other := b.Get(m.Key)
			return other == nil || !Equal(m.Value, other)
		})
	case Array:
		return slices.EqualFunc(a.Items, b.Items, Equal)
	case String:
		return a.Text == b.Text
	case Number:
		if a.Raw == b.Raw {
			return true
		}
		x, ok := a.Value()
		y, ok2 := b.Value()
		return ok && ok2 && x.Cmp(y) == 0
	}
	return a.Raw == b.Raw
}

// Pointer adds a token to a JSON Pointer (RFC 6901).
func Pointer(base, token string) string {
	return base + "/" + strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

// Summary says in a few words what a value is.
func (n *Node) Summary() string {
	count := func(n int, one string, more string) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %s", n, more)
	}
	switch n.Kind {
	case Object:
		return "object with " + count(len(n.Unique()), "key", "keys")
	case Array:
		return "array of " + count(len(n.Items), "item", "items")
	}
	return string(n.Kind)
}

// Brief returns the value in one line of at most about so many characters.
func (n *Node) Brief(most int) string {
	text := n.Format(Style{})
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	if n.Kind == Object || n.Kind == Array {
		return n.Summary()
	}
	return string([]rune(text)[:most]) + "…"
}

// Canonical returns a text that equal values have in common, see [Equal].
func (n *Node) Canonical() string {
	var b strings.Builder
	n.canonical(&b)
	return b.String()
}

func (n *Node) canonical(b *strings.Builder) {
	switch n.Kind {
	case Object:
		members := n.Unique()
		slices.SortFunc(members, func(x, y Member) int { return strings.Compare(x.Key, y.Key) })
		b.WriteByte('{')
		for _, m := range members {
			b.WriteString(Quote(m.Key))
			m.Value.canonical(b)
		}
		b.WriteByte('}')
	case Array:
		b.WriteByte('[')
		for _, item := range n.Items {
			item.canonical(b)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case String:
		b.WriteString(Quote(n.Text))
	case Number:
		if r, ok := n.Value(); ok {
			b.WriteString(r.RatString())
			return
		}
		b.WriteString(n.Raw)
	default:
		b.WriteString(n.Raw)
	}
}
