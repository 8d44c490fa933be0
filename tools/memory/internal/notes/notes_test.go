package notes_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/internal/database"
	"toolcrib/tools/internal/database/databasetest"
	"toolcrib/tools/memory/internal/notes"
	"toolcrib/workspace/state"
)

var databases databasetest.Databases

func TestMain(m *testing.M) { databases.Main(m) }

// each runs the suite's test f on every store. open returns the notes of an owner as another
// process would see them.
func each(t *testing.T, f func(t *testing.T, open func(owner string) notes.Store)) {
	t.Run("files", func(t *testing.T) {
		base := t.TempDir()
		f(t, func(owner string) notes.Store { return files(t, base, owner) })
	})
	databases.Each(t, func(t *testing.T, url string) {
		base := t.TempDir()
		f(t, func(owner string) notes.Store {
			return notes.NewRows(databasetest.Open(t, base, url), database.Owner{Principal: owner, Root: t.Name()})
		})
	})
}

func files(t *testing.T, base, owner string) *notes.Files {
	t.Helper()
	dir, err := state.Shared(base)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return &notes.Files{Dir: func() (*state.Dir, error) { return dir, nil }, Below: owner}
}

func note(id, topic, content string, version int64) *notes.Note {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	return &notes.Note{ID: id, Topic: topic, Content: content, Version: version, Created: now, Updated: now, Author: "test"}
}

func write(t *testing.T, s notes.Store, list ...*notes.Note) {
	t.Helper()
	if err := s.Change(t.Context(), func(*notes.Set) (notes.Batch, error) { return notes.Batch{Write: list}, nil }); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, s notes.Store, ids ...string) {
	t.Helper()
	if err := s.Change(t.Context(), func(*notes.Set) (notes.Batch, error) { return notes.Batch{Remove: ids}, nil }); err != nil {
		t.Fatal(err)
	}
}

// shown lists notes as "ID VERSION content".
func shown(list []*notes.Note) (lines []string) {
	for _, n := range list {
		lines = append(lines, fmt.Sprintf("%s %d %s", n.ID, n.Version, n.Content))
	}
	return lines
}

func wantNotes(t *testing.T, s notes.Store, want ...string) {
	t.Helper()
	set, err := s.Notes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, shown(set.Notes)); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestStore(t *testing.T) {
	each(t, func(t *testing.T, open func(owner string) notes.Store) {
		a, b, other := open("a"), open("a"), open("other")
		wantNotes(t, a)
		whole := note("aaaaaaaa", "a: \"topic\" #1 ---", "first\n\n---\ntext: [\n 中文 \U0001F389", 1)
		whole.Tags, whole.Supersedes, whole.Expires = []string{"x", "with, comma"}, []string{"bbbbbbbb"}, whole.Created.Add(time.Hour)
		write(t, a, whole)
		set, err := b.Notes(t.Context())
		if err != nil || len(set.Notes) != 1 {
			t.Fatalf("%v, %v", set, err)
		}
		got := *set.Notes[0]
		if got.Edited() {
			t.Error("it looks as if it was edited by hand")
		}
		if got.Digest = ""; cmp.Diff(*whole, got) != "" {
			t.Errorf("it came back otherwise (-want +got):\n%s", cmp.Diff(*whole, got))
		}
		if again, err := b.Notes(t.Context()); err != nil || again != set {
			t.Errorf("nothing was written, but the set is another: %v", err)
		}
		write(t, b, note("aaaaaaaa", "t", "second", 2), note("bbbbbbbb", "u", "other", 1))
		wantNotes(t, a, "aaaaaaaa 2 second", "bbbbbbbb 1 other")
		wantNotes(t, other)
		remove(t, a, "bbbbbbbb")
		wantNotes(t, b, "aaaaaaaa 2 second")
		versions, err := open("a").Versions(t.Context(), "aaaaaaaa")
		if diff := cmp.Diff([]string{"aaaaaaaa 1 " + whole.Content, "aaaaaaaa 2 second"}, shown(versions)); diff != "" || err != nil {
			t.Errorf("versions: %v, %s", err, diff)
		}
		if versions, err := a.Versions(t.Context(), "../aaaaa"); len(versions) > 0 || err != nil {
			t.Errorf("versions of no ID: %v, %v", versions, err)
		}
		removed, err := b.Removed(t.Context())
		if diff := cmp.Diff([]string{"bbbbbbbb 1 other"}, shown(removed)); diff != "" || err != nil {
			t.Errorf("removed: %v, %s", err, diff)
		}
		write(t, b, note("bbbbbbbb", "u", "again", 2))
		wantNotes(t, a, "aaaaaaaa 2 second", "bbbbbbbb 2 again")
		if removed, err := a.Removed(t.Context()); len(removed) > 0 || err != nil {
			t.Errorf("it is back, but removed: %v, %v", removed, err)
		}
		declined := tools.Errorf(tools.Conflict, "no")
		err = a.Change(t.Context(), func(*notes.Set) (notes.Batch, error) {
			return notes.Batch{Remove: []string{"aaaaaaaa"}}, declined
		})
		if !errors.Is(err, declined) {
			t.Errorf("an error of the function became %v", err)
		}
		wantNotes(t, a, "aaaaaaaa 2 second", "bbbbbbbb 2 again")
	})
}

