package index_test

import (
	"os"
	"path/filepath"
	"testing"

	"toolcrib/tools/search/internal/index"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// A table of a directory serves an index: what has changed may hold everything until it
// is read again.
func TestWorkspaceTable(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "needle")
	write("b", "thread")
	w, err := workspace.Open([]string{dir}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	root, err := w.Resolve(".")
	if err != nil {
		t.Fatal(err)
	}
	table, err := fileindex.New(t.Context(), root, fileindex.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	x := index.New(table, index.Options{Memory: 1 << 20})
	worker := index.NewWorker(x)
	classes := func() (of [2]index.Class) {
		s := x.Select(one("needle"), false)
		table.Files(root, "", nil, func(f fileindex.File) bool {
			of[f.Rel[0]-'a'] = s.Class(f.ID, f.Version)
			return true
		})
		return of
	}
	for _, step := range []struct {
		name string
		do   func()
		want [2]index.Class
	}{
		{"nothing read", func() {}, [2]index.Class{index.May, index.May}},
		{"read", func() { _ = worker.Update(t.Context()) }, [2]index.Class{index.May, index.Not}},
		{"written", func() {
			write("b", "a needle")
			_, _ = table.Sync(t.Context())
		}, [2]index.Class{index.May, index.May}},
		{"read again", func() { _ = worker.Update(t.Context()) }, [2]index.Class{index.May, index.May}},
		{"written both", func() {
			write("a", "thread")
			write("b", "thread")
			_, _ = table.Sync(t.Context())
		}, [2]index.Class{index.May, index.May}},
		{"read both", func() { _ = worker.Update(t.Context()) }, [2]index.Class{index.Not, index.Not}},
	} {
		step.do()
		if got := classes(); got != step.want {
			t.Errorf("%s: classes %v, want %v", step.name, got, step.want)
		}
	}
}
