package protocol

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"toolcrib/.ci/measure/harness"
)

const (
	// fuzzAtOnce is how many requests wait for their answers over stdio.
	fuzzAtOnce = 64
	// fuzzPatience is how long an answer may take.
	fuzzPatience = 30 * time.Second
)

// awaited are the requests over stdio that are not answered yet.
type awaited struct {
	tally *fuzzTally
	mu    sync.Mutex
	lines map[string][]byte
	freed chan struct{}
}

func (a *awaited) take(line []byte) {
	ids := a.tally.take(func(id string) []byte {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.lines[id]
	}, line)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range ids {
		delete(a.lines, id)
	}
	select {
	case a.freed <- struct{}{}:
	default: // the waiting caller looks at what is left
	}
}

func fuzzStdio(ctx context.Context, place fuzzRun) (fuzzTarget, error) {
	args, err := place.command()
	if err != nil {
		return fuzzTarget{}, err
	}
	var stderr lockedBuffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stderr = &stderr
	c, err := harness.DialCommand(cmd, nil)
	if err != nil {
		return fuzzTarget{}, err
	}
	a := &awaited{tally: place.tally, lines: map[string][]byte{}, freed: make(chan struct{}, 1)}
	if err := c.Initialize(); err != nil {
		return fuzzTarget{}, errors.Join(err, errors.New(stderr.String()))
	}
	c.OnLine.Store(new(a.take))
	g := place.grammar(0)
	return fuzzTarget{
		pid: cmd.Process.Pid, stderr: &stderr, stop: c.Close,
		send: func(from, to int) error {
			for n := from; n < to; n++ {
				if err := a.send(c, g, n); err != nil {
					return err
				}
			}
			return a.rest(c)
		},
	}, nil
}

// send sends a message when there is room for one more that waits.
func (a *awaited) send(c *harness.Client, g *grammar, n int) error {
	m := g.next(n)
	w := wantedOf(m.line)
	a.tally.sent(m, w)
	a.mu.Lock()
	for _, id := range w.ids {
		a.lines[id] = m.line
	}
	waiting := len(a.lines)
	a.mu.Unlock()
	if err := c.Send(m.line); err != nil {
		return err
	}
	for _, id := range w.lasts { // none for ever
		if err := c.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)); err != nil {
			return err
		}
	}
	for waiting >= fuzzAtOnce {
		if err := a.wait(c); err != nil {
			return err
		}
		a.mu.Lock()
		waiting = len(a.lines)
		a.mu.Unlock()
	}
	return nil
}

// wait waits for the next answer.
func (a *awaited) wait(c *harness.Client) error {
	select {
	case <-a.freed:
		return nil
	case <-c.Done:
		return errors.New("the server ended")
	case <-time.After(fuzzPatience):
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, line := range a.lines {
		a.tally.fault("no answer for "+id, line)
	}
	clear(a.lines)
	return nil
}

// rest waits for what is not answered yet.
func (a *awaited) rest(c *harness.Client) error {
	for {
		a.mu.Lock()
		left := len(a.lines)
		a.mu.Unlock()
		if left == 0 {
			return nil
		}
		if err := a.wait(c); err != nil {
			return err
		}
	}
}

// lockedBuffer is a buffer that is read while a process writes to it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
