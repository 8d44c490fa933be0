package durable_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolcrib/tools/durable"
	"toolcrib/tools/internal/database/databasetest"
	"toolcrib/workspace/state"
)

// TestDisk fills the disk of the state, before a run and in the middle of one, and makes it
// read-only: calls say what is wrong, no effect is done twice or begins without a record, and
// afterwards each run ends.
func TestDisk(t *testing.T) {
	t.Parallel()
	disk, effects := databasetest.Disk(t), filepath.Join(t.TempDir(), "effects")
	dir, err := state.Open(disk, "/root")
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	b := &bench{Engine: durable.New(durable.Options{State: dir, Kinds: kinds(effects), Log: slog.New(slog.NewTextHandler(log, nil)), DeadAfter: 100 * time.Millisecond}), effects: effects}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	want := func(when, kind, id, result string) {
		t.Helper()
		if got, err := b.Wait(ctx, kind, id); err != nil || string(got) != result {
			t.Errorf("%s: %s %s: %s, %v", when, kind, id, got, err)
		}
	}
	start := func(kind, id string) {
		t.Helper()
		if _, err := b.Start(ctx, kind, id, nil); err != nil {
			t.Fatal(err)
		}
	}
	filler := filepath.Join(disk, "filler")
	fill := func() {
		t.Helper()
		if err := os.WriteFile(filler, bytes.Repeat([]byte("x"), 30<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	const all = `["did a","did b","did c"]`

	start("count", "x")
	want("at first", "count", "x", all)
	fill()
	if started, err := b.Start(ctx, "count", "y", nil); started || err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("on a full disk: started %t, %v", started, err)
	}
	want("on a full disk", "count", "x", all)
	databasetest.Grow(t, disk)
	start("count", "y")
	want("when there is room", "count", "y", all)

	start("held", "z")
	until(t, "the first effect", func() bool { return slices.Contains(b.noted(t), "z a") })
	fill()
	if err := os.WriteFile(effects+".released", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "an end that cannot be recorded", func() bool {
		said, err := os.ReadFile(log.Name())
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(said), ":held:z")
	})
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	want("full in the middle", "held", "z", `["unknown a","did b","did c"]`)
	if got := b.noted(t); !slices.Equal(got, []string{"x a", "x b", "x c", "y a", "y b", "y c", "z a", "z unknown a false", "z b", "z c"}) {
		t.Errorf("effects %q", got)
	}

	if err := errors.Join(b.Close(), dir.Close()); err != nil {
		t.Fatal(err)
	}
	databasetest.Protect(t, disk)
	if _, err := state.Open(disk, "/root"); !errors.Is(err, syscall.EROFS) && !errors.Is(err, fs.ErrPermission) {
		t.Errorf("read-only: %v", err)
	}
}
