// Package changed finds the files of a workspace that changed while a program ran.
//
// Start at [Begin], which is called before the program starts. The package imports workspace
// and its file index, tools for the audit log, and textfile to print paths. It must not
// import a category.
package changed

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
	"toolcrib/workspace/fileclock"
	"toolcrib/workspace/fileindex"
	"toolcrib/workspace/recorder"
)

// Bounds of a look at the files: it must not cost more than the command.
const (
	mostLooked = 10_000 // files of a workspace
	lookFor    = 150 * time.Millisecond
	headStart  = 5 * time.Millisecond // Begin waits so long; enough for a small workspace
	mostNamed  = 8
	mostOthers = 3   // that others changed
	mostNoted  = 200 // in the audit log, by one call
)

// tree has the files of a workspace at one time, without ignored files.
type tree struct {
	files map[string]stamp // by the path as it is printed
	whole bool             // it has all files
}

// stamp differs for different contents of a file.
type stamp struct {
	size  int64
	at    time.Time
	inode uint64
}

// look lists the files of a workspace within the bounds.
func look(ctx context.Context, ws *workspace.Workspace) tree {
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	t := tree{files: map[string]stamp{}, whole: true}
	for _, name := range ws.Roots() {
		root, err := ws.Resolve(name)
		if err != nil || !t.add(ctx, root) {
			t.whole = false
			break
		}
	}
	return t
}

// add lists the files below a root. It reports whether it has all of them.
func (t *tree) add(ctx context.Context, root workspace.Path) bool {
	stream := fileindex.NewStream(ctx, root, fileindex.WalkOptions{Hidden: true, Workers: 1})
	for run := range stream.Runs() {
		for _, e := range run {
			if len(t.files) == mostLooked || ctx.Err() != nil {
				return false
			}
			if info, err := e.Path.Lstat(); err == nil {
				t.files[e.Path.String()] = stamp{info.Size, info.ModTime, info.Inode}
			}
		}
	}
	stats, err := stream.Result()
	return err == nil && len(stats.Unreadable) == 0
}

// Changes are the changed files of a workspace, sorted.
type Changes struct {
	Created, Changed, Deleted []string
	Whole                     bool // there are no other changes

	moved    [][2]string
	others   []string
	recorded bool
	lost     bool // no deleted file can come back
	notKept  string
}

// since compares t with an earlier tree. If the earlier look was late, it may have seen files
// after their change; then files written after start count as changed. gone reports whether a
// file that is missing from t does not exist; it may also be ignored now.
func (t tree) since(before tree, start time.Time, late bool, gone func(path string) bool) Changes {
	c := Changes{Whole: t.whole && before.whole}
	for path, now := range t.files {
		was, known := before.files[path]
		switch {
		case known && (was != now || late && !now.at.Before(start)), !known && !before.whole && !now.at.Before(start):
			c.Changed = append(c.Changed, path)
		case !known && before.whole:
			c.Created = append(c.Created, path)
		}
	}
	if t.whole {
		for path := range before.files {
			if _, there := t.files[path]; !there && gone(path) {
				c.Deleted = append(c.Deleted, path)
			}
		}
	}
	for _, list := range [][]string{c.Created, c.Changed, c.Deleted} {
		slices.Sort(list)
	}
	return c
}

// All returns all paths.
func (c Changes) All() []string { return slices.Concat(c.Created, c.Changed, c.Deleted) }

// Note puts the paths into the audit log of the call of ctx, up to the limit of a call.
func (c Changes) Note(ctx context.Context) {
	all := c.All()
	for _, path := range all[:min(len(all), mostNoted)] {
		tools.Changed(ctx, path)
	}
}

