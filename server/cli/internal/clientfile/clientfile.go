// Package clientfile edits the configuration files of MCP clients: it adds or removes the
// entry of one server, and leaves every other byte unchanged: comments, order,
// indentation, trailing commas, byte order mark, line ends.
//
// A [Entry] works on documents in memory and is a function of its arguments; a [File]
// reads and replaces a document on disk. Neither knows the clients or the content of an
// entry. It must not import another package of toolcrib. Start at [Entry.Set].
package clientfile

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Format is the language of a document.
type Format int

// The formats. In all of them a key that appears twice is an error.
const (
	JSON          Format = iota + 1 // RFC 8259
	CommentedJSON                   // JSON with // and /* */ comments
	JSONC                           // and with trailing commas
	TOML                            // TOML 1.1
)

// Entry is the position of a server's entry in a document.
type Entry struct {
	Format Format
	Table  string // the top-level object that holds the entries
	Name   string // the entry's key in it: letters, digits, - and _
}

// ErrNoEntry is the error of [Entry.Remove] where there is nothing to remove.
var ErrNoEntry = errors.New("there is no such entry")

// SyntaxError is a document that cannot be edited, and where.
type SyntaxError struct {
	Line, Column int // from 1; the column counts bytes
	Msg          string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Msg) }

// syntaxError returns an error at an offset of a document.
func syntaxError(doc []byte, offset int, format string, args ...any) error {
	before := doc[:min(max(offset, 0), len(doc))]
	return &SyntaxError{
		Line:   1 + bytes.Count(before, []byte("\n")),
		Column: len(before) - bytes.LastIndexByte(before, '\n'),
		Msg:    fmt.Sprintf(format, args...),
	}
}

// document is a parsed document, seen from a [Entry].
type document interface {
	// data is the decoded document.
	data() map[string]any
	// span returns the offsets of the entry's value; both are 0 without an entry.
	span() (from, to int)
	// set returns the document with this entry in the place of any old one.
	set(entry any) ([]byte, error)
	// remove returns the document without the entry, which is there.
	remove() ([]byte, error)
}

func (p Entry) parse(doc []byte) (document, error) {
	if p.Format == TOML {
		return parseTOML(doc, p)
	}
	return parseJSON(doc, p)
}

// Find returns the decoded entry and whether there is one. Its error is a
// [*SyntaxError].
func (p Entry) Find(doc []byte) (entry any, found bool, err error) {
	_, doc = cutMark(doc)
	d, err := p.parse(doc)
	if err != nil {
		return nil, false, err
	}
	entry, found = p.entry(d.data())
	return entry, found, nil
}

// Set returns the document with the entry, a struct that the format's encoder
// renders. An entry that is there is replaced; one that says the same already
// keeps its form, and doc is returned as it is. For a missing file, doc is empty. Its error is a [*SyntaxError], or that of the encoder.
func (p Entry) Set(doc []byte, entry any) ([]byte, error) {
	mark, text := cutMark(doc)
	d, err := p.parse(text)
	if err != nil {
		return nil, err
	}
	alone, err := p.fresh(entry)
	if err != nil {
		return nil, err
	}
	wanted, _, err := p.Find(alone)
	if err != nil {
		return nil, err
	}
	if now, found := p.entry(d.data()); found && same(now, wanted) {
		return doc, nil
	}
	out, err := d.set(entry)
	if err != nil {
		return nil, err
	}
	after, err := p.parse(out)
	if err != nil {
		return nil, fmt.Errorf("the edit would break the document: %w", err)
	}
	if now, found := p.entry(after.data()); !found || !same(now, wanted) {
		return nil, errors.New("the edited file would not have the entry")
	}
	if !same(p.others(d), p.others(after)) {
		return nil, errors.New("the edit would change something else")
	}
	return slices.Concat(mark, out), nil
}

// fresh is a document of this entry alone.
func (p Entry) fresh(entry any) ([]byte, error) {
	d, err := p.parse(nil)
	if err != nil {
		return nil, err
	}
	return d.set(entry)
}

// Remove returns the document without the entry, or [ErrNoEntry]. Where the
// document is what [Entry.Set] made of one of the earlier documents, that one
// comes back, byte for byte; they are tried in order. Elsewhere the entry goes
// with the white space that set it off, and an object that it leaves empty stays.
// The result is nil only where it is an earlier document that is nil.
func (p Entry) Remove(doc []byte, earlier ...[]byte) ([]byte, error) {
	mark, text := cutMark(doc)
	d, err := p.parse(text)
	if err != nil {
		return nil, err
	}
	if _, found := p.entry(d.data()); !found {
		return nil, ErrNoEntry
	}
	from, to := d.span()
	for _, old := range earlier {
		if subsequence(old, doc) && p.made(doc[:len(mark)+from], text[to:], old) {
			return old, nil
		}
	}
	out, err := d.remove()
	if err != nil {
		return nil, err
	}
	after, err := p.parse(out)
	if err != nil {
		return nil, fmt.Errorf("the edit would break the document: %w", err)
	}
	if _, found := p.entry(after.data()); found || !same(p.others(d), p.others(after)) {
		return nil, errors.New("the edit would change something else")
	}
	return append(append([]byte{}, mark...), out...), nil
}

// made reports whether Set turns old into a document with this text before and after
// the entry's value.
func (p Entry) made(before, after, old []byte) bool {
	if _, found, err := p.Find(old); found || err != nil {
		return false
	}
	doc, err := p.Set(old, struct{}{})
	if err != nil {
		return false
	}
	mark, text := cutMark(doc)
	d, err := p.parse(text)
	if err != nil {
		return false
	}
	from, to := d.span()
	return bytes.Equal(before, doc[:len(mark)+from]) && bytes.Equal(after, text[to:])
}

// subsequence reports whether the bytes of a text occur in another in the same
// order, as those of every document do after Set has put a new entry in.
func subsequence(short, long []byte) bool {
	for _, c := range long {
		if len(short) > 0 && short[0] == c {
			short = short[1:]
		}
	}
	return len(short) == 0
}

// entry picks the entry out of a decoded document.
func (p Entry) entry(data map[string]any) (any, bool) {
	table, _ := data[p.Table].(map[string]any)
	entry, found := table[p.Name]
	return entry, found
}

// others returns the document without the entry. A missing table counts as an empty one.
func (p Entry) others(d document) map[string]any {
	rest, table := maps.Clone(d.data()), map[string]any{}
	if old, ok := rest[p.Table].(map[string]any); ok {
		maps.Copy(table, old)
	}
	delete(table, p.Name)
	rest[p.Table] = table
	return rest
}

// same compares decoded values; it takes a NaN for equal to a NaN.
func same(a, b any) bool {
	return reflect.DeepEqual(a, b) || fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b)
}

// cutMark splits a byte order mark off.
func cutMark(doc []byte) (mark, rest []byte) {
	n := 0
	if bytes.HasPrefix(doc, []byte("\ufeff")) {
		n = len("\ufeff")
	}
	return doc[:n:n], doc[n:]
}

// newline is the line end that a document uses.
func newline(doc []byte) string {
	if i := bytes.IndexByte(doc, '\n'); i > 0 && doc[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// splice returns doc with doc[from:to] replaced.
func splice(doc []byte, from, to int, text string) []byte {
	return slices.Concat(doc[:from], []byte(text), doc[to:])
}
