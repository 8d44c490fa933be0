package index_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf16"

	"toolcrib/tools/search/internal/index"
	"toolcrib/tools/search/internal/match"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// tree is a table over a directory that it writes itself.
type tree struct {
	t    testing.TB
	dir  string
	root workspace.Path

	mu         sync.Mutex
	generation uint64
	last       uint32
	files      map[string]*file
	panics     bool
}

type file struct {
	fileindex.File
	changed uint64 // generation
	data    []byte
}

func newTree(t testing.TB) *tree {
	t.Helper()
	dir := t.TempDir()
	w, err := workspace.Open([]string{dir}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	root, err := w.Resolve(".")
	if err != nil {
		t.Fatal(err)
	}
	return &tree{t: t, dir: dir, root: root, generation: 1, files: map[string]*file{}}
}

func (tr *tree) Sync(ctx context.Context) (fileindex.Freshness, error) {
	return fileindex.Watched, context.Cause(ctx)
}

func (tr *tree) Generation() uint64 {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.generation
}

func (tr *tree) Changed(since uint64) ([]fileindex.File, uint64) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.panics {
		panic("boom")
	}
	var out []fileindex.File
	for _, f := range tr.files {
		if f.changed > since {
			out = append(out, f.File)
		}
	}
	slices.SortFunc(out, func(a, b fileindex.File) int { return strings.Compare(a.Rel, b.Rel) })
	return out, tr.generation
}

// write gives a file a content. The version changes after it, as in a table that is
// told of a write.
func (tr *tree) write(name string, data []byte) {
	if err := os.WriteFile(filepath.Join(tr.dir, name), data, 0o600); err != nil {
		tr.t.Error(err)
		return
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.generation++
	f := tr.files[name]
	if f == nil {
		tr.last++
		path, err := tr.root.Join(name)
		if err != nil {
			tr.t.Error(err)
			return
		}
		f = &file{File: fileindex.File{ID: tr.last, Path: path, Rel: name}}
		tr.files[name] = f
	}
	f.Version++
	f.data, f.changed = data, tr.generation
}

func (tr *tree) remove(name string) {
	if err := os.Remove(filepath.Join(tr.dir, name)); err != nil {
		tr.t.Error(err)
	}
	tr.forget(name)
}

// replace removes a file and writes another, which is faster with the same file of the system.
func (tr *tree) replace(old, name string, data []byte) {
	if err := os.Rename(filepath.Join(tr.dir, old), filepath.Join(tr.dir, name)); err != nil {
		tr.t.Error(err)
	}
	tr.forget(old)
	tr.write(name, data)
}

func (tr *tree) forget(name string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.generation++
	delete(tr.files, name)
}

func (tr *tree) list() []file {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	var all []file
	for _, f := range tr.files {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.Rel, b.Rel) })
	return all
}

// text is what a search sees of a file; binary says that it sees nothing.
func text(data []byte) (text string, binary bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return string(data[3:]), false
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		var units []uint16
		for i := 2; i+1 < len(data); i += 2 {
			units = append(units, uint16(data[i])|uint16(data[i+1])<<8)
		}
		return string(utf16.Decode(units)), false
	}
	return string(data), bytes.IndexByte(data[:min(len(data), 8<<10)], 0) >= 0
}

// fold maps all runes that are equal when case is ignored to the same one.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, s)
}

// holds reports whether text has of each clause a literal.
func holds(text string, need [][]match.Literal) bool {
	folded := ""
	for _, literals := range need {
		if !slices.ContainsFunc(literals, func(l match.Literal) bool {
			if !l.Fold {
				return strings.Contains(text, l.Text)
			}
			if folded == "" {
				folded = fold(text)
			}
			return strings.Contains(folded, fold(l.Text))
		}) {
			return false
		}
	}
	return true
}

// check compares the answers of an index with the truth, and returns how many files it
// could rule out.
func (tr *tree) check(x *index.Index, need [][]match.Literal) (ruledOut int) {
	tr.t.Helper()
	before := tr.list()
	selection := x.Select(need, true)
	for _, f := range before {
		text, binary := text(f.data)
		switch c := selection.Class(f.ID, f.Version); {
		case c == index.Not && (binary || holds(text, need)):
			tr.t.Errorf("%s is ruled out for %+v: %.200q", f.Rel, need, f.data)
		case c == index.Binary && !binary:
			tr.t.Errorf("%s is taken for binary: %.200q", f.Rel, f.data)
		case c == index.Not:
			ruledOut++
		}
	}
	return ruledOut
}
