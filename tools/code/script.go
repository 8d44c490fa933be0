package code

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/changed"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/progress"
)

// script is a program that reads a job as JSON from stdin. It prints its output and then, on a
// line that begins with the job's mark, a report as JSON.
type script struct {
	tool    string
	args    []string
	env     []string
	job     func(mark string) any
	timeout time.Duration // after it the program is interrupted, and ended a second later
	network bool
	silent  bool // it changes no files
	self    bool // the program is this binary
	limits  sandbox.Limits
	// serve answers what the program asks for on stderr, by lines on stdin, until it ends;
	// nil = it asks for nothing.
	serve func(ctx context.Context, requests *os.File, replies, output io.Writer) error
}

// ran is how a script went.
type ran struct {
	output  excerpt
	report  []byte // nil: it ended before it could
	exit    sandbox.Exit
	within  sandbox.Report // what contained it
	took    time.Duration
	stopped bool // its time was over
	files   changed.Changes
}

const (
	// lastWords is how long an interrupted program may take to say where it was.
	lastWords = time.Second
	// drained is how long the output of a program that has ended may be held open.
	drained = 200 * time.Millisecond
)

// run runs a script in the first root, and looks at what files changed meanwhile.
func (d Deps) run(ctx context.Context, s script) (ran, error) {
	dir, err := tools.Resolve(ctx, ".")
	if err != nil {
		return ran{}, err
	}
	mark := rand.Text()
	job, err := json.Marshal(s.job(mark))
	if err != nil {
		return ran{}, err
	}
	if err := ctx.Err(); err != nil {
		return ran{}, err
	}
	var before *changed.Watch
	if !s.silent {
		before = changed.Begin(ctx, tools.Session(ctx).Workspace, d.Sandbox.Recorded(ctx))
	}
	begin := time.Now()
	started, err := d.start(ctx, sandbox.Command{Tool: s.tool, Args: s.args, Dir: dir, Env: s.env, Network: s.network, Limits: s.limits, Self: s.self}, s.serve != nil)
	if err != nil {
		return ran{}, err
	}
	out := newCapture("\n" + mark)
	g, _ := tools.NewGroup(ctx, 2)
	calls, end := context.WithCancel(ctx)
	defer end()
	g.Go(func() error {
		_, _ = started.stdin.Write(job) // a program that has ended takes none
		if s.serve == nil {
			return started.stdin.Close()
		}
		return errors.Join(s.serve(calls, started.asks, started.stdin, out), started.stdin.Close())
	})
	g.Go(func() error {
		_, err := io.Copy(out, started.stdout)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		return nil
	})
	var stopped bool
	reported := progress.During(ctx, out.progress(), 0, func() error {
		stopped = started.wait(ctx, s.timeout)
		return nil
	})
	took := time.Since(begin)
	_ = started.stdout.SetReadDeadline(time.Now().Add(drained))
	_ = started.stdin.SetWriteDeadline(time.Now())
	if s.serve != nil {
		_ = started.asks.SetReadDeadline(time.Now())
	}
	end()
	err = g.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return ran{}, cause
	}
	if err = errors.Join(err, reported, started.stdout.Close()); err != nil {
		return ran{}, err
	}
	text, report := out.text()
	r := ran{
		output: text, report: report, exit: started.Exit(), within: started.Report(), took: took, stopped: stopped,
	}
	if before != nil {
		r.files = before.Changes(ctx, started)
	}
	return r, ctx.Err()
}

// program is a program that was started, with the ends of its pipes.
type program struct {
	*sandbox.Process
	stdin, stdout *os.File
	asks          *os.File // its stderr, if that is a pipe of its own
}

// start starts a program with pipes: one for its input, one for all that it prints, and if it
// asks, one for its stderr.
func (d Deps) start(ctx context.Context, c sandbox.Command, asks bool) (program, error) {
	input, toInput, err := os.Pipe()
	if err != nil {
		return program{}, err
	}
	defer input.Close()
	fromOutput, output, err := os.Pipe()
	if err != nil {
		return program{}, errors.Join(err, toInput.Close())
	}
	defer output.Close()
	c.Stdin, c.Stdout, c.Stderr = input, output, output
	ours := []*os.File{toInput, fromOutput}
	var fromStderr *os.File
	if asks {
		var stderr *os.File
		if fromStderr, stderr, err = os.Pipe(); err != nil {
			return program{}, errors.Join(err, closeAll(ours))
		}
		defer stderr.Close()
		c.Stderr, ours = stderr, append(ours, fromStderr)
	}
	p, err := d.Sandbox.Start(ctx, c)
	if err != nil {
		return program{}, errors.Join(err, closeAll(ours))
	}
	return program{p, toInput, fromOutput, fromStderr}, nil
}

// wait returns when the program has ended, which it sees to when its time is over or ctx
// ends. It reports whether its time was over.
func (p program) wait(ctx context.Context, timeout time.Duration) (stopped bool) {
	over := time.NewTimer(timeout)
	defer over.Stop()
	select {
	case <-p.Done():
		return false
	case <-over.C:
		if err := p.Signal(os.Interrupt); err == nil {
			over.Reset(lastWords)
			select {
			case <-p.Done():
				return true
			case <-over.C:
			case <-ctx.Done():
			}
		}
	case <-ctx.Done():
	}
	p.Kill()
	<-p.Done()
	return ctx.Err() == nil
}
