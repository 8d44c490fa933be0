package search

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"toolcrib/tools"
	"toolcrib/tools/internal/paging"
	"toolcrib/workspace"
)

// mostAsked is how many paths are asked once more why they cannot be read.
const mostAsked = 10_000

// unread is a path that could not be read, and why: "" = not known.
type unread = paging.Unread

// unreadable puts together what a search could not read with what its walk could not, each
// once and in order. A walk does not say why, unless that has passed by now, so it is asked
// of the paths themselves.
func unreadable(ctx context.Context, found []unread, stats workspace.WalkStats) []unread {
	all := slices.Clone(found)
	known := make(map[string]bool, len(found))
	for _, u := range found {
		known[u.Path] = true
	}
	for i, path := range stats.Unreadable {
		u := unread{Path: path}
		if i < mostAsked && !known[path] {
			if u.Why = whyClosed(ctx, path); u.Why == "" && stats.Starved {
				u.Why = tooMany
			}
		}
		all = append(all, u)
	}
	slices.SortStableFunc(all, func(a, b unread) int { return cmp.Compare(a.Path, b.Path) })
	return slices.CompactFunc(all, func(a, b unread) bool { return a.Path == b.Path })
}

// whyClosed says why a file or directory cannot be opened.
func whyClosed(ctx context.Context, path string) string {
	p, err := tools.Resolve(ctx, path)
	if err != nil {
		return ""
	}
	info, err := p.Stat()
	if err == nil && info.Kind == workspace.KindDirectory {
		_, err = p.ReadDir()
	} else if err == nil {
		var f workspace.File
		if f, err = p.Open(); err == nil {
			err = f.Close()
		}
	}
	return why(err)
}

// why words an error of the system in a few words, "" if that has no name for it.
func why(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "permission denied"
	}
	if tooManyOpen(err) {
		return tooMany
	}
	e, ok := errors.AsType[syscall.Errno](err)
	if !ok || errors.Is(e, fs.ErrNotExist) {
		return ""
	}
	return e.Error()
}

const tooMany = "too many open files"

func tooManyOpen(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// starved is the error of a search that had no handles left for any of its files, nil
// where it had some.
func starved(looked int, paths []unread) error {
	if looked > 0 || !slices.ContainsFunc(paths, func(u unread) bool { return u.Why == tooMany }) {
		return nil
	}
	return tools.Errorf(tools.Unavailable, "%s: nothing could be read", tooMany).
		WithHint("try again when other calls have ended, or ask the user to raise the server's limit (ulimit -n)")
}
