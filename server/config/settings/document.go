package settings

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// maxProblems is how many problems of one file are told.
const maxProblems = 50

// maxDepth is how deep mappings and lists may be nested.
const maxDepth = 32

// Problem is one thing that is wrong with a file.
type Problem struct {
	File         string
	Line, Column int
	Key          string // where in the file: policy[1].tool; "" = the file as a whole
	Msg          string
}

// Error is "file:line:column: key: what is wrong".
func (p Problem) Error() string {
	at := p.File
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	if p.Key != "" {
		at += ": " + p.Key
	}
	return at + ": " + p.Msg
}

// Problems is all that is wrong with a file, in its order.
type Problems []Problem

// Error has a line for each problem.
func (ps Problems) Error() string {
	var lines []string
	for i, p := range ps {
		if i == maxProblems {
			lines = append(lines, fmt.Sprintf("and %d more", len(ps)-i))
			break
		}
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "\n")
}

// With returns the problems with those of more that concern other keys: a value that is
// wrong already may be wrong for that in other ways too.
func (ps Problems) With(more Problems) Problems {
	all := slices.Clone(ps)
	for _, p := range more {
		if !slices.ContainsFunc(ps, func(q Problem) bool {
			return q.Key == p.Key || strings.HasPrefix(q.Key, p.Key+".") || strings.HasPrefix(q.Key, p.Key+"[")
		}) {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(all)
}

// Document is a file that was read.
type Document struct {
	Name string
	// SecretFiles are the files that its secrets were read from.
	SecretFiles []string
	// Variables are the variables of the environment that it refers to.
	Variables []string

	positions map[string]position
	raw       map[string]string // the file's own text of values in which variables were replaced
	clear     string            // position of a secret that is in the file itself; "" = none is
	defined   []string          // keys at the top
}

type position struct{ line, column int }

// Keys returns the keys at the top that the file sets, in its order.
func (d *Document) Keys() []string { return d.defined }

// Has reports whether the file sets the key at.
func (d *Document) Has(at string) bool {
	_, ok := d.positions[at]
	return ok
}

// Where returns "file:line" of the key at.
func (d *Document) Where(at string) string { return fmt.Sprintf("%s:%d", d.Name, d.positions[at].line) }

// Clear returns the position of a secret that is in the file itself, "" if none is.
func (d *Document) Clear() string { return d.clear }

// Problem returns a problem with the value of the key at.
func (d *Document) Problem(at, format string, args ...any) Problem {
	p := d.positions[at]
	return Problem{d.Name, p.line, p.column, at, fmt.Sprintf(format, args...)}
}

// root parses the file: one document, a mapping, of plain parts only. nil is an empty
// file.
func (d *decoder) root(data []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var n, next yaml.Node
	err := dec.Decode(&n)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		err = dec.Decode(&next)
	}
	var syntax *yaml.LoadError
	switch {
	case errors.As(err, &syntax):
		d.problems = append(d.problems, Problem{d.doc.Name, syntax.Mark.Line, syntax.Mark.Column, "", "this is not YAML: " + syntax.Message})
		return nil
	case err == nil:
		d.fail(&next, "", "a second document begins here; a file holds one")
		return nil
	case !errors.Is(err, io.EOF):
		d.fail(&n, "", "this is not YAML: %v", err)
		return nil
	case n.Kind != yaml.DocumentNode || len(n.Content) != 1:
		return nil
	}
	top := n.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return nil
	}
	d.check(top, "", 0)
	if top.Kind != yaml.MappingNode {
		d.fail(top, "", "there must be keys with their values: read_only: true")
		return nil
	}
	return top
}

// check refuses what makes a file mean more than it shows: anchors, aliases, merges,
// tags, keys that are there twice.
func (d *decoder) check(n *yaml.Node, at string, depth int) {
	switch {
	case depth > maxDepth:
		d.fail(n, at, "more than %d levels", maxDepth)
		n.Content = nil
		return
	case n.Kind == yaml.AliasNode:
		d.fail(n, at, "the alias *%s: write the value itself", n.Value)
		return
	case n.Anchor != "":
		d.fail(n, at, "the anchor &%s: write out each value", n.Anchor)
	case n.Style&yaml.TaggedStyle != 0:
		d.fail(n, at, "the tag %s: leave it out", n.Tag)
	}
	if n.Kind == yaml.SequenceNode {
		for i, c := range n.Content {
			d.check(c, item(at, i), depth+1)
		}
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch line, twice := first[key.Value]; {
		case key.Kind != yaml.ScalarNode || key.Anchor != "" || key.Style&yaml.TaggedStyle != 0:
			d.fail(key, at, "a key must be a plain word")
			continue
		case key.Tag == "!!merge":
			d.fail(key, at, "a merge (<<): write the keys themselves")
			continue
		case twice:
			d.fail(key, below(at, key.Value), "the key is there twice, first in line %d", line)
		default:
			first[key.Value] = key.Line
		}
		d.check(value, below(at, key.Value), depth+1)
	}
}
