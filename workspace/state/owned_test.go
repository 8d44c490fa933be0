package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"toolcrib/workspace/state"
)

// orphans returns the data that the dead owners of a folder have appended, and releases them.
func orphans(t *testing.T, d *state.Dir) (data []string) {
	t.Helper()
	list, err := d.Orphans("journal")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		text, err := o.Data()
		if err := errors.Join(err, o.Release()); err != nil {
			t.Error(err)
		}
		data = append(data, string(text))
	}
	slices.Sort(data)
	return data
}

// files lists the folder of the journals.
func files(t *testing.T, d *state.Dir) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(d.Path(), "journal.d"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestOwned(t *testing.T) {
	base := t.TempDir()
	d := open(t, base)
	cmd := process(t, "own", base)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("owned"))
	if _, err := out.Read(line); err != nil {
		t.Fatal(err)
	}
	mine, err := d.Own("journal")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(mine.Append([]byte("mine")), mine.Reset(), mine.Append([]byte("again"))); err != nil {
		t.Error(err)
	}
	if got := orphans(t, d); got != nil {
		t.Errorf("the owners live: %q", got)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	for range 2 {  // releasing leaves it to others
		if got := orphans(t, d); !slices.Equal(got, []string{"first\nsecond\n"}) {
			t.Errorf("the owner is dead: %q", got)
		}
	}
	list, err := d.Orphans("journal")
	if err != nil || len(list) != 1 {
		t.Fatalf("%d orphans, %v", len(list), err)
	}
	if got := orphans(t, open(t, base)); got != nil {
		t.Errorf("somebody has it already: %q", got)
	}
	if err := list[0].Remove(); err != nil {
		t.Error(err)
	}
	if got := orphans(t, d); got != nil {
		t.Errorf("it was removed: %q", got)
	}
	if err := mine.Close(); err != nil {
		t.Error(err)
	}
	if got := files(t, d); got != nil {
		t.Errorf("left behind: %q", got)
	}
}

// TestOwnedHidden has a process die before it gave its file a name.
func TestOwnedHidden(t *testing.T) {
	d := open(t, t.TempDir())
	if got := orphans(t, d); got != nil {
		t.Errorf("none yet: %q", got)
	}
	if err := os.WriteFile(filepath.Join(d.Path(), "journal.d", "0123.new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := orphans(t, d); got != nil {
		t.Errorf("nothing was written: %q", got)
	}
	if got := files(t, d); got != nil {
		t.Errorf("left behind: %q", got)
	}
}

// TestOwnedRace makes files while others look for orphans: the living are never
// taken for dead, and nobody's file is lost.
func TestOwnedRace(t *testing.T) {
	base := t.TempDir()
	var owners, seekers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		d := open(t, base)
		seekers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if got := orphans(t, d); got != nil {
					t.Errorf("taken for dead: %q", got)
					return
				}
			}
		})
	}
	for range 2 {
		d := open(t, base)
		owners.Go(func() {
			for range 200 {
				o, err := d.Own("journal")
				if err != nil {
					t.Error(err)
					return
				}
				if err := errors.Join(o.Append([]byte("x")), o.Close()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	owners.Wait()
	close(done)
	seekers.Wait()
	if got := files(t, open(t, base)); got != nil {
		t.Errorf("left behind: %q", got)
	}
}
