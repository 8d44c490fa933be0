package fileindex_test

import (
	"os"
	"runtime"
	"testing"

	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// benchTable lists the directory that TOOLCRIB_BENCH_TREE names.
func benchTable(b *testing.B, opt fileindex.Options) (*fileindex.Index, workspace.Path) {
	b.Helper()
	dir := os.Getenv("TOOLCRIB_BENCH_TREE")
	if dir == "" {
		b.Skip("needs: TOOLCRIB_BENCH_TREE")
	}
	w, err := workspace.Open([]string{dir}, workspace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close() })
	p, err := w.Resolve(".")
	if err != nil {
		b.Fatal(err)
	}
	t, err := fileindex.New(b.Context(), p, opt)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { t.Close() })
	return t, p
}

func BenchmarkTableNew(b *testing.B) {
	for b.Loop() {
		benchTable(b, fileindex.Options{})
	}
}

func BenchmarkTableMemory(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	t, p := benchTable(b, fileindex.Options{})
	runtime.GC()
	runtime.ReadMemStats(&after)
	n := 0
	t.Files(p, "", nil, func(fileindex.File) bool { n++; return true })
	for b.Loop() {
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/file")
	b.ReportMetric(float64(n), "files")
}

func BenchmarkTableSync(b *testing.B) {
	for _, stat := range []bool{false, true} {
		name := "watch"
		if stat {
			name = "stat"
		}
		b.Run(name, func(b *testing.B) {
			t, _ := benchTable(b, fileindex.Options{Stat: stat})
			for b.Loop() {
				if _, err := t.Sync(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTableFiles(b *testing.B) {
	t, p := benchTable(b, fileindex.Options{})
	for b.Loop() {
		t.Files(p, "", nil, func(fileindex.File) bool { return true })
	}
}
