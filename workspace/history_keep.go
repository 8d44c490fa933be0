package workspace

import (
	"context"
	"errors"
	"fmt"
	"path"
)

// Bounds of what is kept of one tree that is deleted or overwritten.
const (
	MaxKeptFiles = 20_000
	MaxKeptBytes = 512 << 20
)

// keeper takes entries into a history.
type keeper struct {
	ctx   context.Context
	h     *history // nil = only describes
	list  []Changed
	bytes int64
	left  string // why something is not kept, "" = all is
}

// keepError says that the history could not take a content.
type keepError struct{ err error }

func (e *keepError) Error() string { return e.err.Error() }
func (e *keepError) Unwrap() error { return e.err }

// tree keeps the entry name of in and what is below it, as what stood at rel in the
// history.
func (k *keeper) tree(in dir, name, rel string) error {
	var way []string // the directories down to here, by their paths in the history
	at := func(name string) string {
		if len(way) == 0 {
			return rel
		}
		return path.Join(way[len(way)-1], name)
	}
	return walkTree(k.ctx, in, name, treeVisit{
		entry: func(in dir, e DirEntry) error { return k.entry(in, e.Name, at(e.Name)) },
		enter: func(d dir, name string) error {
			way = append(way, at(name))
			info, err := d.stat(".")
			if err == nil {
				k.add(way[len(way)-1], versionOf(info))
			}
			return err
		},
		left: func(dir, string) error {
			way = way[:len(way)-1]
			return nil
		},
	})
}

func (k *keeper) add(rel string, v *Version) {
	k.list = append(k.list, Changed{Kind: OpDelete, Path: rel, Before: v})
}

// entry keeps what is not a directory.
func (k *keeper) entry(in dir, name, rel string) error {
	info, err := in.stat(name)
	if err != nil {
		return err
	}
	v := versionOf(info)
	k.add(rel, v)
	if info.Kind == KindOther && k.h != nil {
		k.left = show(rel) + " is a FIFO, socket or device"
	}
	if info.Kind != KindFile {
		return nil
	}
	k.bytes += info.Size
	tooLarge := fmt.Sprintf("%s is larger than %d MiB", show(rel), MaxKept>>20)
	switch {
	case k.h == nil:
		return nil
	case info.Size > MaxKept:
		k.left = tooLarge
		return nil
	case len(k.list) > MaxKeptFiles, k.bytes > MaxKeptBytes:
		k.left = fmt.Sprintf("of one change at most %d files and %d MiB are kept", MaxKeptFiles, MaxKeptBytes>>20)
		return nil
	}
	f, err := openRaw(in, name)
	if err != nil {
		return err
	}
	defer f.Close()
	hash, size, err := k.h.keep(k.ctx, f, MaxKept)
	if errors.Is(err, errTooLarge) {
		k.left = tooLarge
		return nil
	}
	if err != nil {
		return &keepError{err}
	}
	v.Hash, v.Size, v.Kept = hash, size, true
	return nil
}

// salvage keeps the entry name of in as the former content of rel, in a change of its own
// that is rec but for its files, and returns the ID of that.
func (h *history) salvage(ctx context.Context, in dir, name, rel string, rec Record) (id string, err error) {
	k := keeper{ctx: ctx, h: h}
	if err := k.tree(in, name, rel); err != nil {
		return "", err
	}
	rec.ID, rec.Files = newID(), k.list
	return rec.ID, h.append(ctx, rec)
}
