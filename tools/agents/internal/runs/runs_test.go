package runs_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/model"
	"toolcrib/tools/agents/internal/runs"
	"toolcrib/tools/internal/database"
	"toolcrib/tools/internal/database/databasetest"
)

var databases databasetest.Databases

func TestMain(m *testing.M) { databases.Main(m) }

// each runs a test with the stores of two processes, on both databases.
func each(t *testing.T, f func(t *testing.T, one, two *runs.Store)) {
	databases.Each(t, func(t *testing.T, url string) {
		base := t.TempDir()
		open := func() *runs.Store {
			source := new(database.Source)
			databasetest.Use(t, source, url)
			s, err := runs.Open(t.Context(), source, databasetest.Workspace(t, base, t.TempDir()))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		f(t, open(), open())
	})
}

func TestStore(t *testing.T) {
	each(t, func(t *testing.T, one, two *runs.Store) {
		ctx, now := t.Context(), time.Now().Truncate(time.Millisecond)
		unique := rand.Text() // the server of the tests may have seen others
		owner := "p" + unique
		old := runs.Run{ID: "old" + unique, Principal: owner, Created: now.Add(-runs.Lifetime - time.Hour), Spec: []byte(`{}`)}
		run := runs.Run{ID: "new" + unique, Principal: owner, Created: now, Spec: []byte(`{"task":"x"}`)}
		said := []loop.Record{{Kind: loop.Said, At: now.UTC(), Text: "x"}}
		if err := one.Create(ctx, old, said); err != nil {
			t.Fatal(err)
		}
		if err := one.Create(ctx, run, said); err != nil {
			t.Fatal(err)
		}
		if got, err := two.Get(ctx, run.ID, owner); err != nil || !cmp.Equal(got, run) {
			t.Errorf("%s, %v", cmp.Diff(run, got), err)
		}
		for _, c := range [][2]string{{run.ID, "other"}, {old.ID, owner}, {"none", owner}} {
			if _, err := two.Get(ctx, c[0], c[1]); tools.AsError(err).Code != tools.NotFound {
				t.Errorf("run %s of %s: %v", c[0], c[1], err)
			}
		}
		if list, err := two.List(ctx, owner, 10); err != nil || len(list) != 1 || list[0].ID != run.ID {
			t.Errorf("%v, %v", list, err)
		}
		if left, err := two.Records(ctx, old.ID, 0); err != nil || len(left) != 0 {
			t.Errorf("of a deleted run: %v, %v", left, err)
		}
	})
}

// The newest runs are found by how far they are, with a count of those that are left out.
func TestNewest(t *testing.T) {
	each(t, func(t *testing.T, one, two *runs.Store) {
		ctx, now := t.Context(), time.Now().Truncate(time.Millisecond)
		unique := rand.Text()
		said, end := loop.Record{Kind: loop.Said, At: now.UTC(), Text: "x"}, loop.Record{Kind: loop.End, At: now.UTC(), Status: loop.Completed}
		for i, records := range [][]loop.Record{{said}, {said, end}, {said}, {said, said, end}, {said, said}} {
			if err := one.Create(ctx, runs.Run{ID: fmt.Sprint(unique, i), Principal: unique, Created: now.Add(time.Duration(i) * time.Second), Spec: []byte(`{"title":"t"}`)}, records); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			ended bool
			limit int
			want  string
			older int
		}{{true, 50, "4/2 3/3 2/1 1/2 0/1", 0}, {true, 2, "4/2 3/3", 3}, {false, 50, "4/2 2/1 0/1", 0}, {false, 1, "4/2", 2}} {
			list, older, err := two.Newest(ctx, unique, c.limit, c.ended)
			var got []string
			for _, r := range list {
				if (r.Last.Kind == loop.End) != (r.Steps == 3 || r.ID == unique+"1") || string(r.Spec) != `{"title":"t"}` {
					t.Errorf("%+v", r)
				}
				got = append(got, fmt.Sprintf("%s/%d", r.ID[len(unique):], r.Steps))
			}
			if text := strings.Join(got, " "); err != nil || text != c.want || older != c.older {
				t.Errorf("%+v: %s, %d older, %v", c, text, older, err)
			}
		}
		if list, _, err := two.Newest(ctx, "nobody"+unique, 50, true); err != nil || len(list) != 0 {
			t.Errorf("of somebody else: %v, %v", list, err)
		}
	})
}

// Of two processes that go on with a run one does, and the other is told.
func TestJournal(t *testing.T) {
	each(t, func(t *testing.T, one, two *runs.Store) {
		ctx, id := t.Context(), rand.Text()
		said := []loop.Record{{Kind: loop.Said, At: time.Now().UTC(), Text: "x"}}
		if err := one.Create(ctx, runs.Run{ID: id, Principal: "p", Created: time.Now(), Spec: []byte("{}")}, said); err != nil {
			t.Fatal(err)
		}
		first, second := one.Journal(id, 0), two.Journal(id, 0)
		for _, j := range []*runs.Journal{first, second} {
			if list, err := j.Records(ctx); err != nil || len(list) != 1 {
				t.Fatalf("%v, %v", list, err)
			}
		}
		turn := loop.Record{Kind: loop.Turn, At: time.Now().UTC(), From: "m", Stop: model.Stop, Use: &model.Use{In: 1},
			Blocks: []model.Block{{Text: "\x00é"}, {Call: &model.Call{ID: "c", Name: "n", Arguments: []byte(`{}`)}}}}
		if err := first.Append(ctx, turn); err != nil {
			t.Fatal(err)
		}
		if err := second.Append(ctx, turn); tools.AsError(err).Code != tools.Conflict {
			t.Errorf("the second process was told %v", err)
		}
		if err := first.Append(ctx, loop.Record{Kind: loop.End, At: time.Now().UTC(), Status: loop.Completed}); err != nil {
			t.Error(err)
		}
		for owner, want := range map[string]int{"p": 3, "other": 0} {
			if n, err := two.Count(ctx, id, owner); err != nil || n != want {
				t.Errorf("%s: %d records, %v", owner, n, err)
			}
		}
		if n, last, err := two.Last(ctx, id); err != nil || n != 3 || last.Kind != loop.End {
			t.Errorf("%d records, the last %+v, %v", n, last, err)
		}
		if _, _, err := two.Last(ctx, "none"); tools.AsError(err).Code != tools.NotFound {
			t.Errorf("the last record of no run: %v", err)
		}
		list, err := two.Records(ctx, id, 1)
		if err != nil || len(list) != 2 {
			t.Fatalf("%v, %v", list, err)
		}
		if diff := cmp.Diff(turn, list[0]); diff != "" {
			t.Error(diff)
		}
	})
}

// A step is kept once the database answers again, also if an earlier try kept it and the answer was
// lost.
func TestJournalInsists(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	ws := databasetest.Workspace(t, base, t.TempDir())
	source := new(database.Source)
	databasetest.Use(t, source, "")
	s, err := runs.Open(t.Context(), source, ws)
	if err != nil {
		t.Fatal(err)
	}
	ctx, said := t.Context(), loop.Record{Kind: loop.Said, At: time.Now().UTC(), Text: "x"}
	if err := s.Create(ctx, runs.Run{ID: "r", Principal: "p", Created: time.Now(), Spec: []byte("{}")}, []loop.Record{said}); err != nil {
		t.Fatal(err)
	}
	if err := runs.Again(ctx, s.Journal("r", 0), said); err != nil {
		t.Errorf("the record that is there: %v", err)
	}
	said.Text = "y"
	if err := runs.Again(ctx, s.Journal("r", 0), said); tools.AsError(err).Code != tools.Conflict {
		t.Errorf("another one: %v", err)
	}
	db, err := source.Open(ctx, ws)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := db.SQL().Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer locked.Close()
	if _, err := locked.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Journal("r", 1).Append(ctx, said) }()
	select {
	case err := <-done:
		t.Fatalf("the database was locked: %v", err)
	case <-time.After(6 * time.Second): // longer than a call waits
	}
	if _, err := locked.ExecContext(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A run is stopped in whichever process is at work on it; one that nobody is at work on ends
// where it is stopped.
func TestStop(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, one, two *runs.Store) {
		ctx := t.Context()
		begin := func() (id string) {
			id = rand.Text()
			said := []loop.Record{{Kind: loop.Said, At: time.Now().UTC(), Text: "x"}}
			if err := one.Create(ctx, runs.Run{ID: id, Principal: "p", Created: time.Now(), Spec: []byte("{}")}, said); err != nil {
				t.Fatal(err)
			}
			return id
		}
		id := begin()
		journal := one.Journal(id, 0)
		if _, err := journal.Records(ctx); err != nil {
			t.Fatal(err)
		}
		work, end := one.Stopped(ctx, id)
		defer end()
		done := make(chan error, 1)
		go func() {
			<-work.Done()
			done <- journal.Append(ctx, loop.Record{Kind: loop.End, At: time.Now().UTC(), Status: loop.Cancelled, Text: context.Cause(work).Error()})
		}()
		got, err := two.Stop(ctx, id, "p", "enough")
		if err != nil || got.Status != loop.Cancelled || got.Text != "enough" {
			t.Errorf("%+v, %v", got, err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if again, err := two.Stop(ctx, id, "p", "once more"); err != nil || again.Text != "enough" {
			t.Errorf("a run that has ended: %+v, %v", again, err)
		}
		dead := begin()
		if got, err := two.Stop(ctx, dead, "p", "it hangs"); err != nil || got.Text != "it hangs" {
			t.Errorf("a run whose process has died: %+v, %v", got, err)
		}
		if _, err := two.Stop(ctx, dead, "other", "x"); tools.AsError(err).Code != tools.NotFound {
			t.Errorf("a run of somebody else: %v", err)
		}
		for _, run := range []string{id, dead} { // it may go on
			if why, err := runs.Marked(one, ctx, run); err != nil || why != "" {
				t.Errorf("a run that has ended is still to be stopped: %s, %v", why, err)
			}
		}
	})
}

func TestFind(t *testing.T) {
	each(t, func(t *testing.T, one, two *runs.Store) {
		ctx, owner := t.Context(), rand.Text()
		for _, id := range []string{"abc1", "abc2", "abd", "ab"} {
			if err := one.Create(ctx, runs.Run{ID: owner[:6] + id, Principal: owner, Created: time.Now(), Spec: []byte("{}")}, nil); err != nil {
				t.Fatal(err)
			}
		}
		for prefix, want := range map[string]string{"abc1": "abc1", "abd": "abd", "abc": "invalid_argument", "x": "not_found", "abc1x": "not_found", "a%": "not_found"} {
			got, err := two.Find(ctx, owner[:6]+prefix, owner)
			said := owner[:6] + want
			if err != nil {
				said, got.ID = want, string(tools.AsError(err).Code)
			}
			if got.ID != said {
				t.Errorf("%s: %s, %v", prefix, got.ID, err)
			}
		}
		for _, c := range [][2]string{{"", owner}, {owner[:6] + "abd", "other"}} {
			if got, err := two.Find(ctx, c[0], c[1]); err == nil || tools.AsError(err).Code != tools.NotFound {
				t.Errorf("%q of %s: %s, %v", c[0], c[1], got.ID, err)
			}
		}
	})
}
