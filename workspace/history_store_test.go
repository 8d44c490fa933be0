package workspace_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toolcrib/workspace"
)

// stored opens a workspace on tr's root "ws" with state, and its history.
func stored(t testing.TB, tr tree, opt workspace.Options, roots ...string) (*workspace.Workspace, workspace.TestHistory) {
	t.Helper()
	opt.StateBase = tr.path("state")
	if len(roots) == 0 {
		roots = []string{"ws"}
	}
	w := tr.open(t, opt, roots...)
	h, err := workspace.HistoryOf(w)
	if err != nil {
		t.Fatal(err)
	}
	return w, h
}

func keep(t testing.TB, h workspace.TestHistory, content string) *workspace.Version {
	t.Helper()
	hash, size, err := h.Keep(t.Context(), strings.NewReader(content), workspace.MaxKept)
	if err != nil {
		t.Fatal(err)
	}
	return &workspace.Version{Kind: workspace.KindFile, Size: size, Hash: hash, Kept: true}
}

// record appends a record of a write to path whose old content is kept.
func record(t testing.TB, h workspace.TestHistory, path, content string) workspace.Record {
	t.Helper()
	return appendRecord(t, h, workspace.Changed{Kind: workspace.OpWrite, Path: path, Before: keep(t, h, content)})
}

