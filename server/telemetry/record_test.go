package telemetry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	counted "toolcrib/server/counts"
	"toolcrib/server/run"
	"toolcrib/server/telemetry"
	"toolcrib/tools"
)

// recorded runs a server with a recorder in its own time, and returns how many
// records there are when it has ended.
func recorded(t *testing.T, base, root string, play func(t *testing.T, r *run.Runner)) int {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{toy()}}})
		s := telemetry.Sources{Version: "v1", Started: time.Now(), Stats: r.Stats}
		rec := telemetry.Record(base, []string{root}, s, slog.New(slog.DiscardHandler))
		play(t, r)
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
	})
	return len(files(t, base))
}

func files(t *testing.T, base string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(base, "shared", "stats.d", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func counts(t *testing.T, base string, since time.Time, dirs ...string) string {
	t.Helper()
	sum, err := telemetry.Summarize([]string{base, filepath.Join(base, "missing")}, since, dirs)
	if err != nil {
		t.Fatal(err)
	}
	total := sum.Total()
	return fmt.Sprintf("%d servers, %d calls, %d failed, %d unread", sum.Servers, total.Calls, total.Failed(), sum.Unread)
}

func TestRecords(t *testing.T) {
	base, project := t.TempDir(), t.TempDir()
	if n := recorded(t, base, project, func(*testing.T, *run.Runner) { time.Sleep(3 * time.Hour) }); n != 0 {
		t.Errorf("%d records of a server that nobody called", n)
	}
	n := recorded(t, base, project, func(t *testing.T, r *run.Runner) {
		time.Sleep(30 * time.Minute) // the record begins with the work
		for range 8 {
			call(t, r, "toy", `{}`, run.Trace{})
			call(t, r, "toy", `{"fail":true}`, run.Trace{})
			time.Sleep(20 * time.Minute)
		}
		call(t, r, "toy", `{}`, run.Trace{})
	})
	if n < 3 || n > 4 {
		t.Errorf("%d records of 160 minutes", n)
	}
	recorded(t, base, t.TempDir(), func(t *testing.T, r *run.Runner) {
		call(t, r, "toy", `{}`, run.Trace{})
		time.Sleep(15 * time.Second)
		before := counts(t, base, time.Time{}) // of the one that runs too
		if want := "2 servers, 18 calls, 8 failed, 0 unread"; before != want {
			t.Errorf("while the server runs: %s, want %s", before, want)
		}
	})
	for _, name := range files(t, base) {
		data, err := os.ReadFile(name)
		if err != nil || !json.Valid(data) {
			t.Errorf("%s: %v, %q", name, err, data)
		}
	}
	if err := os.WriteFile(filepath.Join(base, "shared", "stats.d", "OTHER.json"), []byte(`{"format":9}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "shared", "stats.d", "HALF.json.new"), []byte(`{"for`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		since time.Time
		dirs  []string
		want  string
	}{
		{time.Time{}, nil, "2 servers, 18 calls, 8 failed, 1 unread"},
		{time.Time{}, []string{"/other", project}, "1 servers, 17 calls, 8 failed, 1 unread"},
		{time.Now().Add(time.Hour), nil, "0 servers, 0 calls, 0 failed, 0 unread"},
	} {
		if got := counts(t, base, tc.since, tc.dirs...); got != tc.want {
			t.Errorf("since %v, %v: %s, want %s", tc.since, tc.dirs, got, tc.want)
		}
	}
}

// TestSweep has more records than are kept, and old ones.
func TestSweep(t *testing.T) {
	base := t.TempDir()
	one := func(t *testing.T, r *run.Runner) { call(t, r, "toy", `{}`, run.Trace{}) }
	recorded(t, base, t.TempDir(), one)
	folder := filepath.Join(base, "shared", "stats.d")
	long := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC) // before the time in the bubble of synctest
	for name, age := range map[string]time.Time{"OLD.json": long, "OLD.json.new": long, "YOUNG.json": time.Now()} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, age, age); err != nil {
			t.Fatal(err)
		}
	}
	recorded(t, base, t.TempDir(), one)
	var got []string
	for _, path := range files(t, base) {
		if name := filepath.Base(path); len(name) < 20 {
			got = append(got, name)
		}
	}
	if diff := cmp.Diff([]string{"YOUNG.json"}, got); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

// What tools use of models is summed up by day, model, tool and principal, over records.
func TestModels(t *testing.T) {
	base, project := t.TempDir(), t.TempDir()
	turn := tools.Usage{Model: "m", In: 100, Out: 10, CacheRead: 1000, Cost: 0.5}
	synctest.Test(t, func(t *testing.T) {
		thinks := tools.New(tools.Def[thinkIn, thinkOut]{
			Name: "thinks", Title: "Thinks", Doc: "Thinks.", Access: tools.Read, Effects: tools.None,
			Run: func(ctx context.Context, _ thinkIn) (thinkOut, error) {
				tools.Used(ctx, turn)
				tools.Used(ctx, turn)
				tools.Used(ctx, tools.Usage{Model: "n", Out: 1, Thinking: 1})
				return thinkOut{}, nil
			},
		})
		r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{thinks}}})
		s := telemetry.Sources{Version: "v1", Started: time.Now(), Stats: r.Stats}
		rec := telemetry.Record(base, []string{project}, s, slog.New(slog.DiscardHandler))
		call(t, r, "thinks", `{}`, run.Trace{})
		time.Sleep(90 * time.Minute) // a record ends meanwhile
		call(t, r, "thinks", `{}`, run.Trace{})
		time.Sleep(24 * time.Hour)
		call(t, r, "thinks", `{}`, run.Trace{})
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
	})
	sum, err := telemetry.Summarize([]string{base}, time.Time{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	day := func(day, model string, u tools.Usage) counted.Usage {
		u.Model = model
		return counted.Usage{Day: day, Tool: "thinks", Principal: sum.Used[0].Principal, Usage: u}
	}
	want := []counted.Usage{
		day("2000-01-02", "m", tools.Usage{Turns: 2, In: 200, Out: 20, CacheRead: 2000, Cost: 1}),
		day("2000-01-02", "n", tools.Usage{Turns: 1, Out: 1, Thinking: 1}),
		day("2000-01-01", "m", tools.Usage{Turns: 4, In: 400, Out: 40, CacheRead: 4000, Cost: 2}),
		day("2000-01-01", "n", tools.Usage{Turns: 2, Out: 2, Thinking: 2}),
	}
	if diff := cmp.Diff(want, sum.Used); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

type thinkIn struct{}

type thinkOut struct{}
