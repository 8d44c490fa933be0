package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"toolcrib/workspace/internal/fsys"
)

// ErrMounted is the refusal to delete a tree in which a file system is mounted.
var ErrMounted = errors.New("is where a file system is mounted")

// Size is the size of a tree.
type Size struct {
	Files   int    // entries that are not directories
	Bytes   int64  // of the regular files
	Special string // the first that is no file, directory or link, "" = none
	Mounted string // the first directory where a file system is mounted, "" = none; entries below are not counted
}

// Count counts an entry with all below it, without the temporary files of changes. Entries
// that are deleted meanwhile are not counted.
func Count(ctx context.Context, d fsys.Dir, name string) (Size, error) {
	return countIn(ctx, d, name, refuseMounted, nil)
}

// Removable is Count for an entry that is to be removed. It is an error if a file system is
// mounted in it (ErrMounted), or if the caller may not change a directory.
func Removable(ctx context.Context, d fsys.Dir, name string) (Size, error) {
	size, err := countIn(ctx, d, name, refuseMounted, refuseUnchangeable)
	if err == nil && size.Mounted != "" {
		err = &Error{Rel: size.Mounted, Err: ErrMounted}
	}
	return size, err
}

// countIn is Count, where before decides which directories it enters, and enter may refuse
// one that is open.
func countIn(ctx context.Context, d fsys.Dir, name string, before func(in fsys.Dir, name string) error, enter func(d fsys.Dir, name string) error) (Size, error) {
	var size Size
	err := Walk(ctx, d, name, Visit{
		Entry: func(in fsys.Dir, e fsys.DirEntry) error {
			info, err := in.Stat(e.Name)
			if err != nil {
				return err
			}
			size.Files++
			switch info.Kind {
			case fsys.KindFile:
				size.Bytes += info.Size
			case fsys.KindOther:
				return fsys.ErrSpecial
			}
			return nil
		},
		before: before,
		Enter:  enter,
		failed: func(err error) error {
			e, ok := errors.AsType[*Error](err)
			switch {
			case ok && e.Err == fsys.ErrSpecial && size.Special == "":
				size.Special = e.Rel
			case ok && e.Err == ErrMounted && size.Mounted == "":
				size.Mounted = e.Rel
			case errors.Is(err, fsys.ErrSpecial), errors.Is(err, ErrMounted), errors.Is(err, fs.ErrNotExist):
			default:
				return err
			}
			return nil
		},
	})
	return size, err
}

// Version identifies the state of an entry and all below it, as Info.Version does a file.
// The name of the entry is no part of it.
func Version(ctx context.Context, d fsys.Dir, name string) (string, error) {
	var lines, way []string
	err := Walk(ctx, d, name, Visit{
		Entry: func(in fsys.Dir, e fsys.DirEntry) error {
			info, err := in.Stat(e.Name)
			below := "."
			if len(way) > 0 {
				below = path.Join(path.Join(way...), e.Name)
			}
			lines = append(lines, fmt.Sprintf("%q %s %s %q", below, info.Kind, info.Version(), info.Target))
			return err
		},
		Enter: func(_ fsys.Dir, name string) error {
			if len(way) == 0 {
				name = "."
			}
			way = append(way, name)
			lines = append(lines, fmt.Sprintf("%q %s", path.Join(way...), fsys.KindDirectory))
			return nil
		},
		Left: func(fsys.Dir, string) error { way = way[:len(way)-1]; return nil },
	})
	if err != nil {
		return "", err
	}
	slices.Sort(lines)
	return fsys.Hash(strings.NewReader(strings.Join(lines, "\n")))
}

// refuseMounted refuses an entry where a file system is mounted; it is for Visit.before.
func refuseMounted(in fsys.Dir, name string) error {
	is, err := in.Mounted(name)
	if err == nil && is {
		err = ErrMounted
	}
	return err
}

// refuseUnchangeable refuses a directory whose entries the caller may not remove, unless it
// is empty.
func refuseUnchangeable(d fsys.Dir, _ string) error {
	err := d.Changeable()
	if err == nil {
		return nil
	}
	if list, e := d.Entries(1); e == nil && len(list) == 0 {
		return nil
	}
	return err
}

// IsEmpty reports whether a directory has no entries.
func IsEmpty(in fsys.Dir, name string) (bool, error) {
	d, err := in.Open(name)
	if err != nil {
		return false, err
	}
	defer d.Close()
	list, err := d.Entries(1)
	return len(list) == 0, err
}

// EachPath calls f with the path of each entry below the entry name of d, slash-separated and
// relative to it, and first with "." for the entry itself. The first error of f ends it.
func EachPath(ctx context.Context, d fsys.Dir, name string, f func(rel string) error) error {
	var way []string // the directories down to here
	rel := func(name string) string {
		if len(way) == 0 {
			return "."
		}
		return path.Join(way[len(way)-1], name)
	}
	return Walk(ctx, d, name, Visit{
		Entry: func(_ fsys.Dir, e fsys.DirEntry) error { return f(rel(e.Name)) },
		Enter: func(_ fsys.Dir, name string) error {
			way = append(way, rel(name))
			return f(way[len(way)-1])
		},
		Left: func(fsys.Dir, string) error {
			way = way[:len(way)-1]
			return nil
		},
	})
}

// Remove removes an entry and all below it. It goes on after an error, so that as little as
// possible is left, and returns the first. It does not enter file systems that are mounted
// below. It changes no permissions.
func Remove(ctx context.Context, d fsys.Dir, name string) error {
	var first error
	err := Walk(ctx, d, name, Visit{
		temps:  true,
		Entry:  func(in fsys.Dir, e fsys.DirEntry) error { return in.Remove(e.Name) },
		before: refuseMounted,
		// A directory that cannot be listed can be removed if it is empty.
		unreadable: func(in fsys.Dir, name string, err error) error {
			if in.Remove(name) == nil {
				return nil
			}
			return err
		},
		Left: func(in fsys.Dir, name string) error { return in.Remove(name) },
		failed: func(err error) error {
			if first == nil && !errors.Is(err, fs.ErrNotExist) {
				first = err
			}
			return nil
		},
	})
	if first != nil {
		return first
	}
	return err
}

// Sync makes an entry and all below it survive a loss of power, without the temporary files
// of changes.
func Sync(ctx context.Context, d fsys.Dir, name string) error {
	info, err := d.Stat(name)
	if err != nil {
		return err
	}
	if info.Kind == fsys.KindDirectory {
		if done, err := fsys.SyncAll(d); done || err != nil {
			return err
		}
	}
	return Walk(ctx, d, name, Visit{
		Entry: func(in fsys.Dir, e fsys.DirEntry) error {
			if e.Kind != fsys.KindFile {
				return nil
			}
			f, _, err := in.OpenWrite(e.Name) // some systems sync no other
			if err != nil {
				return err
			}
			return errors.Join(f.Sync(), f.Close())
		},
		leave: fsys.Dir.Sync,
	})
}
