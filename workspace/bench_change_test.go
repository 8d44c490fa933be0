package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"toolcrib/workspace"
)

// BenchmarkApplyMany deletes a tree of files, and brings them back in one change.
func BenchmarkApplyMany(b *testing.B) {
	const files = 2000
	dir, state := b.TempDir(), b.TempDir()
	ws, err := workspace.Open([]string{dir}, workspace.Options{StateBase: filepath.Join(state, "s")})
	check(b, err)
	b.Cleanup(func() { check(b, ws.Close()) })
	at := func(name string) workspace.Path {
		p, err := ws.Resolve(name)
		check(b, err)
		return p
	}
	var ops []workspace.Op
	for i := range files {
		content := fmt.Appendf(nil, "content %d\n", i)
		ops = append(ops, workspace.Op{
			Kind: workspace.OpWrite, Path: at(fmt.Sprintf("d/%d/%d", i%20, i)),
			New: func(workspace.Old) ([]byte, error) { return content, nil },
		})
	}
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			_, err := ws.Apply(b.Context(), workspace.Change{Ops: ops})
			check(b, err)
			b.StopTimer()
			check(b, os.RemoveAll(filepath.Join(dir, "d")))
			b.StartTimer()
		}
	})
	b.Run("delete", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			_, err := ws.Apply(b.Context(), workspace.Change{Ops: ops})
			check(b, err)
			b.StartTimer()
			_, err = ws.Apply(b.Context(), workspace.Change{Ops: []workspace.Op{{Kind: workspace.OpDelete, Path: at("d"), Recursive: true}}})
			check(b, err)
		}
	})
}
