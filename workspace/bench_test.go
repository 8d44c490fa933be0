package workspace_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"toolcrib/workspace"
)

// BenchmarkOpen opens and closes a file at several depths; os.Open is what it
// costs without containment.
func BenchmarkOpen(b *testing.B) {
	tr := newTree(b)
	kernel := tr.open(b, workspace.Options{}, "ws")
	portable := tr.open(b, workspace.Options{Portable: true}, "ws")
	for _, depth := range []int{1, 4, 10} {
		name := strings.Repeat("p/", depth-1) + "file"
		tr.write(b, "ws/"+name, "x")
		host := tr.path("ws/" + name)
		suffix := "/depth=" + strconv.Itoa(depth)
		b.Run("os.Open"+suffix, func(b *testing.B) {
			for b.Loop() {
				f, err := os.Open(host)
				if err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
		})
		for _, w := range []*workspace.Workspace{kernel, portable} {
			b.Run(w.Backend()+suffix, func(b *testing.B) {
				for b.Loop() {
					p, err := w.Resolve(name)
					if err != nil {
						b.Fatal(err)
					}
					f, err := p.Open()
					if err != nil {
						b.Fatal(err)
					}
					f.Close()
				}
			})
		}
	}
}
