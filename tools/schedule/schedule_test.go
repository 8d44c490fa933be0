package schedule_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/database"
	"toolcrib/tools/internal/database/databasetest"
	"toolcrib/tools/internal/services"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/schedule"
	"toolcrib/workspace"
)

var databases databasetest.Databases

func TestMain(m *testing.M) { databases.Main(m) }

// ToyIn is the input of the toys.
type ToyIn struct {
	Pattern []string `json:"pattern,omitempty" jsonschema_description:"What to find."`
}

// ToyOut is what a toy says.
type ToyOut struct{ text string }

// Text implements [tools.Texter].
func (o ToyOut) Text() string { return o.text }

func toy(name string, access tools.Access, run func(ctx context.Context, in ToyIn) (ToyOut, error)) tools.Tool {
	effects := tools.None
	if access != tools.Read {
		effects = tools.Process
	}
	return tools.New(tools.Def[ToyIn, ToyOut]{
		Name: name, Title: "Toy " + name, Doc: "Does " + name + ".", Access: access, Effects: effects,
		Examples: []tools.Example[ToyIn]{{Say: "Try it."}}, Run: run,
	})
}

func globber() tools.Tool {
	return toy("glob", tools.Read, func(context.Context, ToyIn) (ToyOut, error) { return ToyOut{"1 file\na.iso\n"}, nil })
}

func TestTools(t *testing.T) {
	caller := &tooltest.Caller{All: []tools.Tool{globber()}}
	c := schedule.Category(&services.Services{Caller: caller})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, tool := range c.Tools {
		t.Run(tool.Name, func(t *testing.T) { tooltest.Run(t, tool) })
	}
}

// desk is a workspace with schedules, and a clock.
type desk struct {
	schedule.Deps
	t   *testing.T
	ctx context.Context

	mu    sync.Mutex
	now   time.Time
	calls []string // "NAME TIME"
	noted func()   // what note does as well
}

func (d *desk) at(text string) {
	d.t.Helper()
	now, err := time.Parse(time.RFC3339, text)
	if err != nil {
		d.t.Fatal(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = now
}

func (d *desk) clock() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

// newDesk makes one whose toys are note, which notes that it was called, run, which runs a
// program, and stuck, which ends with its context.
func newDesk(t *testing.T, url string) *desk {
	t.Helper()
	return deskAt(t, url, t.TempDir(), t.TempDir())
}

// deskAt makes one whose state is below base.
func deskAt(t *testing.T, url, base, root string) *desk {
	t.Helper()
	ws, err := workspace.Open([]string{root}, workspace.Options{StateBase: base, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t}
	note := func(ctx context.Context, in ToyIn) (ToyOut, error) {
		if d.noted != nil {
			d.noted()
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.calls = append(d.calls, tools.Session(ctx).Client.Name)
		return ToyOut{strings.Join(in.Pattern, " ")}, nil
	}
	stuck := func(ctx context.Context, in ToyIn) (ToyOut, error) {
		if _, err := note(ctx, in); err != nil {
			return ToyOut{}, err
		}
		<-ctx.Done()
		return ToyOut{}, ctx.Err()
	}
	fails := func(context.Context, ToyIn) (ToyOut, error) {
		return ToyOut{}, tools.Errorf(tools.NotFound, "nothing here")
	}
	source := new(database.Source)
	if err := source.Configure(url); err != nil {
		t.Fatal(err)
	}
	d.Deps = schedule.New(&tooltest.Caller{All: []tools.Tool{
		toy("note", tools.Read, note), toy("run", tools.Exec, note), toy("stuck", tools.Read, stuck), toy("fails", tools.Read, fails),
	}}, source, d.clock)
	d.ctx = tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: ws})
	t.Cleanup(func() {
		if err := errors.Join(schedule.Close(d.Deps), source.Close(), ws.Close()); err != nil {
			t.Error(err)
		}
	})
	if url != "" { // its first use makes tables, which takes long on a busy machine
		if _, err := schedule.Left(d.ctx, d.Deps); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// call calls a tool and returns its text or its error.
func (d *desk) call(name, args string) string {
	d.t.Helper()
	for _, tool := range schedule.Tools(d.Deps) {
		if tool.Name != name {
			continue
		}
		bound, err := tool.Bind(json.RawMessage(args))
		if err != nil {
			return err.Error()
		}
		out, err := tool.Run(d.ctx, bound)
		if err != nil {
			return err.Error()
		}
		res, err := tool.Render(out)
		if err != nil {
			d.t.Fatal(err)
		}
		return tooltest.Text(res)
	}
	d.t.Fatalf("no tool %q", name)
	return ""
}

// tick starts what is due, and waits until no run is going on.
func (d *desk) tick(at string) {
	d.t.Helper()
	d.due(at)
	d.settle()
}

// due starts what is due. Like a server, it looks again while the engine is not ready.
func (d *desk) due(at string) {
	d.t.Helper()
	d.at(at)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		_, err := schedule.Tick(d.ctx, d.Deps, d.clock())
		if err == nil {
			return
		}
		if !errors.Is(err, context.DeadlineExceeded) || time.Now().After(end) {
			d.t.Fatal(err)
		}
	}
}

func (d *desk) settle() {
	d.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if list := d.call("schedule_list", "{}"); !strings.Contains(list, ": running") && !strings.Contains(list, ": queued") {
			break
		}
		if time.Now().After(end) {
			d.t.Fatal("a run does not end")
		}
	}
}

// made returns the calls that runs have made so far.
func (d *desk) made() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.calls)
}

