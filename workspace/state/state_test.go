package state_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toolcrib/workspace/state"
)

const schema = "CREATE TABLE n (process INTEGER, i INTEGER)"

func open(t *testing.T, base string) *state.Dir {
	t.Helper()
	d, err := state.Open(base, "/root")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestOpen(t *testing.T) {
	base := t.TempDir()
	a := open(t, base)
	b, err := state.Open(base, "/root/other")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if a.Path() == b.Path() || a.Path() != open(t, base).Path() {
		t.Errorf("two roots have %s and %s", a.Path(), b.Path())
	}
	if text, err := os.ReadFile(filepath.Join(a.Path(), "root")); string(text) != "/root\n" {
		t.Errorf("the state does not tell its root: %q, %v", text, err)
	}
}

func TestOpenRefusesWorkspace(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(base, "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	bases := []string{ws, filepath.Join(ws, "a", "b"), filepath.Join(base, "x", "..", "ws", "y")}
	link := filepath.Join(base, "link")
	if err := os.Symlink(ws, link); err == nil {
		bases = append(bases, link, filepath.Join(link, "missing", "z"))
	}
	for _, b := range bases {
		if d, err := state.Open(b, ws, ws); err == nil {
			t.Errorf("state was opened in %s", d.Path())
		}
	}
	if entries, err := os.ReadDir(ws); len(entries) != 0 {
		t.Errorf("a refusal left %v, %v", entries, err)
	}
	d, err := state.Open(ws+"-state", ws, ws)
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
}

// TestOpenRefusesLink has somebody who can write to the base put a link in the place
// of a state.
func TestOpenRefusesLink(t *testing.T) {
	for _, where := range []string{"..", "."} { // of the base
		base := filepath.Join(t.TempDir(), "base")
		d := open(t, base)
		theirs := filepath.Join(base, where, "theirs")
		if err := errors.Join(os.Mkdir(theirs, 0o755), os.RemoveAll(d.Path())); err != nil {
			t.Fatal(err)
		}
		before, err := os.Stat(theirs)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(where, "theirs"), d.Path()); err != nil {
			t.Skip("needs: the right to make symlinks")
		}
		if _, err := state.Open(base, "/root"); err == nil {
			t.Errorf("the state was opened through a link to %s", theirs)
		}
		after, err := os.Stat(theirs)
		if err != nil || after.Mode() != before.Mode() {
			t.Errorf("the target of the link has the mode %v, was %v (%v)", after.Mode(), before.Mode(), err)
		}
		if list, err := os.ReadDir(theirs); len(list) != 0 || err != nil {
			t.Errorf("the target of the link holds %v (%v)", list, err)
		}
	}
}

func TestPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs: permission bits")
	}
	base := filepath.Join(t.TempDir(), "base")
	d := open(t, base)
	if err := os.Chmod(d.Path(), 0o755); err != nil {
		t.Fatal(err)
	}
	d = open(t, base)
	if _, err := d.Key(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.DB(t.Context(), "db", schema, "INSERT INTO n VALUES (1, 1)"); err != nil {
		t.Fatal(err)
	}
	folder, err := d.Folder("blobs")
	if err != nil {
		t.Fatal(err)
	}
	folder.Close()
	n := 0
	err = filepath.WalkDir(base, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		n++
		return nil
	})
	if err != nil || n < 8 {
		t.Errorf("looked at %d files: %v", n, err)
	}
}

func TestNames(t *testing.T) {
	d := open(t, t.TempDir())
	for _, name := range []string{"", "..", "a/b", "A", "a.b", "a b", `a\b`, "a\x00"} {
		_, errDB := d.DB(t.Context(), name)
		_, errKey := d.Key(t.Context(), name)
		_, errLock := d.Lock(t.Context(), name)
		_, errFolder := d.Folder(name)
		if errDB == nil || errKey == nil || errLock == nil || errFolder == nil {
			t.Errorf("%q: DB %v, Key %v, Lock %v, Folder %v", name, errDB, errKey, errLock, errFolder)
		}
	}
}

func TestDefaultBases(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs: Linux")
	}
	t.Setenv("HOME", "/home/u")
	fallback := fmt.Sprintf("/var/tmp/toolcrib-%d", os.Geteuid())
	for xdg, want := range map[string]string{
		"":         "/home/u/.local/state/toolcrib",
		"relative": "/home/u/.local/state/toolcrib",
		"/s":       "/s/toolcrib",
	} {
		t.Setenv("XDG_STATE_HOME", xdg)
		if got, err := state.DefaultBases(); !slices.Equal(got, []string{want, fallback}) || err != nil {
			t.Errorf("XDG_STATE_HOME=%s: %s, %v", xdg, got, err)
		}
	}
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	if got, err := state.DefaultBases(); !slices.Equal(got, []string{fallback}) || err != nil {
		t.Errorf("without a home: %s, %v", got, err)
	}
}

func TestMigrations(t *testing.T) {
	base := t.TempDir()
	scripts := []string{
		schema + "; INSERT INTO n VALUES (1, 1)",
		"ALTER TABLE n ADD COLUMN note TEXT; UPDATE n SET note = 'second'",
	}
	use := func(scripts ...string) (note string, err error) {
		d := open(t, base)
		defer d.Close()
		db, err := d.DB(t.Context(), "m", scripts...)
		if err != nil {
			return "", err
		}
		again, err := d.DB(t.Context(), "m", scripts...)
		if again != db || err != nil {
			t.Errorf("the second call opened another database: %v", err)
		}
		if len(scripts) < 2 {
			return "", nil
		}
		return note, db.QueryRow("SELECT note FROM n").Scan(&note)
	}
	if _, err := use(scripts[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := use(scripts[0], scripts[1]+"; INSERT INTO missing VALUES (1)"); err == nil || !strings.Contains(err.Error(), "migration 2") {
		t.Errorf("a broken migration: %v", err)
	}
	for range 2 { // the broken one left nothing behind, and the right one runs once
		if note, err := use(scripts...); note != "second" || err != nil {
			t.Errorf("after both migrations: %q, %v", note, err)
		}
	}
	if _, err := use(scripts[0]); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("a database of a newer program: %v", err)
	}
}

// A database that has its version opens while others write.
func TestOpenWhileLocked(t *testing.T) {
	base := t.TempDir()
	db, err := open(t, base).DB(t.Context(), "busy", schema)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(t.Context(), nil) // it takes the write lock
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	other, err := open(t, base).OwnDB(t.Context(), "busy", schema)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}

func TestPragmas(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "odd ?#%41 name"))
	db, err := d.DB(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	for pragma, want := range map[string]string{"journal_mode": "wal", "busy_timeout": "10000", "synchronous": "1", "foreign_keys": "1"} {
		var got string
		if err := db.QueryRow("PRAGMA " + pragma).Scan(&got); got != want || err != nil {
			t.Errorf("%s = %s, %v; want %s", pragma, got, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(d.Path(), "p.db")); err != nil {
		t.Errorf("the database is elsewhere: %v", err)
	}
}

func TestLockExcludes(t *testing.T) {
	d := open(t, t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		var holders, total atomic.Int32 // a race detector does not see the lock
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				l, err := d.Lock(t.Context(), "n")
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				time.Sleep(time.Millisecond) // fake time: lets the others try
				holders.Add(-1)
				total.Add(1)
				if err := l.Unlock(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := total.Load(); n != 8 {
			t.Errorf("%d of 8 had the lock", n)
		}
	})
}

func TestClosed(t *testing.T) {
	d := open(t, t.TempDir())
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.DB(t.Context(), "late"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
