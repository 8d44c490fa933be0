package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// errMounted is the refusal to delete what another file system holds.
var errMounted = errors.New("is where a file system is mounted")

// treeSize is what a tree holds.
type treeSize struct {
	files   int    // all that is not a directory
	bytes   int64  // of the regular files
	special string // the first that is no file, directory or link, "" = none
	mounted string // the first directory where a file system is mounted, "" = none; what is below is not counted
}

// countTree counts what is at an entry and below it, without the temporary files
// of changes. What goes meanwhile is not counted.
func countTree(ctx context.Context, d dir, name string) (treeSize, error) {
	return count(ctx, d, name, refuseMounted, nil)
}

// count is countTree, where before decides which directories it goes into, and enter
// may refuse one that is open.
func count(ctx context.Context, d dir, name string, before func(in dir, name string) error, enter func(d dir, name string) error) (treeSize, error) {
	var size treeSize
	err := walkTree(ctx, d, name, treeVisit{
		entry: func(in dir, e DirEntry) error {
			info, err := in.stat(e.Name)
			if err != nil {
				return err
			}
			size.files++
			switch info.Kind {
			case KindFile:
				size.bytes += info.Size
			case KindOther:
				return errSpecial
			}
			return nil
		},
		before: before,
		enter:  enter,
		failed: func(err error) error {
			e, ok := errors.AsType[*treeError](err)
			switch {
			case ok && e.err == errSpecial && size.special == "":
				size.special = e.rel
			case ok && e.err == errMounted && size.mounted == "":
				size.mounted = e.rel
			case errors.Is(err, errSpecial), errors.Is(err, errMounted), errors.Is(err, fs.ErrNotExist):
			default:
				return err
			}
			return nil
		},
	})
	return size, err
}

// versionOfTree identifies what is at an entry and below it, as Info.Version does a
// file. The name of the entry is no part of it.
func versionOfTree(ctx context.Context, d dir, name string) (string, error) {
	var lines, way []string
	err := walkTree(ctx, d, name, treeVisit{
		entry: func(in dir, e DirEntry) error {
			info, err := in.stat(e.Name)
			below := "."
			if len(way) > 0 {
				below = path.Join(path.Join(way...), e.Name)
			}
			lines = append(lines, fmt.Sprintf("%q %s %s %q", below, info.Kind, info.Version(), info.Target))
			return err
		},
		enter: func(_ dir, name string) error {
			if len(way) == 0 {
				name = "."
			}
			way = append(way, name)
			lines = append(lines, fmt.Sprintf("%q %s", path.Join(way...), KindDirectory))
			return nil
		},
		left: func(dir, string) error { way = way[:len(way)-1]; return nil },
	})
	if err != nil {
		return "", err
	}
	slices.Sort(lines)
	return hashOf(strings.NewReader(strings.Join(lines, "\n")))
}

func refuseMounted(in dir, name string) error {
	is, err := in.mounted(name)
	if err == nil && is {
		err = errMounted
	}
	return err
}

// refuseClosed refuses a directory whose entries the caller may not remove; one
// without any goes as it is.
func refuseClosed(d dir, _ string) error {
	err := d.changeable()
	if err == nil {
		return nil
	}
	if list, e := d.entries(1); e == nil && len(list) == 0 {
		return nil
	}
	return err
}

// removeTree removes an entry and all that is below it. It goes on after an error,
// so that as little as possible is left, and returns the first. It does not go
// into other file systems that are mounted below. No permission is changed for it.
func removeTree(ctx context.Context, d dir, name string) error {
	var first error
	err := walkTree(ctx, d, name, treeVisit{
		temps:  true,
		entry:  func(in dir, e DirEntry) error { return in.remove(e.Name) },
		before: refuseMounted,
		// What cannot be listed can be removed where it is empty.
		shut: func(in dir, name string, err error) error {
			if in.remove(name) == nil {
				return nil
			}
			return err
		},
		left: func(in dir, name string) error { return in.remove(name) },
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

// syncTree makes an entry and all that is below it durable, without the temporary
// files of changes.
func syncTree(ctx context.Context, d dir, name string) error {
	info, err := d.stat(name)
	if err != nil {
		return err
	}
	if info.Kind == KindDirectory {
		if done, err := syncAll(d); done || err != nil {
			return err
		}
	}
	return walkTree(ctx, d, name, treeVisit{
		entry: func(in dir, e DirEntry) error {
			if e.Kind != KindFile {
				return nil
			}
			f, _, err := in.openWrite(e.Name) // some systems sync no other
			if err != nil {
				return err
			}
			return errors.Join(f.Sync(), f.Close())
		},
		leave: dir.sync,
	})
}