// ran returns the number of calls that runs have made so far; it waits until there are at
// least so many.
func (d *desk) ran(n int) int {
	d.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		got := len(d.made())
		if got >= n || time.Now().After(end) {
			d.settle()
			return got
		}
	}
}

func expect(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("got %q\nwant %q in it", got, w)
		}
	}
}

func TestRuns(t *testing.T) {
	d := newDesk(t, "")
	d.at("2026-05-04T08:00:00Z")
	expect(t, d.call("schedule_create", `{"name":"a","when":"*/15 * * * *","zone":"UTC","tool":"note","arguments":{"pattern":["x"]}}`),
		"schedule a calls note", "next: Mon 2026-05-04 08:15 UTC, Mon 2026-05-04 08:30 UTC", "toolcrib schedule install")
	d.tick("2026-05-04T08:14:59Z")
	if n := d.ran(0); n != 0 {
		t.Fatalf("%d runs before the first slot", n)
	}
	d.tick("2026-05-04T08:15:01Z")
	d.tick("2026-05-04T08:15:02Z") // the same slot
	if n := d.ran(1); n != 1 {
		t.Errorf("%d runs of one slot", n)
	}
	expect(t, d.call("schedule_list", `{"name":"a"}`), "next Mon 2026-05-04 08:30 UTC", "started 1, missed 0", ": ok", "    x")
	d.tick("2026-05-04T08:30:00Z")
	if n := d.ran(2); n != 2 {
		t.Errorf("%d runs of two slots", n)
	}
	if len(d.calls) > 0 && d.calls[0] != "schedule a" {
		t.Errorf("the client is %q", d.calls[0])
	}
	expect(t, d.call("schedule_run", `{"name":"a"}`), ": ok, by schedule_run", "    x")
	expect(t, d.call("schedule_list", `{"name":"a"}`), "next Mon 2026-05-04 08:45 UTC")
	expect(t, d.call("schedule_delete", `{"name":"a"}`), "schedule a is deleted")
	d.tick("2026-05-04T09:00:00Z")
	if n := d.ran(3); n != 3 {
		t.Errorf("%d runs", n)
	}
}

