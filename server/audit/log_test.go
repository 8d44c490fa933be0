package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"toolcrib/server/audit"
	"toolcrib/workspace/state"
)

// logDirs are the directories of a log in a test.
type logDirs struct {
	dir string
	st  *state.Dir
}

func newLogDirs(t *testing.T) logDirs {
	t.Helper()
	base := t.TempDir()
	st, err := state.Shared(filepath.Join(base, "state"))
	if err != nil {
		t.Fatal(err)
	}
	return logDirs{filepath.Join(base, "audit"), st}
}

func (p logDirs) open(t *testing.T, change ...func(*audit.Options)) *audit.Log {
	t.Helper()
	opt := audit.Options{Dir: p.dir, State: p.st, MaxBytes: 2000, NoSync: true, Digested: []string{"content", "new_text", "old_text", "patch"}}
	for _, c := range change {
		c(&opt)
	}
	l, err := audit.Open(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// write opens the log, adds records and closes it.
func (p logDirs) write(t *testing.T, n int, change ...func(*audit.Options)) {
	t.Helper()
	l := p.open(t, change...)
	for i := range n {
		if err := l.Append(record(i), audit.Now); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func record(i int) []byte { return fmt.Appendf(nil, `{"time":"t","tool":"it","n":%d}`, i) }

func (p logDirs) verify(t *testing.T) audit.Report {
	t.Helper()
	r, err := audit.Verify(t.Context(), p.dir, p.st)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// clean fails the test where Verify finds something.
func (p logDirs) clean(t *testing.T) audit.Report {
	t.Helper()
	r := p.verify(t)
	for _, found := range r.Problems {
		t.Errorf("false alarm: %s", found)
	}
	return r
}

// files returns the names of the files, oldest first.
func (p logDirs) files(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, filepath.Join(p.dir, e.Name()))
	}
	return names
}

// numbers returns the field n of the records that are there, in their order.
func (p logDirs) numbers(t *testing.T) (all []int) {
	t.Helper()
	if err := audit.Read(p.dir, func(line []byte) bool {
		var r struct{ N *int }
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if r.N != nil {
			all = append(all, *r.N)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// However few files are to be kept, that which is written stays.
func TestRotationKeepsOne(t *testing.T) {
	p := newLogDirs(t)
	p.write(t, 100, func(o *audit.Options) { o.MaxFiles = -1 })
	if r := p.clean(t); r.Files != 1 {
		t.Errorf("got %+v", r)
	}
}

func TestRotation(t *testing.T) {
	p := newLogDirs(t)
	p.write(t, 100, func(o *audit.Options) { o.MaxFiles = 5 })
	r := p.clean(t)
	if r.Files != 5 || r.First < 2 || r.Hash == "" {
		t.Errorf("got %+v", r)
	}
	for _, name := range p.files(t) {
		if info, err := os.Stat(name); err != nil || info.Size() > 2000+600 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	p.write(t, 3) // more files are allowed now
	if got := p.clean(t); got.Last <= r.Last {
		t.Errorf("%d records after %d", got.Last, r.Last)
	}
	got := p.numbers(t)
	if tail := got[len(got)-3:]; !slices.Equal(tail, []int{0, 1, 2}) || got[len(got)-4] != 99 {
		t.Errorf("got %v", got)
	}
}

// A record that is larger than a file is a file of its own.
func TestLargeRecord(t *testing.T) {
	p := newLogDirs(t)
	l := p.open(t)
	big := fmt.Appendf(nil, `{"a":%q}`, strings.Repeat("x", 5000))
	for _, r := range [][]byte{record(1), big, big, record(2)} {
		if err := l.Append(r, audit.Now); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if r := p.clean(t); r.Files != 4 {
		t.Errorf("got %+v", r)
	}
}

// Many goroutines of two processes write one chain; nobody's record is lost.
func TestShared(t *testing.T) {
	p := newLogDirs(t)
	logs := []*audit.Log{p.open(t, roomy), p.open(t, roomy)}
	var all sync.WaitGroup
	const each = 60
	for i := range 8 {
		all.Go(func() {
			for n := range each {
				promise := []audit.Promise{audit.Later, audit.Soon, audit.Now}[n%3]
				if err := logs[i%2].Append(record(i*each+n), promise); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, l := range logs {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	p.clean(t)
	got := p.numbers(t)
	for i := range 8 { // the records of one goroutine keep their order
		own := slices.DeleteFunc(slices.Clone(got), func(n int) bool { return n/each != i })
		if len(own) != each || !slices.IsSorted(own) {
			t.Errorf("goroutine %d: %v", i, own)
		}
	}
}

func roomy(o *audit.Options) { o.MaxFiles = 1000 }

func TestAppendRefuses(t *testing.T) {
	p := newLogDirs(t)
	l := p.open(t)
	for _, bad := range []string{``, `{}`, `[1,2,3,4]`, `{"log":"missing","why":"forged"}`} {
		if err := l.Append([]byte(bad), audit.Now); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := l.Append(record(1), audit.Later); err == nil {
		t.Error("a closed log took a record")
	}
}

func TestOpenRefuses(t *testing.T) {
	p := newLogDirs(t)
	p.write(t, 10)
	other, err := state.Shared(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, opt := range map[string]audit.Options{
		"a log of another state":       {Dir: p.dir, State: other},
		"the key inside the directory": {Dir: filepath.Dir(p.st.Path()), State: p.st},
	} {
		if l, err := audit.Open(t.Context(), opt); err == nil {
			t.Errorf("%s was opened", name)
			l.Close()
		}
	}
	if r, err := audit.Verify(t.Context(), p.dir, other); err != nil || len(r.Problems) == 0 {
		t.Error("a log that the state does not know was verified")
	}
}

func TestRedact(t *testing.T) {
	p := newLogDirs(t)
	l := p.open(t, func(o *audit.Options) {
		o.Redact = func(v json.RawMessage) json.RawMessage {
			return bytes.ReplaceAll(v, []byte("hunter2"), []byte("[redacted]"))
		}
	})
	short := l.Arguments(json.RawMessage(`{"s":"hunter2"}`))
	args := l.Arguments(json.RawMessage(`{"url":"http://u:hunter2@h/","text":"` + strings.Repeat("a", 250) + `hunter2` + strings.Repeat("b", 300) + `"}`))
	if err := l.Append(fmt.Appendf(nil, `{"arguments":[%s,%s]}`, args, short), audit.Now); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(p.files(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("hunt")) || bytes.Count(data, []byte("[redac")) < 3 {
		t.Errorf("got %s", data)
	}
}

func TestArguments(t *testing.T) {
	l := newLogDirs(t).open(t)
	defer l.Close()
	digest := l.Digest([]byte("abc"))
	for args, want := range map[string]string{
		`{}`:                            ``,
		`{"n":1.50,"b":true,"s":"<a>"}`: `{"n":1.50,"b":true,"s":"<a>"}`,
		`{"content":"abc"}`:             `{"content":"3 bytes, digest ` + digest + `"}`,
		`{"edits":[{"old_text":"abc","all":true}]}`:  `{"edits":[{"all":true,"old_text":"3 bytes, digest ` + digest + `"}]}`,
		`{"s":"` + strings.Repeat("x", 300) + `"}`:   `{"s":"` + strings.Repeat("x", 256) + `… of 300 bytes"}`,
		`{"l":[` + strings.Repeat("1,", 200) + `1]}`: `{"l":[` + strings.Repeat("1,", 20) + `"181 more"]}`,
		`{"no`:                   `"4 bytes that are no JSON"`,
		`{"c\u006fntent":"abc"}`: `{"content":"3 bytes, digest ` + digest + `"}`,
		`["` + strings.Repeat(`xxxxxxxxx","`, 300) + `x"]`:                      `["` + strings.Repeat(`xxxxxxxxx","`, 20) + `281 more"]`,
		`{"a":["` + strings.Repeat(strings.Repeat("y", 200)+`","`, 15) + `x"]}`: `"3056 bytes"`,
	} {
		if got := string(l.Arguments(json.RawMessage(args))); got != want {
			t.Errorf("%.60s: got %s, want %s", args, got, want)
		}
	}
}

func TestFollow(t *testing.T) {
	p := newLogDirs(t)
	l := p.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	next := 0
	if err := l.Append(record(0), audit.Now); err != nil {
		t.Fatal(err)
	}
	err := audit.Follow(ctx, p.dir, func(line []byte) bool {
		var r struct{ N *int }
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if r.N == nil {
			return true
		}
		if *r.N != next {
			t.Fatalf("record %d, want %d", *r.N, next)
		}
		next++
		if next == 60 {
			return false
		}
		if err := l.Append(record(next), audit.Now); err != nil { // across rotations
			t.Fatal(err)
		}
		return true
	})
	if err != nil || next != 60 {
		t.Errorf("%d records, %v", next, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
