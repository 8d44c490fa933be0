package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// When a process prunes, and the contents that it does not remove.
const (
	// pruneBytes and PruneChanges are how much one process keeps before it checks the
	// bounds again.
	pruneBytes   = 64 << 20
	PruneChanges = 1000
	// pruneEvery is how often the start of a process does so.
	pruneEvery = time.Hour
	// Youth is how long an object without a record is kept: the change that will name it
	// may be under way. No change takes longer.
	Youth = time.Hour
)

// due reports whether no process has pruned the history for a while.
func (h *History) due() bool {
	info, err := h.Folder.Stat("pruned")
	return err != nil || time.Since(info.ModTime()) > pruneEvery
}

// count adds to the numbers since the last pruning, and prunes after a while.
func (h *History) count(bytes int64, changes int) {
	h.mu.Lock()
	h.written += bytes
	h.changes += changes
	full := h.written >= pruneBytes || h.changes >= PruneChanges
	if full {
		h.written, h.changes = 0, 0
	}
	h.mu.Unlock()
	if full {
		h.startPruning()
	}
}

// startPruning prunes in the background, once at a time. The next pruning tries again after
// an error; Close returns that of the last.
func (h *History) startPruning() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.pruning {
		return
	}
	h.pruning = true
	h.Prunes.Go(func() {
		err := h.prunedOrPanicked()
		h.mu.Lock()
		defer h.mu.Unlock()
		h.pruning, h.failed = false, nil
		if err != nil && h.ctx.Err() == nil {
			h.failed = fmt.Errorf("the history of %s was not pruned: %w", h.Root, err)
		}
	})
}

func (h *History) prunedOrPanicked() (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("%v\n\n%s", value, debug.Stack())
		}
	}()
	return h.Prune(h.ctx, Youth)
}

// Prune forgets the oldest changes until the rest is within the bounds, and then removes
// the contents that no record names any more. It may be killed at any point, and other
// processes may run: a rename replaces the log, and only objects older than youth are
// removed, which no change under way can need.
func (h *History) Prune(ctx context.Context, youth time.Duration) error {
	old := time.Now().Add(-youth)
	named, err := h.cutLog(ctx)
	if errors.Is(err, errPruned) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := errors.Join(h.sweep(ctx, named, old), h.sweepTaken(named, old)); err != nil {
		return err
	}
	return h.stampPruned()
}

func (h *History) stampPruned() error {
	f, err := h.Folder.OpenFile("pruned", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\n")
	return errors.Join(err, f.Close())
}

// errPruned says that another process has pruned meanwhile.
var errPruned = errors.New("another process prunes the history")

// cutLog drops the oldest records and returns the hashes that the others name. It reads
// most of the log before it takes the lock, and under it the records that were appended
// meanwhile.
func (h *History) cutLog(ctx context.Context) (named map[string]bool, err error) {
	log, err := h.Folder.Open(logName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	info, err := log.Stat()
	if err != nil {
		return nil, err
	}
	end, err := wholeLines(log, info.Size())
	if err != nil {
		return nil, err
	}
	keepFrom, err := h.keepFrom(ctx, log, end)
	if err != nil {
		return nil, err
	}
	named = map[string]bool{}
	room := h.programRoom()
	if err := nameObjects(ctx, named, log, keepFrom, end, &room); err != nil {
		return nil, err
	}
	err = h.locked(ctx, func() error {
		now, err := h.Folder.Stat(logName)
		if err != nil {
			return err
		}
		if !os.SameFile(info, now) {
			return errPruned
		}
		size, err := wholeLines(log, now.Size())
		if err != nil {
			return err
		}
		if err := nameObjects(ctx, named, log, end, size, &room); err != nil {
			return err
		}
		if keepFrom == 0 {
			return nil
		}
		return h.replaceLog(io.NewSectionReader(log, keepFrom, size-keepFrom))
	})
	return named, err
}

// keepFrom returns the offset of the first record that is kept. If the log is above its
// limit of bytes, it drops a tenth more than needed, so that not every pruning copies the
// log.
func (h *History) keepFrom(ctx context.Context, log io.ReaderAt, end int64) (int64, error) {
	var (
		oldest = time.Now().Add(-h.bounds.Age)
		named  = map[string]bool{}
		total  int64
		roomy  = end // where nine tenths of the limit are reached
		young  = end // where the first record begins that is not too old
		room   = h.programRoom()
	)
	for line, err := range linesBackward(log, end) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, err
		}
		rec, err := DecodeRecord(line.Text)
		total += int64(len(line.Text)) + 1
		if err == nil {
			for v := range Versions(rec) {
				if key := cmp.Or(v.At, v.Hash); !named[key] && v.fits(&room) {
					named[key] = true
					total += v.Size
				}
			}
			if rec.Time.After(oldest) {
				young = line.at
			}
		}
		if total > h.bounds.Bytes {
			return max(roomy, young), nil
		}
		if total <= h.bounds.Bytes/10*9 || roomy == end {
			roomy = line.at
		}
	}
	return young, nil
}