// A machine sleeps, and its clock is set forth and back.
func TestMissed(t *testing.T) {
	for _, c := range []struct {
		missed string
		ran    int // slots that ran before
		sleeps string
		runs   int
		want   string
	}{
		{"once", 1, "2026-05-04T17:00:30Z", 1, "30s late, 8 missed before it"},
		{"once", 0, "2026-05-04T17:00:30Z", 0, "missed 9"},
		{"once", 1, "2026-05-04T17:00:05Z", 1, "8 missed before it"}, // the one that is due now is the late one
		{"skip", 1, "2026-05-04T17:00:30Z", 0, "missed 9"},
		{"all", 1, "2026-05-04T17:00:30Z", 9, "missed 0"},
	} {
		t.Run(c.missed+c.sleeps, func(t *testing.T) {
			d := newDesk(t, "")
			d.at("2026-05-04T07:30:00Z")
			if c.ran == 0 {
				d.at("2026-05-04T08:30:00Z")
			}
			d.call("schedule_create", `{"name":"a","when":"0 * * * *","zone":"UTC","tool":"note","overlap":"queue","missed":"`+c.missed+`"}`)
			if c.ran == 1 {
				d.tick("2026-05-04T08:00:00Z")
			}
			if n := d.ran(c.ran); n != c.ran {
				t.Fatalf("%d runs before", n)
			}
			d.tick(c.sleeps)
			if n := d.ran(c.ran+c.runs) - c.ran; n != c.runs {
				t.Errorf("%d late runs, want %d", n, c.runs)
			}
			expect(t, d.call("schedule_list", `{"name":"a"}`), c.want)
			// Back: what ran does not run again.
			d.tick("2026-05-04T08:00:05Z")
			before := d.ran(0)
			d.tick("2026-05-04T08:00:06Z")
			if n := d.ran(0); n != before || n != c.ran+c.runs {
				t.Errorf("%d runs after the clock went back, before %d", n, c.ran+c.runs)
			}
			d.tick("2026-05-04T09:00:01Z")
			again := 1
			if c.missed == "all" {
				again = 0 // it has run already
			}
			if n := d.ran(before + again); n != before+again {
				t.Errorf("%d runs at the next slot after the clock went back, before %d", n, before)
			}
		})
	}
}

// A server starts with schedules that are days old: one late run of the one that has run
// before, told, and none of the one that has not.
func TestOld(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, url string) {
		base, root := t.TempDir(), t.TempDir()
		t.Run("before", func(t *testing.T) {
			d := deskAt(t, url, base, root)
			d.at("2026-05-04T08:00:00Z")
			d.call("schedule_create", `{"name":"ran","when":"0 * * * *","zone":"UTC","tool":"note"}`)
			d.call("schedule_create", `{"name":"new","when":"30 * * * *","zone":"UTC","tool":"note"}`)
			d.call("schedule_create", `{"name":"once","when":"at 2026-05-05 12:00","zone":"UTC","tool":"note"}`)
			d.call("schedule_run", `{"name":"new"}`) // which is none of its slots
			d.at("2026-05-04T09:00:00Z")
			d.call("schedule_delete", `{"name":"new"}`)
			d.call("schedule_create", `{"name":"new","when":"30 * * * *","zone":"UTC","tool":"note"}`)
			d.tick("2026-05-04T09:00:01Z")
			d.ran(2)
		})
		d := deskAt(t, url, base, root)
		d.tick("2026-05-07T09:45:00Z")
		if n := d.ran(2); n != 2 {
			t.Errorf("%d late runs of schedules that have run or are for once", n)
		}
		expect(t, d.call("schedule_list", `{"name":"ran"}`), "ok, 45m0s late, 71 missed before it")
		expect(t, d.call("schedule_list", `{"name":"new"}`), "started 0, missed 73")
		expect(t, d.call("schedule_list", `{"name":"once"}`), "over: it was for once", "ok, 45h45m0s late")
	})
}

// The machine sleeps, so that timers do not know how late it is: a run begins within half a
// minute after it wakes up.
func TestSleep(t *testing.T) {
	t.Parallel() // it waits most of the time
	d := newDesk(t, "")
	d.at("2026-05-04T08:00:00Z")
	d.call("schedule_create", `{"name":"a","when":"at 2026-05-04 16:00","zone":"UTC","tool":"note"}`)
	t.Cleanup(schedule.Start(d.ctx, d.Deps))
	time.Sleep(500 * time.Millisecond) // so that it has looked, and waits
	d.at("2026-05-04T17:00:00Z")
	begin := time.Now()
	for len(d.made()) == 0 {
		if time.Since(begin) > 45*time.Second {
			t.Fatal("no run")
		}
		time.Sleep(50 * time.Millisecond)
	}
	d.settle()
	expect(t, d.call("schedule_list", `{"name":"a"}`), "ok, 1h0m0s late")
}

