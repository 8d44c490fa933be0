package durable_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/durable"
	"toolcrib/tools/internal/database"
	"toolcrib/tools/internal/database/databasetest"
	"toolcrib/workspace/state"
)

// A test process with workerVar is a worker: it carries out the runs of a base directory until
// it is killed.
const (
	workerVar   = "DURABLE_TEST_WORKER"
	databaseVar = "DURABLE_TEST_DATABASE"
)

// drowsy has a worker report so late, once, that the others take it for dead.
const drowsy = "drowsy"

func TestMain(m *testing.M) {
	if base := os.Getenv(workerVar); base != "" {
		work(base, os.Getenv(databaseVar))
		return
	}
	databases.Main(m)
}

// databases are those of all tests.
var databases databasetest.Databases

// open opens the database of a URL; nil for SQLite, which the engine opens.
func open(url string) *database.DB {
	if url == "" {
		return nil
	}
	source := new(database.Source)
	if err := source.Configure(url); err != nil {
		panic(err)
	}
	db, err := source.Open(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	return db
}

// deadAfter is that of the tests.
const deadAfter = 3 * time.Second

// scope tells apart the tests, which share a PostgreSQL.
func scope(base string) string {
	return "test-" + strings.Trim(strings.ToLower(strings.ReplaceAll(base, "/", "-")), "-")
}

// work opens the engine, prints "ready" and uses it now and then.
func work(base, url string) {
	dir, err := state.Open(base, "/root")
	if err != nil {
		panic(err)
	}
	e := durable.New(durable.Options{State: dir, Database: open(url), Scope: scope(base), DeadAfter: deadAfter, Kinds: kinds(filepath.Join(base, "effects"))})
	usual := *durable.TendEvery
	if slices.Contains(os.Args, drowsy) {
		*durable.TendEvery = 8 * time.Second
	}
	if _, err := e.List(context.Background(), "count", "", 1); err != nil {
		panic(err)
	}
	*durable.TendEvery = usual // from the next launch on
	fmt.Println("ready")
	for {
		time.Sleep(time.Second)
		_, _ = e.List(context.Background(), "count", "", 1) // launches it again if others took it for dead
	}
}

// released reports whether effects that are held may end.
func released(effects string) bool {
	_, err := os.Stat(effects + ".released")
	return err == nil
}

// kinds are those of the tests: count notes three effects in a file, and so do slow and held, whose
// effects last; hang begins one and never ends.
func kinds(effects string) map[string]durable.Kind {
	note := func(line string) error {
		f, err := os.OpenFile(effects, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(f, line)
		return errors.Join(err, f.Close())
	}
	effect := func(r *durable.Run, name string, repeatable bool, then func(ctx context.Context)) (string, error) {
		got, err := durable.Effect(r, name, repeatable, func(ctx context.Context) (string, error) {
			err := note(r.ID() + " " + name)
			then(ctx)
			return "did " + name, err
		})
		if unknown, ok := errors.AsType[*durable.Unknown](err); ok {
			return "unknown " + name, note(fmt.Sprintf("%s unknown %s %t", r.ID(), name, unknown.Began.IsZero()))
		}
		return got, err
	}
	three := func(then func()) func(r *durable.Run, _ json.RawMessage) (json.RawMessage, error) {
		return func(r *durable.Run, _ json.RawMessage) (json.RawMessage, error) {
			var all []string
			for _, name := range []string{"a", "b", "c"} {
				got, err := effect(r, name, false, func(context.Context) { then() })
				if err != nil {
					return nil, err
				}
				all = append(all, got)
			}
			return json.Marshal(all)
		}
	}
	endless := func(r *durable.Run, _ json.RawMessage) (json.RawMessage, error) {
		if err := note(r.ID() + " begun"); err != nil {
			return nil, err
		}
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return map[string]durable.Kind{
		"count": {Do: three(func() { time.Sleep(5 * time.Millisecond) })},
		"slow":  {Do: three(func() { time.Sleep(500 * time.Millisecond) })},
		"held": {Do: three(func() {
			for !released(effects) {
				time.Sleep(time.Millisecond)
			}
		})},
		"hang": {Do: func(r *durable.Run, input json.RawMessage) (json.RawMessage, error) {
			var repeatable bool
			if err := json.Unmarshal(input, &repeatable); err != nil {
				return nil, err
			}
			got, err := effect(r, "hang", repeatable, func(ctx context.Context) {
				if len(os.Args) == 1 { // the first worker
					<-ctx.Done()
				}
			})
			if err != nil {
				return nil, err
			}
			return json.Marshal(got)
		}},
		"fatal": {
			Do:        endless,
			Adoptions: 1, GivenUp: func(_ context.Context, id string) error { return note(id + " given up") },
		},
		"trap": {
			Do:        endless,
			Adoptions: -1, GivenUp: func(ctx context.Context, id string) error {
				err := note(id + " given up")
				if slices.Contains(os.Args, "trapped") {
					<-ctx.Done()
				}
				return err
			},
		},
		"talk": {Do: func(r *durable.Run, input json.RawMessage) (json.RawMessage, error) {
			if err := r.Write("said", "hello"); err != nil {
				return nil, err
			}
			message, ok, err := r.Receive("answer", 20*time.Second)
			if err != nil || !ok {
				return nil, fmt.Errorf("no answer: %w", err)
			}
			return durable.Step(r, "repeat", func(context.Context) (json.RawMessage, error) { return message, nil })
		}},
		"fail": {Do: func(r *durable.Run, _ json.RawMessage) (json.RawMessage, error) {
			return durable.Step(r, "fail", func(context.Context) (json.RawMessage, error) { return nil, errors.New("no luck") })
		}},
	}
}

type bench struct {
	*durable.Engine
	base, url, effects string
}

func newBench(t *testing.T, url string, idle time.Duration) *bench {
	t.Helper()
	b := &bench{base: t.TempDir(), url: url}
	b.effects = filepath.Join(b.base, "effects")
	dir, err := state.Open(b.base, "/root")
	if err != nil {
		t.Fatal(err)
	}
	own := kinds(b.effects)
	delete(own, "hang") // which workers carry out
	delete(own, "fatal")
	delete(own, "slow")
	delete(own, "trap")
	b.Engine = durable.New(durable.Options{State: dir, Database: open(url), Scope: scope(b.base), DeadAfter: deadAfter, Kinds: own, IdleAfter: idle})
	t.Cleanup(func() {
		if err := errors.Join(b.Close(), dir.Close()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// worker starts another process that carries out runs.
func (b *bench) worker(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), workerVar+"="+b.base, databaseVar+"="+b.url)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the worker says %q", line)
	}
	return cmd
}

func (b *bench) noted(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(b.effects)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func TestOneRunOfAnID(t *testing.T) { databases.Each(t, oneRunOfAnID) }

func oneRunOfAnID(t *testing.T, url string) {
	b := newBench(t, url, 0)
	for i, want := range []bool{true, false} {
		got, err := b.Start(t.Context(), "count", "x", nil)
		if err != nil || got != want {
			t.Errorf("start %d: %t, %v", i, got, err)
		}
	}
	result, err := b.Wait(t.Context(), "count", "x")
	if err != nil || string(result) != `["did a","did b","did c"]` {
		t.Errorf("result %s, %v", result, err)
	}
	if got := b.noted(t); !slices.Equal(got, []string{"x a", "x b", "x c"}) {
		t.Errorf("effects %q", got)
	}
	if queued, err := b.Enqueue(t.Context(), "count", "x", nil); queued || err != nil {
		t.Errorf("enqueued again: %t, %v", queued, err)
	}
	info, err := b.Get(t.Context(), "count", "x")
	if err != nil || info.State != durable.Done || info.Ended.IsZero() {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := b.Get(t.Context(), "count", "y"); !errors.Is(err, durable.ErrNone) {
		t.Errorf("no such run: %v", err)
	}
	steps, err := b.Steps(t.Context(), "count", "x")
	if want := []string{"a begins", "a", "b begins", "b", "c begins", "c"}; err != nil || !slices.Equal(steps, want) {
		t.Errorf("steps %q, %v", steps, err)
	}
}

func TestFailure(t *testing.T) { databases.Each(t, failure) }

func failure(t *testing.T, url string) {
	b := newBench(t, url, 0)
	if _, err := b.Start(t.Context(), "fail", "x", nil); err != nil {
		t.Fatal(err)
	}
	_, err := b.Wait(t.Context(), "fail", "x")
	if failure, ok := errors.AsType[*durable.Failure](err); !ok || !strings.Contains(failure.Text, "no luck") {
		t.Errorf("%v", err)
	}
}

func TestMessageStreamForkPrune(t *testing.T) {
	t.Parallel()
	databases.Each(t, messageStreamForkPrune)
}

func messageStreamForkPrune(t *testing.T, url string) {
	b := newBench(t, url, 0)
	if _, err := b.Start(t.Context(), "talk", "x", nil); err != nil {
		t.Fatal(err)
	}
	until(t, "the stream", func() bool {
		values, err := b.Read(t.Context(), "talk", "x", "said", 0)
		return err == nil && len(values) == 1 && string(values[0]) == `"hello"`
	})
	if err := b.Send(t.Context(), "talk", "x", "answer", "fine"); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Wait(t.Context(), "talk", "x"); err != nil || string(got) != `"fine"` {
		t.Errorf("%s, %v", got, err)
	}
	steps, err := b.Steps(t.Context(), "talk", "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Fork(t.Context(), "talk", "x", uint(len(steps)-1), "y"); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Wait(t.Context(), "talk", "y"); err != nil || string(got) != `"fine"` {
		t.Errorf("the fork: %s, %v", got, err)
	}
	if n, err := b.Prune(t.Context(), "talk", time.Now().Add(-time.Hour)); n != 0 || err != nil {
		t.Errorf("pruned %d young ones, %v", n, err)
	}
	if n, err := b.Prune(t.Context(), "talk", time.Now().Add(time.Hour)); n != 2 || err != nil {
		t.Errorf("pruned %d, %v", n, err)
	}
	if list, err := b.List(t.Context(), "talk", "", 10); len(list) != 0 || err != nil {
		t.Errorf("left: %v, %v", list, err)
	}
}

// The engine stops when it is idle, and is launched again.
func TestIdle(t *testing.T) { databases.Each(t, idle) }

func idle(t *testing.T, url string) {
	b := newBench(t, url, 50*time.Millisecond)
	for i, id := range []string{"x", "y"} {
		if _, err := b.Start(t.Context(), "count", id, nil); err != nil {
			t.Fatal(err)
		}
		until(t, "the three effects", func() bool { return len(b.noted(t)) >= 3*(i+1) })
		if url == "" {
			until(t, "the end of the engine", func() bool {
				files, err := os.ReadDir(filepath.Join(b.state(t), "executors.d"))
				return err == nil && len(files) == 0
			})
		}
	}
	if got := b.noted(t); len(got) != 6 {
		t.Errorf("effects %q", got)
	}
}

func (b *bench) state(t *testing.T) string {
	dir, err := state.Open(b.base, "/root")
	if err != nil {
		t.Fatal(err)
	}
	return dir.Path()
}

// An effect that began in a process that is killed is reported as unknown, or done again if
// that does no harm.
func TestKilledInAnEffect(t *testing.T) {
	t.Parallel()
	databases.Each(t, killedInAnEffect)
}

func killedInAnEffect(t *testing.T, url string) {
	for _, c := range []struct {
		repeatable bool
		want       string
		effects    []string
	}{
		{false, `"unknown hang"`, []string{"x hang", "x unknown hang false"}},
		{true, `"did hang"`, []string{"x hang", "x hang"}},
	} {
		t.Run(fmt.Sprint(c.repeatable), func(t *testing.T) {
			b := newBench(t, url, 10*time.Millisecond)
			worker := b.worker(t)
			if _, err := b.Enqueue(t.Context(), "hang", "x", c.repeatable); err != nil {
				t.Fatal(err)
			}
			until(t, "the effect", func() bool { return b.noted(t)[0] != "" })
			if err := worker.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = worker.Wait()
			b.worker(t, "second")
			got, err := b.Wait(t.Context(), "hang", "x")
			if err != nil || string(got) != c.want {
				t.Errorf("%s, %v", got, err)
			}
			if got := b.noted(t); !slices.Equal(got, c.effects) {
				t.Errorf("effects %q", got)
			}
		})
	}
}

// A run whose process dies again and again is given up, and its kind hears of it.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	databases.Each(t, givenUp)
}

func givenUp(t *testing.T, url string) {
	b := newBench(t, url, 10*time.Millisecond)
	if _, err := b.Enqueue(t.Context(), "fatal", "x", nil); err != nil {
		t.Fatal(err)
	}
	for deaths := range 2 {
		worker := b.worker(t)
		until(t, "the run", func() bool { return len(b.noted(t)) > deaths && b.noted(t)[0] != "" })
		if err := worker.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = worker.Wait()
	}
	b.worker(t)
	until(t, "the end", func() bool { return len(b.noted(t)) > 2 })
	if got, want := b.noted(t), []string{"x begun", "x begun", "x given up"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := b.Wait(t.Context(), "fatal", "x"); !errors.Is(err, durable.ErrCancelled) {
		t.Errorf("%v", err)
	}
}

func TestCancelInAnotherProcess(t *testing.T) {
	t.Parallel()
	databases.Each(t, cancelInAnotherProcess)
}

func cancelInAnotherProcess(t *testing.T, url string) {
	b := newBench(t, url, time.Minute)
	b.worker(t)
	if _, err := b.Enqueue(t.Context(), "hang", "x", false); err != nil {
		t.Fatal(err)
	}
	until(t, "the effect", func() bool { return b.noted(t)[0] != "" })
	if err := b.Cancel(t.Context(), "hang", "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Wait(t.Context(), "hang", "x"); !errors.Is(err, durable.ErrCancelled) {
		t.Errorf("%v", err)
	}
}

// Many runs over three processes, of which one is killed again and again: all end, and no
// effect is done twice. TOOLCRIB_DURABLE is the number of kills, one a second.
func TestKills(t *testing.T) {
	t.Parallel()
	databases.Each(t, kills)
}

func kills(t *testing.T, url string) {
	kills, every, runs := 4, 400*time.Millisecond, 60
	if text := os.Getenv("TOOLCRIB_DURABLE"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		kills, every, runs = n, time.Second, max(60, 1000*n/60)
	}
	b := newBench(t, url, time.Minute)
	workers := []*exec.Cmd{b.worker(t), b.worker(t), b.worker(t)}
	queued := make(chan error, 1)
	go func() {
		pause := time.NewTicker(time.Duration(kills) * every / time.Duration(runs))
		defer pause.Stop()
		for i := range runs {
			<-pause.C
			if _, err := b.Enqueue(context.Background(), "count", fmt.Sprintf("r%04d", i), nil); err != nil {
				queued <- err
				return
			}
		}
		queued <- nil
	}()
	for range kills {
		time.Sleep(every) // the processes work meanwhile
		victim := rand.IntN(len(workers))
		_ = workers[victim].Process.Kill()
		_ = workers[victim].Wait()
		workers[victim] = b.worker(t)
	}
	if err := <-queued; err != nil {
		t.Fatal(err)
	}
	for i := range runs {
		if _, err := b.Wait(t.Context(), "count", fmt.Sprintf("r%04d", i)); err != nil {
			t.Fatal(err)
		}
	}
	effects := map[string]int{}
	for _, line := range b.noted(t) {
		effects[line]++
	}
	done, doubled, unknown, lost := 0, 0, 0, 0
	for i := range runs {
		for _, name := range []string{"a", "b", "c"} {
			did := effects[fmt.Sprintf("r%04d %s", i, name)]
			told := effects[fmt.Sprintf("r%04d unknown %s false", i, name)]
			done += min(did, 1)
			unknown += told
			if did > 1 {
				doubled++
			}
			if did+told == 0 {
				lost++
			}
		}
	}
	t.Logf("durable: %s: %d runs of 3 steps over 3 processes, %d killed: %d effects done, %d reported as unknown, %d doubled, %d lost", t.Name(), runs, kills, done, unknown, doubled, lost)
	if doubled+lost > 0 {
		t.Fail()
	}
}
