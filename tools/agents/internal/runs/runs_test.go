package runs_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/model"
	"toolcrib/tools/agents/internal/runs"
	"toolcrib/tools/internal/database"
	"toolcrib/workspace"
	"toolcrib/workspace/state/postgres"
)

// server is the PostgreSQL of all tests; nil where none is installed.
var server *postgres.Server

func TestMain(m *testing.M) {
	ctx := context.Background()
	var err error
	server, err = postgres.Start(ctx)
	if err != nil && !errors.Is(err, postgres.ErrMissing) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if server != nil {
		if err := server.Remove(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

// each runs a test with the stores of two processes, on both databases.
func each(t *testing.T, f func(t *testing.T, one, two *runs.Store)) {
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			url := ""
			if name == "postgres" {
				if server == nil {
					t.Skip("needs: postgresql: it is not installed")
				}
				url = server.URL()
			}
			base := t.TempDir()
			open := func() *runs.Store {
				ws, err := workspace.Open([]string{t.TempDir()}, workspace.Options{StateBase: base})
				if err != nil {
					t.Fatal(err)
				}
				source := new(database.Source)
				if err := source.Configure(url); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = source.Close(); ws.Close() })
				s, err := runs.Open(t.Context(), source, ws)
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			f(t, open(), open())
		})
	}
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

// Of two processes that go on with a run one does, and the other is told.
func TestJournal(t *testing.T) {
	each(t, func(t *testing.T, one, two *runs.Store) {
		ctx, id := t.Context(), rand.Text()
		said := []loop.Record{{Kind: loop.Said, At: time.Now().UTC(), Text: "x"}}
		if err := one.Create(ctx, runs.Run{ID: id, Principal: "p", Created: time.Now(), Spec: []byte("{}")}, said); err != nil {
			t.Fatal(err)
		}
		first, second := one.Journal(id), two.Journal(id)
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
		list, err := two.Records(ctx, id, 1)
		if err != nil || len(list) != 2 {
			t.Fatalf("%v, %v", list, err)
		}
		if diff := cmp.Diff(turn, list[0]); diff != "" {
			t.Error(diff)
		}
	})
}