// PostgreSQL is stopped in the middle: calls say so in time, and what was due runs when it is
// back, once.
func TestOutage(t *testing.T) {
	t.Parallel()
	ctx, own := context.WithoutCancel(t.Context()), databasetest.Start(t)
	d := newDesk(t, own.URL())
	d.at("2026-05-04T08:00:00Z")
	d.call("schedule_create", `{"name":"a","when":"every 10m","zone":"UTC","tool":"note","overlap":"queue"}`)
	d.tick("2026-05-04T08:10:00Z")
	d.ran(1)
	for i, minute := range []string{"20", "30"} {
		if err := own.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		d.at("2026-05-04T08:" + minute + ":00Z")
		for tool, args := range map[string]string{"": "", "schedule_list": "{}", "schedule_run": `{"name":"a"}`, "schedule_create": `{"name":"b","when":"every 10m","tool":"note"}`} {
			begin, got := time.Now(), ""
			if tool == "" {
				if _, err := schedule.Tick(d.ctx, d.Deps, d.clock()); err != nil {
					got = err.Error()
				}
			} else {
				got = d.call(tool, args)
			}
			if took := time.Since(begin); !strings.HasPrefix(got, "unavailable: ") || took > 6*time.Second {
				t.Errorf("%s: %q after %s", tool, got, took)
			}
		}
		if err := own.Restart(ctx); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
			if _, err := schedule.Tick(d.ctx, d.Deps, d.clock()); err == nil {
				break
			} else if time.Now().After(end) {
				t.Fatal(err)
			}
		}
		for end := time.Now().Add(time.Minute); len(d.made()) < i+2 && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
	}
	d.settle()
	if n := len(d.made()); n != 3 {
		t.Errorf("%d calls of three slots", n)
	}
	expect(t, d.call("schedule_list", `{"name":"a"}`), "started 3, missed 0", "08:30 UTC: ok", "08:20 UTC: ok", "08:10 UTC: ok")
}

func TestLimits(t *testing.T) {
	d := newDesk(t, "")
	d.at("2026-05-04T08:00:00Z")
	d.call("schedule_create", `{"name":"once","when":"in 10m","zone":"UTC","tool":"note"}`)
	d.call("schedule_create", `{"name":"twice","when":"every 10m","zone":"UTC","tool":"note","max_runs":2}`)
	d.call("schedule_create", `{"name":"until","when":"every 10m","zone":"UTC","tool":"note","until":"2026-05-04 08:15"}`)
	for _, c := range []struct {
		at   string
		runs int
	}{{"08:10:01", 3}, {"08:20:01", 4}, {"08:30:01", 4}} {
		d.tick("2026-05-04T" + c.at + "Z")
		if n := d.ran(c.runs); n != c.runs {
			t.Errorf("%d runs until %s, want %d", n, c.at, c.runs)
		}
	}
	expect(t, d.call("schedule_list", "{}"), "over: it was for once", "over: it has run 2 times", "over: its time is over")
}

func TestOverlap(t *testing.T) {
	for overlap, want := range map[string]string{"skip": "skipped", "replace": "cancelled: the next run took its place"} {
		t.Run(overlap, func(t *testing.T) {
			d := newDesk(t, "")
			d.at("2026-05-04T08:00:00Z")
			d.call("schedule_create", `{"name":"a","when":"every 10m","zone":"UTC","tool":"stuck","overlap":"`+overlap+`"}`)
			for _, at := range []string{"2026-05-04T08:10:00Z", "2026-05-04T08:20:00Z"} {
				d.due(at)
				for end := time.Now().Add(20 * time.Second); !strings.Contains(d.call("schedule_list", `{"name":"a"}`), ": running") && time.Now().Before(end); {
					time.Sleep(10 * time.Millisecond)
				}
			}
			for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				if list := d.call("schedule_list", `{"name":"a"}`); strings.Contains(list, want) && strings.Contains(list, ": running") {
					break
				}
			}
			expect(t, d.call("schedule_list", `{"name":"a"}`), want, ": running")
			expect(t, d.call("schedule_delete", `{"name":"a","cancel":true}`), "1 run was ended")
		})
	}
}

// Runs that wait are shown, and do not begin once their schedule is deleted. The one that is
// running is shown first, however many have come after it.
func TestQueue(t *testing.T) {
	t.Parallel()
	databases.Each(t, queues)
}

