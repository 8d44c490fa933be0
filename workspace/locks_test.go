package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"toolcrib/workspace"
)

const (
	lockWorkers = 4
	lockTurns   = 300
	lockFiles   = 10
)

// addOne adds one to the number in a file, under the lock of its name and of another.
func addOne(ctx context.Context, w *workspace.Workspace, root string, i int) error {
	name := fmt.Sprintf("n%d", (i*7+int(time.Now().UnixNano()))%lockFiles)
	unlock, err := workspace.LockNames(ctx, w, name, "other"+name, name)
	if err != nil {
		return err
	}
	file := filepath.Join(root, name)
	text, err := os.ReadFile(file)
	if err == nil {
		n, e := strconv.Atoi(string(text))
		err = errors.Join(e, os.WriteFile(file, []byte(strconv.Itoa(n+1)), 0o644))
	}
	return errors.Join(err, unlock())
}

// TestLocksOfProcesses counts in files: without the locks, counts are lost. Each
// process has several workers; all must come to an end.
func TestLocksOfProcesses(t *testing.T) {
	tr := newTree(t)
	base, root := tr.path("state"), tr.path("ws")
	for i := range lockFiles {
		tr.write(t, fmt.Sprintf("ws/n%d", i), "0")
	}
	const processes = 2
	began := time.Now()
	var wg sync.WaitGroup
	for range processes {
		cmd := process(t, "lock", base, root)
		wg.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	sum := 0
	for i := range lockFiles {
		text, err := os.ReadFile(filepath.Join(root, fmt.Sprintf("n%d", i)))
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(string(text))
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if want := processes * lockWorkers * lockTurns; sum != want {
		t.Errorf("counted %d, want %d", sum, want)
	}
	t.Logf("%.0f changes a second", float64(sum)/time.Since(began).Seconds())
}

func TestLockExcludes(t *testing.T) {
	tr := newTree(t)
	for _, base := range []string{"", tr.path("state")} {
		w := tr.open(t, workspace.Options{StateBase: base}, "ws")
		unlock, err := workspace.LockNames(t.Context(), w, "a", "b", "a")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		for _, name := range []string{"b", "B"} { // a file system may take them for one
			if _, err := workspace.LockNames(ctx, w, "c", name); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s was locked twice: %v", name, err)
			}
		}
		other, err := workspace.LockNames(t.Context(), w, "c") // was given back
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(unlock(), other()); err != nil {
			t.Error(err)
		}
		again, err := workspace.LockNames(t.Context(), w, "b", "a")
		if err != nil {
			t.Fatal(err)
		}
		if err := again(); err != nil {
			t.Error(err)
		}
	}
}

// TestLockBetweenWorkspaces has two workspaces of one process meet, as two
// processes do.
func TestLockBetweenWorkspaces(t *testing.T) {
	tr := newTree(t)
	opt := workspace.Options{StateBase: tr.path("state")}
	a, b := tr.open(t, opt, "ws"), tr.open(t, opt, "two")
	unlock, err := workspace.LockNames(t.Context(), a, "n")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := workspace.LockNames(ctx, b, "n"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("locked twice: %v", err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}
