package fileindex

import (
	"cmp"
	"errors"
	"path"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"toolcrib/workspace/internal/fsys"
)

// With FollowLinks a walk enters a directory once, however many links lead to it. Otherwise
// links could make it endless: sixteen directories with two links
// each to the next are 2^15 paths. Which of the paths it takes must not depend on
// which worker is first. Therefore a walk has passes. The first goes through the
// directories below the start and follows no link. Each further pass takes one of
// the links that were found and goes through the directories below its target,
// without following links again. It leaves out directories of an earlier pass, and reports
// the link to them as a symlink. Within a pass no directory can be met
// twice but by a bind mount, and then both are walked.
//
// The links are taken in rounds: those found in one round, in the order of depth and
// then path, make the next.

// linkQueue holds the linked directories that wait for their pass. It is locked by
// walker.mu.
type linkQueue struct {
	round, later []*walkDir
	pass         int
	seen         map[dirID]int // directories that were entered, and the pass
}

// dirID identifies a directory, by device and inode, or by its path if the system has none.
type dirID struct {
	device, inode uint64
	host          string
}

func (q *linkQueue) add(d *walkDir) { q.later = append(q.later, d) }

// next begins the next pass, if there is a link for one. No directory may be in work.
func (q *linkQueue) next() *walkDir {
	if len(q.round) == 0 {
		q.round, q.later = q.later, nil
		slices.SortFunc(q.round, func(a, b *walkDir) int {
			return cmp.Or(cmp.Compare(a.depth, b.depth), strings.Compare(a.rel, b.rel))
		})
	}
	if len(q.round) == 0 {
		return nil
	}
	d := q.round[0]
	q.round = q.round[1:]
	q.pass++
	return d
}

// errVisited says that an earlier pass has gone through a directory.
var errVisited = errors.New("already walked")

// visit returns errVisited if the directory d, open as h, must be left out, and decides how
// a link is reported.
func (w *walker) visit(d *walkDir, h fsys.Dir) error {
	id, err := w.identify(d, h)
	if err != nil {
		return err
	}
	w.mu.Lock()
	pass, seen := w.links.seen[id]
	if !seen {
		w.links.seen[id] = w.links.pass
	}
	first := !seen || pass == w.links.pass
	w.mu.Unlock()
	if d.link {
		kind := fsys.KindDirectory
		if !first {
			kind = fsys.KindSymlink
		}
		if !first || w.opt.Directories {
			at := w.start.Child(d.rel)
			d.self = []Entry{{Path: at, Rel: strings.TrimSuffix(d.rel, "/"), Kind: kind}}
		}
	}
	if !first {
		return errVisited
	}
	return nil
}

// identify finds out which directory d is.
func (w *walker) identify(d *walkDir, h fsys.Dir) (dirID, error) {
	info, err := h.Stat(".")
	if err != nil {
		return dirID{}, err
	}
	if info.Inode != 0 && !w.opt.byPath {
		return dirID{device: info.Device, inode: info.Inode}, nil
	}
	if d.parent != nil && !d.link && d.parent.host != "" {
		d.host = path.Join(d.parent.host, d.name)
	} else {
		at := w.start.Child(d.rel)
		host, err := at.Anchor().Target()
		if err != nil {
			return dirID{}, err
		}
		d.host = host
	}
	if runtime.GOOS == "windows" {
		d.host = strings.ToLower(d.host) // a link may write it in any case
	}
	return dirID{host: d.host}, nil
}

// targetKind returns the kind of a symlink's target, or KindSymlink if it leads out of the
// roots, to nothing, or to a FIFO or device. A link that cannot be followed for any other
// reason is noted as unreadable.
func (w *walker) targetKind(d *walkDir, name string) fsys.Kind {
	at := w.start.Child(d.rel + name)
	info, err := at.Stat()
	switch {
	case errors.Is(err, syscall.EAGAIN):
		d.unreadable = append(d.unreadable, at.String())
	case err == nil && info.Kind != fsys.KindOther:
		return info.Kind
	}
	return fsys.KindSymlink
}
