package workspace_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"toolcrib/workspace"
)

// TestHistoryHasSince looks for records before and after a mark, also where a torn
// line was cut off and where the log has lost its beginning since.
func TestHistoryHasSince(t *testing.T) {
	dir := t.TempDir()
	check(t, os.Mkdir(filepath.Join(dir, "ws"), 0o755))
	w, h, err := openHistory(filepath.Join(dir, "state"), filepath.Join(dir, "ws"))
	check(t, err)
	defer w.Close()
	check(t, h.Prune(t.Context(), time.Hour)) // what this test writes is not locked against the first pruning
	log := filepath.Join(h.Folder(), "log")
	add := func() string {
		rec := workspace.Record{ID: workspace.NewID(), Time: time.Now()}
		check(t, h.Append(t.Context(), rec))
		return rec.ID
	}
	has := func(id string, m workspace.LogMark, want bool) {
		t.Helper()
		if got, err := h.HasSince(id, m); got != want || err != nil {
			t.Errorf("found %t, %v, want %t", got, err, want)
		}
	}
	empty := h.Mark()
	first := add()
	has(first, empty, true)
	later := h.Mark()
	has(first, later, false) // it is older than what is read
	whole, err := os.ReadFile(log)
	check(t, err)
	check(t, os.WriteFile(log, append(whole, `{"id":"torn, and much longer than the next`...), 0o600))
	torn := h.Mark()
	second := add()
	has(second, later, true)
	has(second, torn, true)
	has(workspace.NewID(), later, false)
	grown, err := os.ReadFile(log)
	check(t, err)
	check(t, os.WriteFile(log, grown[len(whole):], 0o600)) // as pruning does
	has(second, torn, true)
	third := h.Mark()
	has(add(), third, true)
}
