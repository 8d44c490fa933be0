package records_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolcrib/server/audit"
	"toolcrib/server/records"
	"toolcrib/server/run"
	"toolcrib/workspace/redact"
	"toolcrib/workspace/state"
)

const secret = "a-secret-that-is-known"

// kept returns the records of calls that a log has after use, in their order. The
// chain must be whole.
func kept(t *testing.T, use func(r *records.Recorder)) (lines []string) {
	t.Helper()
	base := t.TempDir()
	st, err := state.Shared(filepath.Join(base, "state"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	dir, secrets := filepath.Join(base, "audit"), redact.New([]string{secret})
	log, err := audit.Open(t.Context(), audit.Options{Dir: dir, State: st, NoSync: true, Redact: secrets.JSON})
	if err != nil {
		t.Fatal(err)
	}
	use(records.New(log, secrets))
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if rep, err := audit.Verify(t.Context(), dir, st); err != nil || len(rep.Problems) > 0 {
		t.Errorf("%v, %v", rep.Problems, err)
	}
	if err := audit.Read(dir, func(line []byte) bool {
		if bytes.Contains(line, []byte(`"event"`)) {
			lines = append(lines, string(line))
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return lines
}

// What a caller does to arguments after the record was taken changes nothing in the
// log, and no secret of theirs is there, whichever way the record took.
func TestArguments(t *testing.T) {
	short := `{"path":"a.go","query":"` + secret + `"}`
	long := `{"path":"a.go","query":"` + strings.Repeat("x", 10_000) + secret + `"}`
	lines := kept(t, func(r *records.Recorder) {
		for _, args := range []string{short, long} {
			raw := json.RawMessage(args)
			if err := r.Record(run.Record{Event: run.EventEnd, ID: "a-1", Paths: []string{secret}, Arguments: raw}); err != nil {
				t.Error(err)
			}
			clear(raw)
		}
	})
	if len(lines) != 2 {
		t.Fatalf("%d records: %q", len(lines), lines)
	}
	for _, line := range lines {
		if !strings.Contains(line, `"path":"a.go"`) || !strings.Contains(line, `"digest":"`) || strings.Contains(line, secret) {
			t.Errorf("got %s", line)
		}
	}
}

// The records of a call stand in their order among those of others; the end record
// has the digest of its begin record and leaves the arguments to it.
func TestOrder(t *testing.T) {
	const calls = 50
	lines := kept(t, func(r *records.Recorder) {
		done := make(chan error)
		for i := range calls {
			go func() {
				id, args := fmt.Sprint("a-", i), json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))
				err := r.Record(run.Record{Event: run.EventBegin, ID: id, Arguments: args})
				if err == nil {
					err = r.Record(run.Record{Event: run.EventEnd, ID: "read-" + id, Arguments: args})
				}
				if err == nil && i != 0 {
					err = r.Record(run.Record{Event: run.EventEnd, ID: id, Arguments: args})
				}
				done <- err
			}()
		}
		for range calls {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if err := r.Abandon(); err != nil {
			t.Error(err)
		}
	})
	got := map[string][]string{}
	digests := map[string]string{}
	for _, line := range lines {
		var rec run.Record
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatal(err)
		}
		id := strings.TrimPrefix(rec.ID, "read-")
		if d, ok := digests[id]; ok && d != rec.Digest || rec.Digest == "" {
			t.Errorf("digest of %s: %q and %q", rec.ID, d, rec.Digest)
		}
		digests[id] = rec.Digest
		got[rec.ID] = append(got[rec.ID], fmt.Sprint(rec.Event, " ", string(rec.Arguments)))
	}
	for i := range calls {
		id, last := fmt.Sprint("a-", i), "end "
		if i == 0 {
			last = "abandoned "
		}
		if want := []string{fmt.Sprintf(`begin {"n":%d}`, i), last}; !slices.Equal(got[id], want) {
			t.Errorf("%s: %q, want %q", id, got[id], want)
		}
	}
}
