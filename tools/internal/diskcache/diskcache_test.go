package diskcache_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/diskcache"
	"toolcrib/tools/internal/tooltest"
)

type head struct{ Title string }

// folder returns the context of a call and the directory of its cache.
func folder(t *testing.T, c diskcache.Cache) (context.Context, string) {
	t.Helper()
	ws, _ := tooltest.Tree(t, nil)
	ctx := tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: ws})
	dir, err := ws.State()
	if err != nil {
		t.Fatal(err)
	}
	return ctx, filepath.Join(dir.Path(), c.Folder+".d")
}

func TestCache(t *testing.T) {
	c := diskcache.Cache{Folder: "things", Most: 3 * 5000, AtOnce: 900}
	ctx, dir := folder(t, c)
	one := diskcache.Key{1}
	if _, _, ok := c.Load(ctx, one, &head{}); ok {
		t.Error("an empty cache has an entry")
	}
	body := []byte("a\nbody\n")
	if err := c.Store(ctx, one, head{"first"}, body); err != nil {
		t.Fatal(err)
	}
	var h head
	got, used, ok := c.Load(ctx, one, &h)
	if !ok || !bytes.Equal(got, body) || h.Title != "first" || time.Since(used) > time.Hour {
		t.Errorf("%q, %v, %v, %v", got, h, used, ok)
	}
	if err := c.Store(ctx, one, head{}, make([]byte, 901)); !errors.Is(err, diskcache.ErrNotKept) {
		t.Errorf("too large: %v", err)
	}
	if _, _, ok := c.Load(ctx, one, &h); ok {
		t.Error("the older entry of one that is too large is there")
	}
	if err := c.Store(t.Context(), one, head{}, nil); !errors.Is(err, diskcache.ErrNotKept) {
		t.Errorf("without a workspace: %v", err)
	}

	// Those that were not used for the longest time go, and the files of killed writers.
	old := time.Now().Add(-2 * time.Hour)
	orphan := filepath.Join(dir, "x.new")
	if err := errors.Join(os.WriteFile(orphan, nil, 0o600), os.Chtimes(orphan, old, old)); err != nil {
		t.Fatal(err)
	}
	for n := range byte(5) {
		if err := c.Store(ctx, diskcache.Key{n}, head{}, make([]byte, 700)); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries { // all that are there are older than the next one
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			if at := info.ModTime().Add(-time.Minute); os.Chtimes(filepath.Join(dir, e.Name()), at, at) != nil {
				t.Fatal("cannot set the time")
			}
		}
	}
	for n := range byte(5) {
		if _, _, ok := c.Load(ctx, diskcache.Key{n}, &h); ok != (n > 1) {
			t.Errorf("entry %d is there: %v", n, ok)
		}
	}
	if _, err := os.Stat(orphan); err == nil {
		t.Error("the file of a killed writer is there")
	}
}

// A file that is not what was written is no entry, and goes.
func TestTorn(t *testing.T) {
	c := diskcache.Cache{Folder: "things", Most: 1 << 20, AtOnce: 1 << 20}
	ctx, dir := folder(t, c)
	key := diskcache.Key{1}
	if err := c.Store(ctx, key, head{"first"}, []byte("body of some length")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	name := filepath.Join(dir, entries[0].Name())
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range whole {
		if err := os.WriteFile(name, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if body, _, ok := c.Load(ctx, key, &head{}); ok {
			t.Errorf("cut at %d: %q", cut, body)
		}
		if _, err := os.Stat(name); err == nil {
			t.Errorf("cut at %d: the file stays", cut)
		}
	}
}
