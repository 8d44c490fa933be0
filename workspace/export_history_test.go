package workspace

import (
	"context"
	"io"
	"time"
)

// The store and the log behind History, for tests of what a change relies on.

type TestHistory struct{ h *history }

// HistoryOf opens the history of the first root.
func HistoryOf(w *Workspace) (TestHistory, error) {
	h, _, err := w.historyOf(w.roots[0])
	return TestHistory{h}, err
}

func (t TestHistory) Keep(ctx context.Context, r io.Reader, limit int64) (string, int64, error) {
	return t.h.keep(ctx, r, limit)
}
func (t TestHistory) Append(ctx context.Context, rec Record) error { return t.h.append(ctx, rec) }
func (t TestHistory) Has(id string) (bool, error)                  { return t.h.has(id) }
func (t TestHistory) Mark() LogMark                                { return t.h.mark() }
func (t TestHistory) HasSince(id string, m LogMark) (bool, error)  { return t.h.hasSince(id, m) }
func (t TestHistory) Prune(ctx context.Context, youth time.Duration) error {
	t.h.prunes.Wait() // two at once leave the work to one of them, and the first is not as strict
	return t.h.prune(ctx, youth)
}
func (t TestHistory) Folder() string { return t.h.folder.Name() }

// Whole reads the whole log and opens every content that it names. It fails on a
// line that is no record.
func (t TestHistory) Whole(ctx context.Context) (records []Record, contents int, err error) {
	for line, err := range t.h.lines() {
		if err != nil {
			return nil, 0, err
		}
		rec, err := decodeRecord(line.text)
		if err != nil {
			return nil, 0, err
		}
		records = append(records, rec)
		for v := range versions(rec) {
			f, size, err := t.h.open(ctx, v.Hash)
			if err != nil {
				return nil, 0, err
			}
			if err := f.Close(); err != nil {
				return nil, 0, err
			}
			if size == v.Size {
				contents++
			}
		}
	}
	return records, contents, nil
}

// What pruning goes by.
const (
	Youth        = youth
	PruneChanges = pruneChanges
)

var NewID = newID

// ErrTooLarge is what Keep answers above its limit.
var ErrTooLarge = errTooLarge

// LockNames locks paths.
func LockNames(ctx context.Context, w *Workspace, names ...string) (unlock func() error, err error) {
	return w.lock(ctx, names)
}

// Stripe is the lock of a name.
func Stripe(name string) int { return stripe(name) }

// Protects judges a path below a root of the view.
func Protects(w *Workspace, i int, rel string, mayBeDirectory bool) bool {
	return w.roots[i].protects(rel, mayBeDirectory) || w.decides(w.roots[i], rel, mayBeDirectory)
}

// LogMark is where a log ended.
type LogMark = logMark