func queues(t *testing.T, url string) {
	d := newDesk(t, url)
	d.at("2026-05-04T08:00:00Z")
	d.call("schedule_create", `{"name":"a","when":"every 1s","zone":"UTC","tool":"stuck","overlap":"queue"}`)
	lists := func(want string, n int) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			list := d.call("schedule_list", `{"name":"a"}`)
			if strings.Count(list, want) == n {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("not %d x %q: %s", n, want, list)
			}
		}
	}
	for _, at := range []string{"2026-05-04T08:00:01Z", "2026-05-04T08:00:03Z"} {
		d.due(at)
		lists("08:00:01 UTC: running", 1)
	}
	lists(": queued: an earlier run has not ended: 20260504T080001Z", 2)
	expect(t, d.call("schedule_list", `{"name":"a","limit":1}`), "08:00:01 UTC: running")
	expect(t, d.call("schedule_delete", `{"name":"a","cancel":true}`), "1 run was ended")
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		left, err := schedule.Left(d.ctx, d.Deps)
		if err != nil {
			t.Fatal(err)
		}
		if left == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d runs are left", left)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.calls) != 1 {
		t.Errorf("%d calls of which one was to wait for the end of the other", len(d.calls))
	}
}

// Runs that wait begin in the order of their slots, whichever server has them; those that
// schedule_run has made, when they came.
func TestQueueOrder(t *testing.T) {
	t.Parallel()
	databases.Each(t, queueOrder)
}

