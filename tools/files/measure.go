package files

import (
	"context"
	"fmt"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// holding is what a directory holds at all levels, hidden and ignored entries
// included.
type holding struct {
	files, directories int // files are all that is no directory
	bytes              int64
	large              []string // files too large for the history
	unreadable         int      // directories whose content is not known
}

// measure counts what a directory holds; what is no directory, or does not exist,
// holds nothing.
func measure(ctx context.Context, p workspace.Path) (holding, error) {
	info, err := p.Lstat()
	if e := tools.AsError(err); e != nil && e.Code == tools.NotFound {
		return holding{}, nil
	}
	if err != nil || info.Kind != workspace.KindDirectory {
		return holding{}, err
	}
	entries, stats, err := p.Walk(ctx, workspace.WalkOptions{Hidden: true, IncludeIgnored: true, Directories: true})
	if err != nil {
		return holding{}, err
	}
	h := holding{unreadable: len(stats.Unreadable)}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return holding{}, err
		}
		if e.Kind == workspace.KindDirectory {
			h.directories++
			continue
		}
		h.files++
		if e.Kind != workspace.KindFile {
			continue
		}
		info, err := e.Path.Lstat()
		if err != nil {
			continue // gone meanwhile
		}
		h.bytes += info.Size
		if info.Size > workspace.MaxKept {
			h.large = append(h.large, e.Path.String())
		}
	}
	return h, nil
}

func (h holding) empty() bool { return h.files+h.directories+h.unreadable == 0 }

func (h holding) String() string {
	text := fmt.Sprintf("%s (%s)", textfile.Count(h.files, "file"), textfile.Size(h.bytes))
	if h.unreadable > 0 {
		text += fmt.Sprintf(" and %s that cannot be read", textfile.Count(h.unreadable, "directory"))
	}
	return text
}

// kept says whether the history keeps it all.
func (h holding) kept(ctx context.Context) string {
	if why := historyless(ctx); why != "" {
		return why
	}
	switch {
	case len(h.large) > 0:
		return fmt.Sprintf("the history does not keep %s above %s, which cannot come back, such as %s",
			textfile.Count(len(h.large), "file"), textfile.Size(workspace.MaxKept), textfile.Path(h.large[0]))
	case h.files+h.directories > workspace.MaxKeptFiles || h.bytes > workspace.MaxKeptBytes:
		return fmt.Sprintf("the history keeps only the first %d entries or %s of it; the rest cannot come back",
			workspace.MaxKeptFiles, textfile.Size(workspace.MaxKeptBytes))
	}
	return "the history keeps all of it, so it can be undone"
}
