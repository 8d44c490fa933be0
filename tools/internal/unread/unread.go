// Package unread finds out why paths could not be read.
package unread

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
	"toolcrib/workspace/fileindex"
)

// mostAsked is how many paths are opened again to learn why they cannot be read.
const mostAsked = 10_000

// Paths joins the files that could not be read with the paths that a walk could not read,
// each once and in order. A walk does not give reasons: the paths are opened again, which
// shows the reason if it still exists.
func Paths(ctx context.Context, found []paging.Unread, stats fileindex.WalkStats) []paging.Unread {
	all := slices.Clone(found)
	known := make(map[string]bool, len(found))
	for _, u := range found {
		known[u.Path] = true
	}
	for i, path := range stats.Unreadable {
		u := paging.Unread{Path: path}
		if i < mostAsked && !known[path] {
			if u.Why = whyDenied(ctx, path); u.Why == "" && stats.Starved {
				u.Why = TooMany
			}
		}
		all = append(all, u)
	}
	slices.SortStableFunc(all, func(a, b paging.Unread) int { return cmp.Compare(a.Path, b.Path) })
	return slices.CompactFunc(all, func(a, b paging.Unread) bool { return a.Path == b.Path })
}

// whyDenied returns why a file or directory cannot be opened.
func whyDenied(ctx context.Context, path string) string {
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
	return Why(err)
}

// Why describes an error of the system in a few words, "" = no error.
func Why(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "permission denied"
	}
	if tooManyOpen(err) {
		return TooMany
	}
	e, ok := errors.AsType[syscall.Errno](err)
	if !ok || errors.Is(e, fs.ErrNotExist) {
		return ""
	}
	return e.Error()
}

// TooMany is the reason of a process that had no file handle left.
const TooMany = "too many open files"

func tooManyOpen(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// Starved returns the error of a search that had no handles for any of its files, nil if it
// had some.
func Starved(looked int, paths []paging.Unread) error {
	if looked > 0 || !slices.ContainsFunc(paths, func(u paging.Unread) bool { return u.Why == TooMany }) {
		return nil
	}
	return tools.Errorf(tools.Unavailable, "%s: nothing could be read", TooMany).
		WithHint("try again when other calls have ended, or ask the user to raise the server's limit (ulimit -n)")
}