func appendRecord(t testing.TB, h workspace.TestHistory, files ...workspace.Changed) workspace.Record {
	t.Helper()
	rec := workspace.Record{ID: workspace.NewID(), Time: time.Now().UTC(), Tool: "write_file", Files: files}
	if err := h.Append(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	return rec
}

// kept reads a kept content.
func kept(w *workspace.Workspace, hash string) (string, error) {
	r, size, err := w.Kept(context.Background(), &workspace.Version{Hash: hash})
	if err != nil {
		return "", err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if int64(len(data)) != size {
		return "", fmt.Errorf("%d bytes, it was said %d", len(data), size)
	}
	return string(data), err
}

func TestKeep(t *testing.T) {
	tr := newTree(t)
	w, h := stored(t, tr, workspace.Options{})
	for _, size := range []int{0, 1, 10_000, 1<<20 - 1, 1 << 20, 1<<20 + 1, 5 << 20} {
		content := strings.Repeat("content\n", size/8+1)[:size]
		for range 2 {
			v := keep(t, h, content)
			if v.Hash != fmt.Sprintf("%x", sha256.Sum256([]byte(content))) || v.Size != int64(size) {
				t.Errorf("%d bytes are kept as %+v", size, v)
			}
			if got, err := kept(w, v.Hash); got != content || err != nil {
				t.Errorf("%d bytes: got %d, %v", size, len(got), err)
			}
		}
		_, _, err := h.Keep(t.Context(), strings.NewReader(content), int64(size)-1)
		if size > 0 && !errors.Is(err, workspace.ErrTooLarge) {
			t.Errorf("%d bytes above the limit: %v", size, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, size := range []int{10, 2 << 20} {
		if _, _, err := h.Keep(ctx, io.LimitReader(letters{}, int64(size)), workspace.MaxKept); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(h.Folder(), "incoming")); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// letters is an endless text.
type letters struct{}

func (letters) Read(b []byte) (int, error) {
	return copy(b, bytes.Repeat([]byte("x"), len(b))), nil
}

func TestKeepDamaged(t *testing.T) {
	tr := newTree(t)
	w, h := stored(t, tr, workspace.Options{})
	v := keep(t, h, "content")
	file := filepath.Join(h.Folder(), "objects", v.Hash[:2], v.Hash)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{"", "contenX"} {
		if err := os.WriteFile(file, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := kept(w, v.Hash); ruleOf(t, err) != workspace.RuleIO {
			t.Errorf("damaged: %q, %v", got, err)
		}
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	keep(t, h, "content") // one of another size is not taken for it
	if got, err := kept(w, v.Hash); got != "content" || err != nil {
		t.Errorf("kept again: %q, %v", got, err)
	}
	before := time.Now().Add(-time.Hour)
	if err := os.Chtimes(file, before, before); err != nil {
		t.Fatal(err)
	}
	keep(t, h, "content")
	again, err := os.Stat(file)
	if err != nil || again.ModTime().Before(info.ModTime()) {
		t.Errorf("what is kept again stays old: %v, %v", again.ModTime(), err)
	}
	if got, err := kept(w, v.Hash[:12]); err != nil || got != "content" {
		t.Errorf("by 12 digits: %q, %v", got, err)
	}
	for _, hash := range []string{v.Hash[:11], strings.Repeat("0", 12), "../../../root", strings.Repeat("0", 64), "../../root", "", v.Hash + "/", strings.ToUpper(v.Hash)} {
		if _, err := kept(w, hash); ruleOf(t, err) != workspace.RuleNotFound {
			t.Errorf("%q: %v", hash, err)
		}
	}
}

func TestRecords(t *testing.T) {
	tr := newTree(t)
	w, h := stored(t, tr, workspace.Options{})
	var want []workspace.Record
	for i := range 3000 { // more than is read at once
		want = append(want, appendRecord(t, h, workspace.Changed{Kind: workspace.OpDelete, Path: fmt.Sprintf("sub/f%d", i)}))
	}
	long := appendRecord(t, h, workspace.Changed{Kind: workspace.OpWrite, Path: strings.Repeat("long/", 100_000) + "f"})
	odd := appendRecord(t, h, workspace.Changed{
		Kind: workspace.OpMove, Path: "sub/\xff\xfe<&>\u2028", From: "x\xff",
		After: &workspace.Version{Kind: workspace.KindSymlink, Target: "\xc3\x28", Mode: 0o777},
	})
	want = append(want, long, odd)
	for i := 0; i < len(want); i += 91 {
		rec := want[i]
		if ok, err := h.Has(rec.ID); !ok || err != nil {
			t.Fatalf("%s: %t, %v", rec.ID, ok, err)
		}
	}
	for _, id := range []string{workspace.NewID(), odd.ID[:15], ""} {
		if ok, err := h.Has(id); ok || err != nil {
			t.Errorf("%q: %t, %v", id, ok, err)
		}
	}
	got, total, err := w.History(t.Context(), workspace.HistoryQuery{})
	if err != nil || total != len(want) || len(got) != total {
		t.Fatalf("%d of %d changes, %v", len(got), total, err)
	}
	for i, rec := range want {
		if diff := cmp.Diff(rec, got[len(got)-1-i], cmpopts.IgnoreUnexported(workspace.Record{})); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestTorn has a kill end the log anywhere in its last line.
func TestTorn(t *testing.T) {
	tr := newTree(t)
	_, h := stored(t, tr, workspace.Options{})
	first := record(t, h, "f", "one")
	log := filepath.Join(h.Folder(), "log")
	start, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	second := record(t, h, "f", "two")
	whole, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for size := len(start); size < len(whole); size++ {
		if err := os.WriteFile(log, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		if ok, err := h.Has(second.ID); ok || err != nil {
			t.Fatalf("cut at %d of %d: has it %t, %v", size, len(whole), ok, err)
		}
		third := record(t, h, "f", "three")
		records, _, err := h.Whole(t.Context())
		if err != nil || len(records) != 2 || records[0].ID != third.ID || records[1].ID != first.ID {
			t.Fatalf("cut at %d of %d: %v, %v", size, len(whole), records, err)
		}
	}
}

// IDs made together differ and sort as they were made.
func TestNewID(t *testing.T) {
	var ids [4][]string
	var made sync.WaitGroup
	for i := range ids {
		made.Go(func() {
			for range 50_000 {
				ids[i] = append(ids[i], workspace.NewID())
			}
		})
	}
	made.Wait()
	seen := map[string]bool{}
	for _, of := range ids {
		for i, id := range of {
			if len(id) != 16 || strings.Trim(id, "0123456789abcdefghjkmnpqrstvwxyz") != "" {
				t.Fatalf("ID %q", id)
			}
			if seen[id] {
				t.Fatalf("ID %q twice", id)
			}
			seen[id] = true
			if i > 0 && id <= of[i-1] {
				t.Fatalf("%s is not after %s", id, of[i-1])
			}
		}
	}
}

// A file that is written once the copy of a tree is recorded is later than the record, whatever
// the steps of the clock of files.
func TestRecordOfCopiedTree(t *testing.T) {
	tr := newTree(t)
	_, h := stored(t, tr, workspace.Options{})
	name := tr.path("file")
	for range 20 {
		rec := appendRecord(t, h, workspace.Changed{Kind: workspace.OpCopy, Path: "copy", From: "tree", After: &workspace.Version{Kind: workspace.KindDirectory}})
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if !info.ModTime().After(rec.Time) {
			t.Errorf("the record is of %v, the file of %v", rec.Time, info.ModTime())
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}
