package scan

import (
	"context"
	"io"
	"iter"

	"toolcrib/workspace"
)

// promising reports whether a line in some parts of a file matches; parts yields begin and end
// of each. If a part cannot be read, the search of the whole file reports that.
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
