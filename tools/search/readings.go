package search

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/pathglob"
	"toolcrib/tools/internal/text/textfile"
)

// reading is another form of a call that the caller may have meant.
type reading struct {
	pathglob.Reading
	path string
}

// readings returns other readings of patterns below path that match nothing.
func readings(ctx context.Context, patterns []string, path string) (all []reading) {
	for _, r := range pathglob.Readings(patterns) {
		all = append(all, reading{r, path})
	}
	for _, r := range append([]reading{{pathglob.Reading{Patterns: patterns}, path}}, all...) {
		if len(r.Patterns) != 1 || !strings.HasPrefix(r.Patterns[0], "/") {
			continue
		}
		for _, root := range tools.Session(ctx).Workspace.Roots() {
			root = filepath.ToSlash(root)
			if rest, ok := strings.CutPrefix(r.Patterns[0], root+"/"); ok && rest != "" {
				why := "patterns are relative to path, which is " + textfile.Path(root)
				all = append(all, reading{pathglob.Reading{Patterns: []string{rest}, Why: why}, root})
			}
		}
	}
	return all
}

// aside returns a context for trying other readings of a call. They get at most half of the
// remaining time, so that the call as written can still be answered.
func aside(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(end)/2)
}