// TestContended has several write new versions of one note: none is lost.
func TestContended(t *testing.T) {
	each(t, func(t *testing.T, open func(owner string) notes.Store) {
		const users, rounds = 4, 10
		var wg sync.WaitGroup
		for range users {
			s := open("a")
			wg.Go(func() {
				for range rounds {
					if err := s.Change(t.Context(), func(set *notes.Set) (notes.Batch, error) {
						next := note("aaaaaaaa", "t", "x", 1)
						if old := set.Find("aaaaaaaa"); old != nil {
							next.Version, next.Content = old.Version+1, old.Content+"x"
						}
						return notes.Batch{Write: []*notes.Note{next}}, nil
					}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		wantNotes(t, open("a"), fmt.Sprintf("aaaaaaaa %d %s", users*rounds, strings.Repeat("x", users*rounds)))
		versions, err := open("a").Versions(t.Context(), "aaaaaaaa")
		if err != nil || len(versions) != users*rounds {
			t.Errorf("%d versions, %v", len(versions), err)
		}
	})
}

// TestHand edits, adds, copies and removes files as a person would.
func TestHand(t *testing.T) {
	base := t.TempDir()
	s := files(t, base, "a")
	write(t, s, note("aaaaaaaa", "Deploy steps", "one", 1), note("bbbbbbbb", "Other", "two", 1))
	dir := filepath.Join(base, "shared", "memory.d", "a")
	name := filepath.Join(dir, "deploy-steps-aaaaaaaa.md")
	change := func(name string, edit func(string) string) {
		t.Helper()
		data, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(edit(string(data))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	change(name, func(text string) string { return strings.Replace(text, "\none\n", "\nONE\r\nmore", 1) })
	for range 2 { // seen by this process and by others alike, and only once
		wantNotes(t, s, "aaaaaaaa 2 ONE\nmore", "bbbbbbbb 1 two")
		wantNotes(t, files(t, base, "a"), "aaaaaaaa 2 ONE\nmore", "bbbbbbbb 1 two")
	}
	set, err := s.Notes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := set.Find("aaaaaaaa"); n.Author != notes.Person || n.Topic != "Deploy steps" || n.Created.Year() != 2026 {
		t.Errorf("got %+v", n)
	}
	if versions, err := s.Versions(t.Context(), "aaaaaaaa"); err != nil || !slices.Equal(shown(versions), []string{"aaaaaaaa 1 one", "aaaaaaaa 2 ONE\nmore"}) {
		t.Errorf("versions %q, %v", shown(versions), err)
	}
	write(t, s, note("aaaaaaaa", "Deploy steps", "three", 3))
	wantNotes(t, files(t, base, "a"), "aaaaaaaa 3 three", "bbbbbbbb 1 two")

	change(filepath.Join(dir, "mine.md"), func(string) string { return "# Coffee\n\nblack\n" })
	change(filepath.Join(dir, "broken.md"), func(string) string { return "---\ntopic: [\n---\ntext" })
	change(filepath.Join(dir, "notes.txt"), func(string) string { return "no note" })
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	change(filepath.Join(dir, "x copy.md"), func(string) string { return string(data) })
	set, err = s.Notes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	topics := map[string]*notes.Note{}
	ids := map[string]bool{}
	for _, n := range set.Notes {
		topics[n.Topic] = n
		ids[n.ID] = true
	}
	if len(set.Notes) != 5 || len(ids) != 5 {
		t.Errorf("%d notes have %d IDs: %q", len(set.Notes), len(ids), shown(set.Notes))
	}
	if n := topics["Coffee"]; n == nil || n.Version != 1 || n.Author != notes.Person {
		t.Errorf("a note without front matter: %+v", n)
	}
	if !slices.ContainsFunc(set.Notes, func(n *notes.Note) bool { return strings.HasPrefix(n.Flaw, "its front matter cannot be read") }) {
		t.Error("no note has the flaw")
	}
	for _, n := range set.Notes {
		if n.Content != "three" || n.ID == "aaaaaaaa" {
			continue
		}
		if versions, err := s.Versions(t.Context(), n.ID); err != nil || !slices.Equal(shown(versions), []string{n.ID + " 3 three"}) {
			t.Errorf("versions of a copy: %q, %v", shown(versions), err)
		}
		remove(t, s, n.ID)
	}
	coffee := topics["Coffee"]
	next := *coffee
	next.Version, next.Content = 2, "with milk"
	write(t, s, &next)
	if data, err := os.ReadFile(filepath.Join(dir, "mine.md")); err != nil || !strings.Contains(string(data), "with milk") {
		t.Errorf("it was written elsewhere: %q, %v", data, err)
	}
	for _, name := range []string{"mine.md", "broken.md"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	wantNotes(t, s, "aaaaaaaa 3 three", "bbbbbbbb 1 two")
	removed, err := s.Removed(t.Context())
	if err != nil || !slices.Contains(shown(removed), coffee.ID+" 2 with milk") {
		t.Errorf("removed by hand: %q, %v", shown(removed), err)
	}
}
