package match

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// source returns size bytes of this repository's code, without its tests, which
// hold what is looked for.
func source(b *testing.B, size int) []byte {
	b.Helper()
	var text []byte
	err := filepath.WalkDir("../../../..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || len(text) >= size || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		data, err := os.ReadFile(name)
		text = append(text, data...)
		return err
	})
	if err != nil || len(text) == 0 {
		b.Fatal("no source to search: ", err)
	}
	return bytes.Repeat(text, size/len(text)+1)[:size]
}

// BenchmarkFinder finds all lines with a literal, in a text that the second cache
// of a processor holds.
func BenchmarkFinder(b *testing.B) {
	text := source(b, 256<<10)
	for _, bench := range []struct {
		name     string
		literals []literal
	}{
		{"rare", exact("qqzzj_nowhere")},
		{"rare/folded", folded("qqzzj_nowhere")},
		{"word", exact("WalkOptions")},
		{"word/folded", folded("mask_of_task")},
		{"short/folded", folded("skb")},
		{"common", exact("return")},
		{"common/folded", folded("return")},
		{"four", exact("TODO", "FIXME", "XXX", "HACK")},
		{"four/folded", folded("todo", "fixme", "xxx", "hack")},
		{"four/rare", exact("mmap_write_lock", "PM_RESUME", "qqzzj", "vm_insert_page")},
		{"four/common", exact("return", "func ", "struct", "break")},
		{"sixteen", exact("alpha", "bravo", "charlie", "delta", "foxtrot", "golf", "hotel", "india",
			"juliett", "kilo", "lima", "november", "oscar", "papa", "quebec", "romeo")},
	} {
		b.Run(bench.name, func(b *testing.B) {
			f := newFinder(bench.literals)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				for rest := text; ; {
					at := f.index(rest)
					if at < 0 {
						break
					}
					rest = rest[LineAt(rest, at, at).Next:]
				}
			}
		})
	}
}

// BenchmarkPortable searches for literals that do not occur, without the
// instructions of any one processor.
func BenchmarkPortable(b *testing.B) {
	text := source(b, 256<<10)
	for name, literals := range map[string][]literal{"rare": exact("qqzzj_nowhere"), "rare/folded": folded("qqzzj_nowhere")} {
		b.Run(name, func(b *testing.B) {
			p := newFinder(literals).needles[0].core
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if p.indexPortable(text, 0) >= 0 {
					b.Fatal("found")
				}
			}
		})
	}
}
