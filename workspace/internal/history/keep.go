package history

import (
	"context"
	"errors"
	"fmt"
	"path"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/tree"
)

// Limits for one tree that is deleted or overwritten.
const (
	MaxKeptFiles = 20_000
	MaxKeptBytes = 512 << 20
)

// Megabytes returns a limit as results show it, rounded as the tools round sizes.
func Megabytes(n int64) string { return fmt.Sprintf("%d MB", (n+500_000)/1_000_000) }

// Archiver keeps entries in a history.
type Archiver struct {
	ctx   context.Context
	h     *History // nil = only describes
	List  []Changed
	bytes int64
	Left  string // why an entry is not kept, "" = all are
}

// NewArchiver returns an Archiver for a history; with nil it only describes.
func NewArchiver(ctx context.Context, h *History) *Archiver { return &Archiver{ctx: ctx, h: h} }

// KeepError says that the history could not keep a content.
type KeepError struct{ Err error }

func (e *KeepError) Error() string { return e.Err.Error() }
func (e *KeepError) Unwrap() error { return e.Err }

// Tree keeps the entry name of in and all below it, as the former entry at rel in the
// history.
func (k *Archiver) Tree(in fsys.Dir, name, rel string) error {
	var way []string // the directories down to here, by their paths in the history
	at := func(name string) string {
		if len(way) == 0 {
			return rel
		}
		return path.Join(way[len(way)-1], name)
	}
	return tree.Walk(k.ctx, in, name, tree.Visit{
		Entry: func(in fsys.Dir, e fsys.DirEntry) error { return k.entry(in, e.Name, at(e.Name)) },
		Enter: func(d fsys.Dir, name string) error {
			way = append(way, at(name))
			info, err := d.Stat(".")
			if err == nil {
				k.add(way[len(way)-1], VersionOf(info))
			}
			return err
		},
		Left: func(fsys.Dir, string) error {
			way = way[:len(way)-1]
			return nil
		},
	})
}

func (k *Archiver) add(rel string, v *Version) {
	k.List = append(k.List, Changed{Kind: OpDelete, Path: rel, Before: v})
}

// entry keeps an entry that is not a directory.
func (k *Archiver) entry(in fsys.Dir, name, rel string) error {
	info, err := in.Stat(name)
	if err != nil {
		return err
	}
	v := VersionOf(info)
	k.add(rel, v)
	if info.Kind == fsys.KindOther && k.h != nil {
		k.Left = fsys.Show(rel) + " is a FIFO, socket or device"
	}
	if info.Kind != fsys.KindFile {
		return nil
	}
	k.bytes += info.Size
	tooLarge := fsys.Show(rel) + " is larger than " + Megabytes(MaxKept)
	switch {
	case k.h == nil:
		return nil
	case info.Size > MaxKept:
		k.Left = tooLarge
		return nil
	case len(k.List) > MaxKeptFiles, k.bytes > MaxKeptBytes:
		k.Left = fmt.Sprintf("of one change at most %d files and %s are kept", MaxKeptFiles, Megabytes(MaxKeptBytes))
		return nil
	}
	f, err := fsys.OpenFile(in, name)
	if err != nil {
		return err
	}
	defer f.Close()
	hash, size, err := k.h.Keep(k.ctx, f, MaxKept)
	if errors.Is(err, ErrTooLarge) {
		k.Left = tooLarge
		return nil
	}
	if err != nil {
		return &KeepError{err}
	}
	v.Hash, v.Size, v.Kept = hash, size, true
	return nil
}

// Salvage keeps the entry name of in as the former content of rel, in a change of its own.
// rec has the values of that change but for ID and Files. It returns the ID.
func (h *History) Salvage(ctx context.Context, in fsys.Dir, name, rel string, rec Record) (id string, err error) {
	k := NewArchiver(ctx, h)
	if err := k.Tree(in, name, rel); err != nil {
		return "", err
	}
	rec.ID, rec.Files = NewID(), k.List
	return rec.ID, h.Append(ctx, rec)
}