// String returns the changes as one line: "files: created a.o; changed b.c, d.c"; "" = none.
func (c Changes) String() string {
	var parts []string
	room := mostNamed
	work := slices.ContainsFunc(c.All(), func(p string) bool { return !slices.Contains(strings.Split(p, "/"), repository) })
	for _, kind := range []struct {
		verb  string
		paths []string
	}{{"created", c.Created}, {"changed", c.Changed}, {"deleted", c.Deleted}} {
		if len(kind.paths) == 0 {
			continue
		}
		named, cached := part(kind.paths, work)
		shown := named[:min(len(named), max(room, 1))]
		room -= len(shown)
		var names []string
		for _, path := range shown {
			names = append(names, textfile.Path(path))
		}
		text := kind.verb + " " + strings.Join(append(names, cached...), ", ")
		if more := len(named) - len(shown); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		if kind.verb == "deleted" && c.recorded && !c.lost {
			text += " (undo: restore_file undo=true)"
		}
		parts = append(parts, text)
	}
	if parts != nil && !c.recorded { // an undo would undo an older change of the tools
		parts[len(parts)-1] += " (not in the history of restore_file)"
	}
	if !c.Whole {
		parts = append(parts, "others may have changed: the workspace is too large to look at all")
	}
	for _, m := range c.moved[:min(len(c.moved), mostNamed)] {
		parts = append(parts, "moved "+textfile.Path(m[0])+" -> "+textfile.Path(m[1]))
	}
	if n := len(c.others); n > 0 {
		shown := make([]string, min(n, mostOthers))
		for i := range shown {
			shown[i] = textfile.Path(c.others[i])
		}
		text := "changed meanwhile by others, or unseen: " + strings.Join(shown, ", ")
		if n > len(shown) {
			text += fmt.Sprintf(" and %d more", n-len(shown))
		}
		text += " (not in the undo of this call)"
		parts = append(parts, text)
	}
	if c.notKept != "" {
		parts = append(parts, "cannot be undone: "+c.notKept)
	}
	if parts == nil {
		return ""
	}
	return "files: " + strings.Join(parts, "; ")
}

// caches are directories that interpreters and their tools fill by themselves.
var caches = []string{"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", repository}

const repository = ".git"

// bookkeeping is what git writes in a repository beside what it is told to change.
var bookkeeping = []string{"objects", "logs", "index", "COMMIT_EDITMSG", "ORIG_HEAD", "FETCH_HEAD"}

// part sorts paths into those to name, and a phrase for each kind of cache that has others. The
// files of a repository are named unless work says that others changed too, but for its
// bookkeeping.
func part(paths []string, work bool) (named, cached []string) {
	counts := make([]int, len(caches))
	for _, path := range paths {
		parts := strings.Split(path, "/")
		i := slices.IndexFunc(caches, func(cache string) bool { return slices.Contains(parts[:len(parts)-1], cache) })
		if i >= 0 && caches[i] == repository && !work {
			if !slices.Contains(bookkeeping, parts[slices.Index(parts, repository)+1]) {
				i = -1
			}
		}
		if i < 0 {
			named = append(named, path)
		} else {
			counts[i]++
		}
	}
	for i, n := range counts {
		if n > 0 {
			cached = append(cached, fmt.Sprintf("%d in %s", n, caches[i]))
		}
	}
	return named, cached
}

// Any reports whether anything was changed.
func (c Changes) Any() bool {
	return len(c.All()) > 0 || len(c.moved) > 0 || len(c.others) > 0 || c.notKept != ""
}

// Watch finds files that change after Begin.
type Watch struct {
	recorded bool
	ws       *workspace.Workspace
	start    time.Time
	late     bool // Begin returned before the first look had ended
	before   chan tree
}

// Begin is called before a program starts. It looks at the files, unless the program is
// recorded. If that takes long, it goes on in the background after Begin has
// returned; a file that is created meanwhile may then count as changed.
func Begin(ctx context.Context, ws *workspace.Workspace, recorded bool) *Watch {
	if recorded {
		return &Watch{recorded: true}
	}
	w := &Watch{ws: ws, start: fileclock.Now(), before: make(chan tree, 1)}
	looked := make(chan struct{})
	go func() {
		w.before <- look(ctx, ws)
		close(looked)
	}()
	head := time.NewTimer(headStart)
	defer head.Stop()
	select {
	case <-looked:
	case <-head.C:
		w.late = true
	}
	return w
}

// Program is a program that may be recorded.
type Program interface {
	Changes() (changes recorder.Changes, known bool)
}

// Changes returns what the program changed. Unless it was recorded, that is the difference to
// another look at the files.
func (w *Watch) Changes(ctx context.Context, p Program) Changes {
	if c, known := p.Changes(); known {
		return Changes{Created: c.Created, Changed: c.Changed, Deleted: c.Deleted, Whole: true, moved: c.Moved, others: c.Others, recorded: true, lost: c.Lost, notKept: c.NotKept}
	}
	if w.recorded { // the program has lost its record
		return Changes{}
	}
	return look(ctx, w.ws).since(<-w.before, w.start, w.late, func(path string) bool {
		p, err := w.ws.Resolve(path)
		if err == nil {
			_, err = p.Lstat()
		}
		return err != nil
	})
}
