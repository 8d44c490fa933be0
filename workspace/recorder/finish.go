package recorder

import (
	"context"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"toolcrib/workspace"
	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/history"
)

// finish writes the change into the histories, in the background.
func (c *change) finish() {
	for h, s := range c.stores {
		if s == nil {
			continue
		}
		s.root.Anchor().Store().Record(func() {
			ctx := context.Background()
			if named, err := c.append(ctx, h, s); err == nil {
				_ = s.close(!named)
			} else {
				_ = s.abandon() // the next server tries again
			}
		})
	}
}

// append writes the records of one history. named reports whether one of them names a content.
func (c *change) append(ctx context.Context, h *history.History, s *store) (named bool, err error) {
	for _, p := range c.parts {
		rec := history.Record{
			ID: p.id, Time: p.time.UTC().Truncate(time.Microsecond),
			Tool: c.label.Tool, Principal: c.label.Principal, Client: c.label.Client, Call: c.label.Call, Group: c.label.Group, Program: true,
		}
		if m := p.moved; m != nil {
			if of, err := historyOf(m.from); err != nil || of != h {
				continue
			}
			rec.Files = []history.Changed{{
				Kind: history.OpMove, Path: nameIn(h, m.to), From: nameIn(h, m.from),
				Before: m.replaced, After: &history.Version{Kind: workspace.KindDirectory, Mode: m.mode},
			}}
		} else {
			c.hashAfter(p.closed)
			if rec.Files, err = c.filesOf(h, s, p.closed); err != nil {
				return false, err
			}
			for range history.Versions(rec) {
				named = true
			}
		}
		if len(rec.Files) == 0 {
			continue
		}
		if err := h.Append(ctx, rec); err != nil {
			return false, err
		}
	}
	return named, nil
}

// filesOf returns what a record says of the entries of a part.
func (c *change) filesOf(h *history.History, s *store, list []state) ([]history.Changed, error) {
	var files []history.Changed
	for _, e := range list {
		if of, err := historyOf(e.path); err != nil || of != h {
			continue
		}
		if e.before != nil && e.before.At != "" && e.in == s {
			if err := s.settle(e); err != nil {
				return nil, err
			}
		}
		if same(e.before, e.after) {
			continue // rewritten as it was
		}
		if _, below := slices.BinarySearchFunc(list, e.host+"/", func(s state, dir string) int {
			if strings.HasPrefix(s.host, dir) {
				return 0
			}
			return strings.Compare(s.host, dir)
		}); below {
			e.came = false // it was copied
		}
		files = append(files, history.Changed{Kind: kindOf(e), Path: nameIn(h, e.path), Before: e.before, After: e.after})
	}
	return files, nil
}

// settle makes sure that nothing changes a file any more that was taken by a link. It hashes the
// file if it may be as it was.
func (s *store) settle(e state) error {
	if e.file == "" {
		return nil
	}
	sole, err := s.pending.Readable(e.file)
	if err == nil && !sole {
		err = s.copyTaken(e.file)
	}
	if err != nil || e.after == nil || e.after.Size != e.before.Size || e.after.Mode != e.before.Mode || e.after.Size > maxHashed {
		return err
	}
	f, err := s.pending.Folder().Open(e.file)
	if err != nil {
		return err
	}
	defer f.Close()
	e.before.Hash, err = fsys.Hash(f)
	return err
}

func kindOf(e state) history.OpKind {
	switch {
	case e.after == nil:
		return history.OpDelete
	case e.came && e.after.Kind == workspace.KindDirectory:
		return history.OpCopy // a tree that came as a whole
	case e.before == nil && e.after.Kind == workspace.KindDirectory:
		return history.OpDirectory
	case e.after.Kind == workspace.KindSymlink:
		return history.OpSymlink
	}
	return history.OpWrite
}

// maxHashed is the size of the largest file, in bytes, whose content identifies it after a
// change; for a larger one size, time and inode do.
const maxHashed = 8 << 20

// hashAfter hashes the files that are as they were when the part ended.
func (c *change) hashAfter(list []state) {
	c.dirMu.Lock()
	defer c.dirMu.Unlock()
	defer c.closeDir()
	for _, e := range list {
		if e.after == nil || e.after.Kind != workspace.KindFile || e.after.Size > maxHashed {
			continue
		}
		if hash, ok := c.hashIf(e.path, e.after.Hash); ok {
			e.after.Hash = hash
		}
	}
}

// hashIf returns the SHA-256 of a file, unless it has another version token.
func (c *change) hashIf(p workspace.Path, version string) (hash string, ok bool) {
	if c.enter(p) != nil {
		return "", false
	}
	name := path.Base(p.Anchor().Canonical())
	f, err := fsys.OpenFile(c.dir, name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	if f.Info().Version() != version {
		return "", false
	}
	if hash, err = fsys.Hash(io.LimitReader(f, f.Info().Size+1)); err != nil {
		return "", false
	}
	info, err := c.dir.Stat(name)
	return hash, err == nil && info.Version() == version
}
