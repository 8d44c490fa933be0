package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/inside"
	"toolcrib/tools/internal/programs/sandbox"
)

// program is the process of an executor in the sandbox.
type program struct {
	*sandbox.Process
	in   chan []byte // lines for it
	errs tail
	// agent and tools take its lines, one at a time: of the agent, and of its connections.
	agent  func(line []byte)
	tools  func(conn string, line []byte)
	closed chan struct{} // after its last line
}

const (
	// drained is how long the output of a program that has ended may be held open.
	drained = 200 * time.Millisecond
	// mostWaiting is how many lines may wait for a program.
	mostWaiting = 1024
	// mostPrinted is how many bytes a program may print.
	mostPrinted = 256 << 20
)

// start starts a program for the call of ctx. ctx bounds only the start.
func (p *program) start(ctx context.Context, engine *sandbox.Engine, e *Executor, job inside.Job, readOnly bool) error {
	guard, err := e.guard()
	if err != nil {
		return err
	}
	dir, err := tools.Resolve(ctx, ".")
	if err != nil {
		return err
	}
	var ends [6]*os.File // of three pipes, theirs and ours
	for i := 0; i < len(ends); i += 2 {
		if ends[i], ends[i+1], err = os.Pipe(); err != nil {
			return errors.Join(err, closeAll(ends[:i]))
		}
	}
	in, out, stderr := ends[1], ends[2], ends[4]
	p.Process, err = engine.Start(ctx, sandbox.Command{
		Tool: "run_agent", Args: []string{"toolcrib", inside.Argument}, Self: true, Dir: dir,
		Stdin: ends[0], Stdout: ends[3], Stderr: ends[5], Network: true, Guard: guard, ReadOnly: readOnly,
	})
	if theirs := closeAll([]*os.File{ends[0], ends[3], ends[5]}); err == nil {
		err = theirs
	}
	if err != nil {
		return errors.Join(sandbox.Refused(err), closeAll([]*os.File{in, out, stderr}))
	}
	p.in, p.closed = make(chan []byte, mostWaiting), make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() {
		for {
			select {
			case line := <-p.in:
				_, _ = in.Write(line) // one that has ended takes none
			case <-p.Done():
				return
			}
		}
	})
	both.Go(func() {
		l := &inside.Lines{Each: p.take}
		if n, _ := io.Copy(l, io.LimitReader(out, mostPrinted)); n == mostPrinted {
			p.errs.say("it printed more than 256 MiB and was ended")
			p.Kill()
		}
	})
	both.Go(func() { _, _ = io.Copy(&p.errs, stderr) })
	go func() {
		<-p.Done()
		_ = in.SetWriteDeadline(time.Now())
		_ = out.SetReadDeadline(time.Now().Add(drained))
		_ = stderr.SetReadDeadline(time.Now().Add(drained))
		both.Wait()
		_ = closeAll([]*os.File{in, out, stderr})
		close(p.closed)
	}()
	data, err := json.Marshal(job)
	if err != nil {
		return err
	}
	p.send(data)
	return nil
}

func closeAll(files []*os.File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// take reads a line of the process, see package inside.
func (p *program) take(line []byte) {
	kind, text, _ := bytes.Cut(line, []byte(" "))
	switch {
	case len(kind) == 0:
	case kind[0] == 'a':
		p.agent(text)
	case kind[0] == 'm':
		p.tools(string(kind[1:]), text)
	}
}

// write sends a line to a connection.
func (p *program) write(conn string, line []byte) { p.send([]byte(conn+" "), line) }

// send does not wait for the program: one that does not read is ended.
func (p *program) send(parts ...[]byte) {
	select {
	case p.in <- append(bytes.Join(parts, nil), '\n'):
	default:
		p.errs.say("it did not read the results of its tools and was ended")
		p.Kill()
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
	own  string
}

const mostTail = 2000

// Write implements [io.Writer].
func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, data...)
	t.text = t.text[max(len(t.text)-mostTail, 0):]
	return len(data), nil
}

// say takes the place of what is written.
func (t *tail) say(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.own = text
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.own != "" {
		return t.own
	}
	return string(bytes.ToValidUTF8(bytes.TrimSpace(t.text), nil))
}
