package fileindex_test

import (
	"go/build"
	"os"
	"path/filepath"
	"testing"

	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
	"toolcrib/workspace/internal/fsys"
)

// benchTree is a real tree: that of TOOLCRIB_BENCH_TREE, or Go's own source.
func benchTree(b *testing.B) workspace.Path {
	b.Helper()
	dir := os.Getenv("TOOLCRIB_BENCH_TREE")
	if dir == "" {
		dir = filepath.Join(build.Default.GOROOT, "src")
	}
	w, err := workspace.Open([]string{dir}, workspace.Options{})
	if err != nil {
		b.Skipf("needs: a tree: %v", err)
	}
	b.Cleanup(func() { w.Close() })
	p, err := w.Resolve(".")
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func BenchmarkStream(b *testing.B) {
	p := benchTree(b)
	n := 0
	for b.Loop() {
		n = 0
		s := fileindex.NewStream(b.Context(), p, fileindex.WalkOptions{Hidden: true})
		for run := range s.Runs() {
			n += len(run)
		}
		if _, err := s.Result(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/entry")
}

// BenchmarkOpenTree opens, reads and closes every file of a tree.
func BenchmarkOpenTree(b *testing.B) {
	entries, _, err := fileindex.Walk(b.Context(), benchTree(b), fileindex.WalkOptions{Hidden: true})
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 1<<20)
	for b.Loop() {
		for _, e := range entries {
			if e.Kind != fsys.KindFile {
				continue
			}
			f, err := e.Path.Open()
			if err != nil {
				b.Fatal(err)
			}
			_, _ = f.Read(buf) // io.EOF of an empty file
			f.Close()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(entries)), "ns/entry")
}
