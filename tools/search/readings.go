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

// reading is another call that a call was perhaps meant to be.
type reading struct {
	pathglob.Reading
	path string
}

// readings returns how patterns of path that match nothing may be read otherwise.
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

// aside returns a context for looking at how else a call may be read: that takes half of
// the time that is left at most, so that the answer to the call as it is written gets out.
func aside(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(end)/2)
}
