package workspace

import (
	"context"
	"io"
	"time"

	"toolcrib/workspace/internal/history"
)

// The contents and the log behind History, for tests.

type TestHistory struct{ h *history.History }

// HistoryOf opens the history of the first root.
func HistoryOf(w *Workspace) (TestHistory, error) {
	h, _, err := w.historyOf(w.roots[0])
	return TestHistory{h}, err
}

func (t TestHistory) Keep(ctx context.Context, r io.Reader, limit int64) (string, int64, error) {
	return t.h.Keep(ctx, r, limit)
}
func (t TestHistory) Append(ctx context.Context, rec Record) error { return t.h.Append(ctx, rec) }
func (t TestHistory) Has(id string) (bool, error)                  { return t.h.Has(id) }
func (t TestHistory) Mark() LogMark                                { return t.h.Mark() }
func (t TestHistory) HasSince(id string, m LogMark) (bool, error)  { return t.h.HasSince(id, m) }
func (t TestHistory) Prune(ctx context.Context, youth time.Duration) error {
	t.h.Prunes.Wait() // two at once leave the work to one of them, and the first is not as strict
	return t.h.Prune(ctx, youth)
}
func (t TestHistory) Folder() string { return t.h.Folder.Name() }

// Whole reads the whole log and opens every content that it names. It fails on a
// line that is no record.
func (t TestHistory) Whole(ctx context.Context) (records []Record, contents int, err error) {
	for line, err := range t.h.Lines() {
		if err != nil {
			return nil, 0, err
		}
		rec, err := history.DecodeRecord(line.Text)
		if err != nil {
			return nil, 0, err
		}
		records = append(records, rec)
		for v := range history.Versions(rec) {
			f, size, err := t.h.Open(ctx, v.Hash)
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
	Youth        = history.Youth
	PruneChanges = history.PruneChanges
)

var NewID = history.NewID

// ErrTooLarge is what Keep answers above its limit.
var ErrTooLarge = history.ErrTooLarge

// LockNames locks paths.
func LockNames(ctx context.Context, w *Workspace, names ...string) (unlock func() error, err error) {
	return w.state.Lock(ctx, names)
}

// Protects judges a path below a root of the view.
func Protects(w *Workspace, i int, rel string, mayBeDirectory bool) bool {
	return w.protection(w.roots[i]).Protects(rel, mayBeDirectory)
}

// LogMark is where a log ended.
type LogMark = history.Mark
