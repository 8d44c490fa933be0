package scan

import (
	"context"
	"io"
	"iter"

	"toolcrib/workspace"
)

// promising reports whether a line of some parts of a file matches, each from where it
// begins to where it ends. A part that cannot be read is left to the search of the whole.
func (s *scanner) promising(ctx context.Context, f workspace.File, parts iter.Seq2[int64, int64]) bool {
	for begin, end := range parts {
		s.win.reset(io.NewSectionReader(f, begin, end-begin))
		if s.win.fillAll() != nil {
			return true
		}
		for range s.m.Lines(ctx, s.win.text()) {
			return true
		}
	}
	return false
}
