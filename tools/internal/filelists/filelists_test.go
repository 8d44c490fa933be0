package filelists_test

import (
	"context"
	"errors"
	"testing"

	"toolcrib/tools/internal/filelists"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace/fileindex"
)

// A root has one list for all, until the last one has released it.
func TestShared(t *testing.T) {
	ws, dir := tooltest.Tree(t, map[string]string{"a.txt": "a"})
	root, err := ws.Resolve(dir)
	if err != nil {
		t.Fatal(err)
	}
	var lists filelists.Lists
	open := func() (*fileindex.Index, func()) {
		t.Helper()
		table, release, err := lists.Open(t.Context(), root.Root(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return table, release
	}
	first, releaseFirst := open()
	second, releaseSecond := open()
	if first != second {
		t.Error("two users have two lists")
	}
	releaseFirst()
	releaseFirst() // has no effect
	if _, err := second.Sync(t.Context()); err != nil {
		t.Errorf("the list of the second user: %v", err)
	}
	third, releaseThird := open()
	if third != second {
		t.Error("a list in use is made again")
	}
	releaseSecond()
	releaseThird()
	if _, err := second.Sync(t.Context()); err == nil {
		t.Error("a list that nobody uses is open")
	}
	fourth, release := open()
	defer release()
	if fourth == first {
		t.Error("a closed list is used again")
	}
}

// If the one who makes a list gives up, one who waits for it makes it.
func TestGivenUp(t *testing.T) {
	ws, dir := tooltest.Tree(t, map[string]string{"a/b.txt": "b"})
	root, err := ws.Resolve(dir)
	if err != nil {
		t.Fatal(err)
	}
	var lists filelists.Lists
	ctx, cancel := context.WithCancel(t.Context())
	making := make(chan struct{})
	given := make(chan error)
	go func() {
		begun := false
		_, _, err := lists.Open(ctx, root.Root(), func(ctx context.Context) error {
			if !begun {
				close(making)
				begun = true
			}
			<-ctx.Done()
			return context.Cause(ctx)
		})
		given <- err
	}()
	<-making
	waited := make(chan error)
	go func() {
		_, release, err := lists.Open(t.Context(), root.Root(), nil)
		if err == nil {
			release()
		}
		waited <- err
	}()
	cancel()
	if err := <-given; !errors.Is(err, context.Canceled) {
		t.Errorf("the one who gave up: %v", err)
	}
	if err := <-waited; err != nil {
		t.Errorf("the one who waited: %v", err)
	}
}
