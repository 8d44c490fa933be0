package daemon_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/server/daemon"
)

type inner struct {
	Text string
	list []string
}

type settings struct {
	A, B  string
	Inner *inner
	Map   map[string]int
	On    bool
}

// Different values have different keys, equal ones the same.
func TestKey(t *testing.T) {
	seen := map[string]int{}
	for i, v := range [][]any{
		{settings{}},
		{settings{A: "x"}},
		{settings{B: "x"}},
		{settings{A: "x", B: "y"}},
		{settings{A: "xy"}},
		{settings{A: "4:text"}},
		{settings{Inner: &inner{}}},
		{settings{Inner: &inner{Text: "x"}}},
		{settings{Inner: &inner{list: []string{"a", "b"}}}},
		{settings{Inner: &inner{list: []string{"ab"}}}},
		{settings{Map: map[string]int{"a": 1, "b": 2}}},
		{settings{Map: map[string]int{"a": 2, "b": 1}}},
		{settings{On: true}},
		{"a", "b"},
		{"ab"},
		{[]string{"a", "b"}},
	} {
		key := daemon.Key(v...)
		if other, ok := seen[key]; ok {
			t.Errorf("values %d and %d have one key", i, other)
		}
		seen[key] = i
		for range 5 { // maps have no order
			if daemon.Key(v...) != key {
				t.Errorf("value %d has two keys", i)
			}
		}
	}
	one, two := settings{Inner: &inner{Text: "x"}}, settings{Inner: &inner{Text: "x"}}
	if daemon.Key(one) != daemon.Key(two) {
		t.Error("equal values behind pointers have two keys")
	}
}

// A log keeps its end, in whole lines.
func TestLogIsBounded(t *testing.T) {
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "log"), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log := daemon.NewLog(f)
	line := []byte(strings.Repeat("x", 999) + "\n")
	for range 5000 {
		if _, err := log.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := log.Write([]byte("last\n")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 1<<20 || len(text) < 1<<19 || !bytes.HasSuffix(text, []byte("x\nlast\n")) || len(text)%1000 != len("last\n") {
		t.Errorf("%d bytes, begins %.10q", len(text), text)
	}
}

// A place that others can enter is none.
func TestPlaceIsPrivate(t *testing.T) {
	if err := daemon.Supported(); err != nil {
		t.Skipf("needs: daemons: %v", err)
	}
	base, err := os.MkdirTemp("", "place")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	if _, err := daemon.Open(base); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "keepers")
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // that is what is refused
		t.Fatal(err)
	}
	if _, err := daemon.Open(base); err == nil {
		t.Error("a directory that others can enter is taken")
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := daemon.Open(base); err == nil {
		t.Error("a link is taken")
	}
	long := filepath.Join(base, strings.Repeat("long", 30))
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := daemon.Open(long); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a long name: %v", err)
	}
	if _, err := daemon.Open(long, base); err != nil {
		t.Errorf("a long name and a short one: %v", err)
	}
}
