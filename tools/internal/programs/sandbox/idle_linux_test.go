package sandbox_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolcrib/tools/internal/programs/sandbox"
)

// zygotes are the processes of this one that hold a sandbox.
func zygotes(t *testing.T) (list []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		cmd, err := os.ReadFile(file)
		if err != nil || string(cmd) != "toolcrib-sandbox\x00" {
			continue
		}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(file), "status"))
		if err == nil && strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())) {
			list = append(list, filepath.Base(filepath.Dir(file)))
		}
	}
	return list
}

// until waits for what must come.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal(what)
}

func TestIdle(t *testing.T) {
	for _, level := range []sandbox.Level{sandbox.Full, sandbox.Landlock, sandbox.None} {
		t.Run(level.String(), func(t *testing.T) {
			b := newBox(t, level)
			b.Configure(sandbox.Options{Level: level, Idle: 200 * time.Millisecond})
			if out, exit := b.sh(t, "echo home > $HOME/kept; echo temp > ${TMPDIR:-/tmp}/kept"); exit.Code != 0 {
				t.Fatal(out)
			}
			// What runs keeps it.
			sleep := func() (*sandbox.Process, []string) {
				t.Helper()
				p, err := b.Start(b.ctx, sandbox.Command{Args: []string{"sleep", "100"}, Dir: b.root})
				if err != nil {
					t.Fatal(err)
				}
				return p, zygotes(t)
			}
			p, first := sleep()
			if len(first) != 1 {
				t.Errorf("%d processes hold it", len(first))
			}
			p.Kill()
			<-p.Done()
			until(t, "it does not end", func() bool { return len(zygotes(t)) == 0 })
			if out, exit := b.sh(t, "cat $HOME/kept ${TMPDIR:-/tmp}/kept"); exit.Code != 0 || out != "home\ntemp" {
				t.Errorf("lost: %+v %s", exit, out)
			}
			p, held := sleep()
			time.Sleep(600 * time.Millisecond)
			if now := zygotes(t); len(held) != 1 || len(now) != 1 || held[0] != now[0] || held[0] == first[0] {
				t.Errorf("%v held it first, then %v, and then %v", first, held, now)
			}
			p.Kill()
			<-p.Done()
			if exit := p.Exit(); exit.Signal != "SIGKILL" {
				t.Errorf("%+v", exit)
			}
			until(t, "it does not end", func() bool { return len(zygotes(t)) == 0 })
		})
	}
}

// Programs are started with the settings of then; those that run go on with theirs.
func TestConfigure(t *testing.T) {
	b := newBox(t, sandbox.Full)
	hidden, err := os.MkdirTemp("/var/tmp", "toolcrib-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(hidden) })
	t.Setenv("TOOLCRIB_TEST_PASSED", "yes")
	const look = "ulimit -n; echo $TOOLCRIB_TEST_PASSED; "
	opt := sandbox.Options{Level: sandbox.Full, Limits: sandbox.Limits{Files: 100}}
	b.Configure(opt)
	if out, exit := b.sh(t, look+"echo kept > /tmp/kept"); out != "100" || exit.Code != 0 {
		t.Errorf("%q, %+v", out, exit)
	}
	first := zygotes(t)
	opt.Limits.Files, opt.Env = 200, []string{"TOOLCRIB_TEST_PASSED"}
	b.Configure(opt)
	if out, exit := b.sh(t, look); out != "200\nyes" || exit.Code != 0 {
		t.Errorf("%q, %+v", out, exit)
	}
	if now := zygotes(t); !slices.Equal(now, first) {
		t.Errorf("%v held it, and for another limit %v", first, now)
	}
	// Another view is another zygote, which takes what the old one has unless that is used.
	opt.Read = []string{hidden}
	b.Configure(opt)
	if out, exit := b.sh(t, "ls -d "+hidden+"; cat /tmp/kept"); out != hidden+"\nkept" || exit.Code != 0 {
		t.Errorf("%q, %+v", out, exit)
	}
	runs, err := b.Start(b.ctx, sandbox.Command{Args: []string{"sleep", "100"}, Dir: b.root})
	if err != nil {
		t.Fatal(err)
	}
	second := zygotes(t)
	opt.Read = nil
	b.Configure(opt)
	if out, exit := b.sh(t, "ls -d "+hidden+" /tmp/kept"); exit.Code == 0 || strings.Contains(out, "\n/tmp/kept") {
		t.Errorf("%q, %+v", out, exit)
	}
	if now := zygotes(t); len(second) != 1 || second[0] == first[0] || len(now) != 2 {
		t.Errorf("%v, then %v, then %v", first, second, now)
	}
	select {
	case <-runs.Done():
		t.Error("what ran was ended")
	default:
	}
	runs.Kill()
	<-runs.Done()
	until(t, "the old one does not end", func() bool { return len(zygotes(t)) == 1 })
	if now := zygotes(t); now[0] == second[0] {
		t.Errorf("%v is left", now)
	}
}

// Starts that come as a zygote ends get one that works, with all that was kept.
func TestIdleRace(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.MkdirAll(filepath.Join(home, "go/pkg/mod/m"), 0o755); err != nil {
		t.Fatal(err)
	}
	b := newBox(t, sandbox.Full)
	const idle = 5 * time.Millisecond
	b.Configure(sandbox.Options{Level: sandbox.Full, Idle: idle})
	if out, exit := b.sh(t, "echo layered > $HOME/go/pkg/mod/m/added && echo temp > /tmp/kept"); exit.Code != 0 {
		t.Fatal(out)
	}
	seen := map[string]bool{}
	var mu sync.Mutex
	for i := 0; i < 40 && len(seen) < 10; i++ {
		var round sync.WaitGroup
		for range 4 {
			round.Go(func() {
				time.Sleep(rand.N(4 * idle))
				out, exit := b.sh(t, "cat /tmp/kept $HOME/go/pkg/mod/m/added && echo x > $HOME/go/pkg/mod/m/$$")
				if exit.Code != 0 || out != "temp\nlayered" {
					t.Errorf("round %d: %+v: %s", i, exit, out)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, id := range zygotes(t) {
					seen[id] = true
				}
			})
		}
		round.Wait() // the zygote is idle now
	}
	if len(seen) < 3 {
		t.Errorf("%d zygotes were seen: none has ended between", len(seen))
	}
	if entries, err := os.ReadDir(filepath.Join(home, "go/pkg/mod/m")); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}
