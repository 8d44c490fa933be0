package losses

import (
	"context"
	"fmt"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// Holding counts the content of a directory at all levels, including hidden and ignored
// entries.
type Holding struct {
	Files, directories int // Files counts everything but directories
	bytes              int64
	Large              []string // files too large for the history
	unreadable         int      // directories whose content is not known
}

// Measure counts the content of a directory. For any other path, or a missing one, it returns
// an empty Holding.
func Measure(ctx context.Context, p workspace.Path) (Holding, error) {
	return measure(ctx, p, nil, nil)
}

// measure is Measure without the content of the directories for which leave returns true, and with
// only the entries for which only does; nil = all. Several goroutines may call leave.
func measure(ctx context.Context, p workspace.Path, leave func(p workspace.Path, dir bool) bool, only func(fileindex.Entry) bool) (Holding, error) {
	info, err := p.Lstat()
	if e := tools.AsError(err); e != nil && e.Code == tools.NotFound {
		return Holding{}, nil
	}
	if err != nil || info.Kind != workspace.KindDirectory {
		return Holding{}, err
	}
	opt := fileindex.WalkOptions{Hidden: true, IncludeIgnored: true, Directories: true}
	if leave != nil {
		opt.SkipDir = func(rel string) bool {
			dir, err := p.Join(rel)
			return err == nil && leave(dir, true)
		}
	}
	entries, stats, err := fileindex.Walk(ctx, p, opt)
	if err != nil {
		return Holding{}, err
	}
	h := Holding{unreadable: len(stats.Unreadable)}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return Holding{}, err
		}
		if only != nil && !only(e) {
			continue
		}
		if e.Kind == workspace.KindDirectory {
			h.directories++
			continue
		}
		h.Files++
		if e.Kind != workspace.KindFile {
			continue
		}
		info, err := e.Path.Lstat()
		if err != nil {
			continue // gone meanwhile
		}
		h.bytes += info.Size
		if info.Size > workspace.MaxKept {
			h.Large = append(h.Large, e.Path.String())
		}
	}
	return h, nil
}

// add adds what another directory holds.
func (h *Holding) add(other Holding) {
	h.Files += other.Files
	h.directories += other.directories
	h.bytes += other.bytes
}

// Empty reports whether a directory holds nothing.
func (h Holding) Empty() bool { return h.Files+h.directories+h.unreadable == 0 }

func (h Holding) String() string {
	text := fmt.Sprintf("%s (%s)", textfile.Count(h.Files, "file"), textfile.Size(h.bytes))
	if h.unreadable > 0 {
		text += fmt.Sprintf(" and %s that cannot be read", textfile.Count(h.unreadable, "directory"))
	}
	return text
}

// Lost returns a text that says what the history does not keep of it, "" if it keeps all of it.
func (h Holding) Lost(ctx context.Context) string {
	if why := historyless(ctx); why != "" {
		return why
	}
	switch {
	case len(h.Large) > 0:
		return fmt.Sprintf("the history does not keep %s above %s, which cannot come back, such as %s",
			textfile.Count(len(h.Large), "file"), textfile.Size(workspace.MaxKept), textfile.Path(h.Large[0]))
	case h.Files+h.directories > workspace.MaxKeptFiles || h.bytes > workspace.MaxKeptBytes:
		return fmt.Sprintf("the history keeps only the first %d entries or %s of it; the rest cannot come back",
			workspace.MaxKeptFiles, textfile.Size(workspace.MaxKeptBytes))
	}
	return ""
}

// Irreversible returns why a file or symlink could not be restored once it is overwritten or
// deleted; "" if it can be, or if the path is missing or has another kind. there describes the
// file: "logs/all.log (70 MB)". The call itself refuses a path that cannot be read.
func Irreversible(ctx context.Context, path workspace.Path, follow bool) (there, why string) {
	info, exists, err := path.Find(follow)
	if err != nil || !exists {
		return "", ""
	}
	return irreversible(ctx, path, info)
}

// irreversible is Irreversible for a path that is as info says.
func irreversible(ctx context.Context, path workspace.Path, info workspace.Info) (there, why string) {
	if info.Kind != workspace.KindFile && info.Kind != workspace.KindSymlink {
		return "", ""
	}
	there = textfile.Path(path.String())
	if info.Kind == workspace.KindFile {
		there += " (" + textfile.Size(info.Size) + ")"
	}
	if why = historyless(ctx); why == "" && info.Kind == workspace.KindFile && info.Size > workspace.MaxKept {
		why = fmt.Sprintf("the history does not keep files above %s, so it cannot be undone", textfile.Size(workspace.MaxKept))
	}
	return there, why
}

// historyless returns a text that says that there is no history, "" if there is one.
func historyless(ctx context.Context) string {
	if tools.Session(ctx).Workspace.StateBase() == "" {
		return "no history is kept, so it cannot be undone"
	}
	return ""
}
