package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"toolcrib/.ci/measure/harness"
)

// leaves is a script that leaves processes behind in every way, all under one name.
const leaves = `name=%s
(exec -a $name sleep 1000) &
setsid bash -c "exec -a $name sleep 1000" >/dev/null 2>&1 </dev/null &
( (trap '' TERM HUP INT; exec -a $name sleep 1000) & ) >/dev/null 2>&1
nohup setsid bash -c "(trap '' TERM; bash -c 'exec -a $name sleep 1000' & exec -a $name sleep 1000) & exit" >/dev/null 2>&1 &
sleep 0.2
%s`

// Survivors ends commands in every way and looks for what they have left.
func Survivors(ctx context.Context, env harness.Environment) error {
	total := 0
	for _, level := range []struct {
		name  string
		share float64
	}{{"full", 0.8}, {"landlock", 0.1}, {"none", 0.1}} {
		n := max(int(float64(env.Of(1000, 60))*level.share), 6)
		s := &survey{env: env, level: level.name}
		for _, way := range []struct {
			name   string
			end    ending
			within time.Duration
		}{
			{"result", s.results, 200 * time.Millisecond},
			{"timeout", s.timeouts, 200 * time.Millisecond},
			{"cancel", s.cancels, 200 * time.Millisecond},
			{"end of stdin, counted from its closing, jobs", s.endings(s.inBackground, 0, func(c *harness.Client) error { return c.In.Close() }), 200 * time.Millisecond},
			{"end of stdin, counted after the 2 s that calls have to answer", s.endings(s.inCalls, answering, func(c *harness.Client) error { return c.In.Close() }), 200 * time.Millisecond},
			{"SIGTERM, counted likewise", s.endings(s.inCalls, answering, func(c *harness.Client) error { return c.Cmd.Process.Signal(syscall.SIGTERM) }), 200 * time.Millisecond},
			{"SIGKILL", s.endings(s.inCalls, 0, func(c *harness.Client) error { return c.Cmd.Process.Kill() }), 2 * time.Second},
		} {
			share := max(n/7, 1)
			if err := s.measure(ctx, way.name, share, way.within, way.end); err != nil {
				return fmt.Errorf("%s at %s: %w", way.name, level.name, err)
			}
			total += share
		}
	}
	fmt.Printf("%d calls, 0 survivors\n", total)
	return nil
}

// survey counts at one level.
type survey struct {
	env   harness.Environment
	level string
	next  int
}

// together is how many calls run at once.
const together = 8

// answering is how long a server lets its calls answer before it ends them.
const answering = 2 * time.Second

// ending ends calls in one way, and returns from when on it counts how long they last.
type ending func(ctx context.Context, c *harness.Client, calls int) (from time.Time, err error)

func (s *survey) measure(ctx context.Context, name string, calls int, within time.Duration, end ending) error {
	began := time.Now()
	for left := calls; left > 0; left -= together {
		if err := s.batch(ctx, min(left, together), within, end); err != nil {
			return err
		}
	}
	fmt.Printf("%s, %s: %d calls in %.1f s, none left after %s\n", s.level, name, calls, time.Since(began).Seconds(), within)
	return nil
}

// batch has some calls on one server end in one way.
func (s *survey) batch(ctx context.Context, calls int, within time.Duration, end ending) error {
	dir, err := os.MkdirTemp("", "survivors")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	state, err := os.MkdirTemp("", "survivors-state")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	c, err := harness.Dial(ctx, nil, s.env.Binary, "serve", "--sandbox", s.level, "--confirm", "client", "--state-dir", state, dir)
	if err != nil {
		return err
	}
	defer func() {
		_ = c.In.Close() // it may be closed
		_ = c.Cmd.Process.Kill()
		<-c.Done
		_ = c.Cmd.Wait() // it was killed
	}()
	if err := c.Initialize(); err != nil {
		return err
	}
	s.next++
	from, err := end(ctx, c, calls)
	if err != nil {
		return err
	}
	time.Sleep(time.Until(from.Add(within)))
	if found := harness.ProcessesNamed(s.name()); len(found) > 0 {
		return fmt.Errorf("%d processes live on: %v", len(found), found)
	}
	return nil
}

// name is that of the processes of this batch.
func (s *survey) name() string {
	return fmt.Sprintf("toolcrib-left-%d-%s-%d", os.Getpid(), s.level, s.next)
}

// bash calls the tool so many times at once, and returns the first error of any.
func (s *survey) bash(c *harness.Client, calls int, last, timeout string) error {
	var wg sync.WaitGroup
	errs := make([]error, calls)
	for i := range calls {
		wg.Go(func() {
			args := map[string]any{"command": fmt.Sprintf(leaves, s.name(), last)}
			if timeout != "" {
				args["timeout"] = timeout
			}
			answer, err := c.Call(100+i, "tools/call", map[string]any{"name": "bash", "arguments": args})
			if err == nil && timeout == "" && !strings.Contains(string(answer.Result), "exit 0") {
				err = fmt.Errorf("the command was not carried out: %s", answer.Result)
			}
			errs[i] = err
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (s *survey) results(_ context.Context, c *harness.Client, calls int) (time.Time, error) {
	err := s.bash(c, calls, "exit 0", "")
	return time.Now(), err
}

func (s *survey) timeouts(_ context.Context, c *harness.Client, calls int) (time.Time, error) {
	err := s.bash(c, calls, "sleep 1000", "1s")
	return time.Now(), err
}

func (s *survey) cancels(ctx context.Context, c *harness.Client, calls int) (time.Time, error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.bash(c, calls, "sleep 1000", "") // a cancelled call has no answer
	}()
	if err := s.running(ctx, calls); err != nil {
		return time.Time{}, err
	}
	for i := range calls {
		line := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, 100+i)
		if err := c.Send([]byte(line)); err != nil {
			return time.Time{}, err
		}
	}
	return time.Now(), nil
}

// endings has the server itself end, while commands run. They may last for a grace.
func (s *survey) endings(begin func(c *harness.Client, calls int) error, grace time.Duration, end func(*harness.Client) error) ending {
	return func(ctx context.Context, c *harness.Client, calls int) (time.Time, error) {
		if err := begin(c, calls); err != nil {
			return time.Time{}, err
		}
		if err := s.running(ctx, calls); err != nil {
			return time.Time{}, err
		}
		from := time.Now().Add(grace)
		return from, end(c)
	}
}

// inCalls starts commands whose calls wait for them.
func (s *survey) inCalls(c *harness.Client, calls int) error {
	go func() { _ = s.bash(c, calls, "sleep 1000", "") }() // there is no answer
	return nil
}

// inBackground starts commands as jobs.
func (s *survey) inBackground(c *harness.Client, calls int) error {
	for i := range calls {
		args := map[string]any{"command": fmt.Sprintf(leaves, s.name(), "sleep 1000"), "background": true}
		answer, err := c.Call(100+i, "tools/call", map[string]any{"name": "bash", "arguments": args})
		if err != nil {
			return err
		}
		if !strings.Contains(string(answer.Result), "running: job") {
			return fmt.Errorf("the job does not run: %s", answer.Result)
		}
	}
	return nil
}

// running waits until the commands have left what they leave.
func (s *survey) running(ctx context.Context, calls int) error {
	for range 300 {
		if len(harness.ProcessesNamed(s.name())) >= 4*calls {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("only %d processes were left by %d commands", len(harness.ProcessesNamed(s.name())), calls)
}