func queueOrder(t *testing.T, url string) {
	base, root := t.TempDir(), t.TempDir()
	d, second := deskAt(t, url, base, root), deskAt(t, url, base, root)
	var mu sync.Mutex
	var order []string
	for _, each := range []*desk{d, second} {
		each.noted = func() {
			run, err := schedule.Now(each.ctx, each.Deps, "a")
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			order = append(order, run)
		}
	}
	d.at("2026-05-04T07:59:58Z")
	d.call("schedule_create", `{"name":"a","when":"* * * * * *","zone":"UTC","tool":"note","overlap":"queue","missed":"all"}`)
	d.tick("2026-05-04T08:00:00Z")
	d.ran(2)
	expect(t, d.call("schedule_run", `{"name":"a"}`), ": ok, by schedule_run")
	for _, at := range []string{"2026-05-04T08:00:10Z", "2026-05-04T08:00:15Z"} {
		var both sync.WaitGroup
		for _, each := range []*desk{d, second} {
			each.at(at)
			both.Go(func() {
				_, err := schedule.Tick(each.ctx, each.Deps, each.clock())
				for again := 0; err != nil && tools.AsError(err).Code == tools.Unavailable && again < 5; again++ { // as a server does
					_, err = schedule.Tick(each.ctx, each.Deps, each.clock())
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
	}
	const slots = 17
	slotted := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.DeleteFunc(slices.Clone(order), func(run string) bool { return strings.HasPrefix(run, "now-") })
	}
	for end := time.Now().Add(time.Minute); len(slotted()) < slots && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if got := slotted(); len(got) != slots || !slices.IsSorted(got) {
		t.Errorf("%d runs in this order: %q", len(got), got)
	}
}

// Of runs that are to replace each other the last one stays.
func TestReplaceOrder(t *testing.T) {
	t.Parallel()
	databases.Each(t, replaceOrder)
}

func replaceOrder(t *testing.T, url string) {
	d := newDesk(t, url)
	d.at("2026-05-04T08:00:00Z")
	d.call("schedule_create", `{"name":"a","when":"* * * * * *","zone":"UTC","tool":"stuck","overlap":"replace"}`)
	d.due("2026-05-04T08:00:09Z")
	const last = "20260504T080009Z"
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		list := d.call("schedule_list", `{"name":"a"}`)
		if now, err := schedule.Now(d.ctx, d.Deps, "a"); err != nil {
			t.Fatal(err)
		} else if now == last && strings.Count(list, ": cancelled: ") == 8 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the last one does not run: %s", list)
		}
	}
	expect(t, d.call("schedule_delete", `{"name":"a","cancel":true}`), "1 run was ended")
}

func TestRefused(t *testing.T) {
	d := newDesk(t, "")
	d.at("2026-05-04T08:00:00Z")
	for args, want := range map[string]string{
		`{"name":"a/b","when":"every 5m","tool":"note"}`:                             "/name",
		`{"name":"a","when":"0 0 30 2 *","tool":"note"}`:                             "never comes",
		`{"name":"a","when":"at 2020-01-01 00:00","tool":"note"}`:                    "is past",
		`{"name":"a","when":"every 5m","zone":"Mars/Base","tool":"note"}`:            "not an IANA zone",
		`{"name":"a","when":"every 5m","tool":"nothing"}`:                            "nothing",
		`{"name":"a","when":"every 5m","tool":"note","arguments":{"patern":["x"]}}`:  "pattern",
		`{"name":"a","when":"every 5m","tool":"note","until":"2026-05-04 08:01"}`:    "is past",
		`{"name":"a","when":"every 5m","tool":"note","arguments":{"pattern":"a\""}}`: "",
	} {
		if got := d.call("schedule_create", args); !strings.Contains(got, want) {
			t.Errorf("%s: %s", args, got)
		}
	}
	expect(t, d.call("schedule_create", `{"name":"a","when":"every 5m","tool":"note"}`), "already_exists")
	expect(t, d.call("schedule_run", `{"name":"b"}`), "not_found", "there are a")
}

// What runs programs is asked about, with its arguments and its next times.
func TestQuestion(t *testing.T) {
	d := newDesk(t, "")
	d.at("2026-05-04T08:00:00Z")
	tool := schedule.Tools(d.Deps)[0]
	for name, want := range map[string]string{"note": "", "run": "Let it run by itself, at Mon 2026-05-04 08:05 UTC, Mon 2026-05-04 08:10 UTC, Mon 2026-05-04 08:15 UTC (every 5m)?\nrun run?\ntool: run\narguments: {\"pattern\":[\"<x>\"]}"} {
		bound, err := tool.Bind(json.RawMessage(`{"name":"a","when":"every 5m","zone":"UTC","tool":"` + name + `","arguments":{"pattern":["<x>"]}}`))
		if err != nil {
			t.Fatal(err)
		}
		q, err := tool.Question(d.ctx, bound)
		if err != nil || q.Message != want {
			t.Errorf("%s: %q, %v", name, q.Message, err)
		}
	}
}

// What does not fit is counted, and named where it can be read.
func TestLeftOut(t *testing.T) {
	d := newDesk(t, "")
	d.at("2026-05-04T08:00:00Z")
	d.call("schedule_create", `{"name":"a","when":"every 10m","zone":"UTC","tool":"note","arguments":{"pattern":["`+strings.Repeat("x", 15_000)+`"]}}`)
	for i, at := range []string{"08:10:01", "08:20:01", "08:30:01"} {
		d.tick("2026-05-04T" + at + "Z")
		d.ran(i + 1)
	}
	list := d.call("schedule_list", `{"name":"a"}`)
	expect(t, list, "08:30:01 UTC: ok", "left out: 1 older run, which toolcrib://schedule/a has")
	if strings.Contains(list, "08:10:01") {
		t.Errorf("the oldest is there: %d bytes", len(list))
	}
}

// Where no server would ever run a schedule, none is made, and nobody is asked about it.
func TestPrincipals(t *testing.T) {
	d := newDesk(t, "")
	d.at("2026-05-04T08:00:00Z")
	as := func(principal string) context.Context {
		return tools.WithSession(d.ctx, &tools.SessionInfo{Principal: principal, Workspace: tools.Session(d.ctx).Workspace})
	}
	const args = `{"name":"a","when":"every 5m","tool":"run"}`
	create := schedule.Tools(d.Deps)[0]
	bound, err := create.Bind(json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	for _, principal := range []string{"ci", tools.Anonymous} {
		q, err := create.Question(as(principal), bound)
		if e := tools.AsError(err); err == nil || e.Code != tools.Unsupported {
			t.Errorf("%s: asked %q, %v", principal, q.Message, err)
		}
	}
	d.ctx = as(tools.Anonymous)
	t.Cleanup(schedule.Start(d.ctx, d.Deps))
	expect(t, d.call("schedule_create", args), "this server runs it for as long as it is up")
	d.ctx = as("ci")
	expect(t, d.call("schedule_create", args), "unsupported")
}

func TestFailure(t *testing.T) {
	d := newDesk(t, "")
	d.at("2026-05-04T08:00:00Z")
	d.call("schedule_create", `{"name":"a","when":"every 10m","zone":"UTC","tool":"fails","retries":3}`)
	d.tick("2026-05-04T08:10:00Z")
	for end := time.Now().Add(20 * time.Second); !strings.Contains(d.call("schedule_list", `{"name":"a"}`), "failed") && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	expect(t, d.call("schedule_list", `{"name":"a"}`), ": failed: not_found: nothing here")
}
