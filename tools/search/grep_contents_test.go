package search

import (
	"bytes"
	"io"
	"testing"

	"toolcrib/workspace/fileindex"
)

// TestContentsAreBounded puts more than there is room for.
func TestContentsAreBounded(t *testing.T) {
	const most, each = 100_000, 1000
	c := newContents(most)
	text := bytes.Repeat([]byte("x"), each)
	used := version{1, 0, 1} // all the time
	for i := range uint32(500) {
		c.put(version{1, i, 1}, text)
		if _, ok := c.get(used); !ok {
			t.Fatalf("what is used all the time is gone after %d others", i)
		}
		if n := (len(c.recent) + len(c.older)) * each; n > most {
			t.Fatalf("%d bytes are kept, at most %d may be", n, most)
		}
	}
	if _, ok := c.get(version{1, 400, 1}); ok {
		t.Error("what nobody has used for long is still there")
	}
	for name, v := range map[string]version{"version": {1, 499, 2}, "shelf": {2, 499, 1}} {
		if _, ok := c.get(v); ok {
			t.Errorf("another %s of a file has its content", name)
		}
	}
}

// TestBorrower puts what a call may, and reads it again.
func TestBorrower(t *testing.T) {
	v := visit{holding: holding{contents: newContents(1000), number: 1}, fresh: fileindex.Watched}
	first := source{by: v.borrow(true), id: 1, file: 1}
	first.Whole([]byte("mine"))
	f, err := first.OpenBy(nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(f); string(text) != "mine" || err != nil || f.Info().Size != 4 {
		t.Errorf("kept: %q, %v, %d bytes", text, err, f.Info().Size)
	}
	large := source{by: first.by, id: 2, file: 1}
	large.Whole(make([]byte, 300)) // a quarter of the room is 250
	if _, ok := v.contents.get(large.version()); ok {
		t.Error("a call puts more than its share")
	}
	later := source{by: v.borrow(false), id: 3, file: 1}
	later.Whole([]byte("later"))
	if _, ok := v.contents.get(later.version()); ok {
		t.Error("a call for a later page puts something")
	}
	v.contents = newContents(1 << 20)
	many := source{by: v.borrow(true), file: 1}
	for many.id = range uint32(2 * mostPuts) {
		many.Whole(nil)
	}
	if n := len(v.contents.recent); n != mostPuts {
		t.Errorf("a call puts %d files, want %d", n, mostPuts)
	}
	if v.fresh = fileindex.Validated; v.borrow(true) != nil {
		t.Error("files whose changes nobody tells of are kept")
	}
}