// Versions yields the versions of a record whose content is kept.
func Versions(rec Record) iter.Seq[*Version] {
	return func(yield func(*Version) bool) {
		for _, c := range rec.Files {
			for _, v := range []*Version{c.Before, c.After} {
				if v != nil && v.Kept && !yield(v) {
					return
				}
			}
		}
	}
}

// programRoom returns how many bytes of contents the changes of programs may have: half, so that
// one command does not evict what the user's edits replaced. The oldest contents go; their
// records stay.
func (h *History) programRoom() int64 { return h.bounds.Bytes / 2 }

// fits reports whether a content has room, which it takes if it is a program's.
func (v *Version) fits(room *int64) bool {
	if v.At == "" {
		return true
	}
	if *room <= 0 {
		return false
	}
	*room -= v.Size
	return true
}

// nameObjects adds the hashes and folders that the records in a part of the log name, those of
// programs as far as there is room.
func nameObjects(ctx context.Context, named map[string]bool, log io.ReaderAt, from, to int64, room *int64) error {
	for line, err := range linesBackward(io.NewSectionReader(log, from, to-from), to-from) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		rec, err := DecodeRecord(line.Text)
		if err != nil {
			continue // no process can read it
		}
		for v := range Versions(rec) {
			if id, _, ok := strings.Cut(v.At, "/"); !v.fits(room) {
				continue
			} else if ok {
				named[takenFolder+"/"+id] = true
			} else {
				named[v.Hash] = true
			}
		}
	}
	return nil
}

// replaceLog replaces the log by a part of it. It notes the new end first: a kill between
// the two steps then leaves a log that looks whole.
func (h *History) replaceLog(part *io.SectionReader) error {
	end, err := h.mend()
	if err != nil {
		return err
	}
	if end.Mark, err = markOf(part); err != nil {
		return err
	}
	const next = "log.new"
	f, err := h.Folder.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, part)
	if err == nil {
		err = f.Sync() // a loss of power must not cost the records that stay
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := h.noteEnd(end); err != nil {
		return err
	}
	return h.Folder.Rename(next, logName)
}

// sweep removes objects that are not named and older than old, and the files that killed
// processes left in incoming.
func (h *History) sweep(ctx context.Context, named map[string]bool, old time.Time) error {
	dirs, err := fs.ReadDir(h.Folder.FS(), "objects")
	if err != nil {
		return err
	}
	for _, d := range dirs {
		if err := h.sweepDir(ctx, "objects/"+d.Name(), named, old); err != nil {
			return err
		}
	}
	return h.sweepDir(ctx, "incoming", nil, old)
}

// sweepDir looks at all files of a directory, and then again under the lock at those to be
// removed: a change may have found one meanwhile and rely on it.
func (h *History) sweepDir(ctx context.Context, dir string, named map[string]bool, old time.Time) error {
	entries, err := fs.ReadDir(h.Folder.FS(), dir)
	if err != nil {
		return err
	}
	var list []string
	for _, e := range entries {
		if name := dir + "/" + e.Name(); !named[e.Name()] && h.isOlder(name, old) {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return ctx.Err()
	}
	return h.locked(ctx, func() error {
		for _, name := range list {
			if !h.isOlder(name, old) {
				continue
			}
			if err := h.Folder.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
}

func (h *History) isOlder(name string, than time.Time) bool {
	info, err := h.Folder.Lstat(name)
	return err == nil && info.ModTime().Before(than)
}
