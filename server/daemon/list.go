package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"
)

// List returns the daemons of the place that answer, by process.
func (p *Dir) List() []Status {
	var list []Status
	for _, key := range p.keys(socketFile) {
		j, err := p.dial(key, askStatus, statusWait)
		if err != nil { // a dead one, or one that is about to end
			continue
		}
		_ = j.Close() // it was only asked
		list = append(list, j.Status)
	}
	slices.SortFunc(list, func(a, b Status) int { return cmp.Compare(a.PID, b.PID) })
	return list
}

// ErrNone means that the process is not a daemon.
var ErrNone = errors.New("no server in the background has this process")

// Stop asks a daemon to end, with all its jobs, and waits for that.
func (p *Dir) Stop(ctx context.Context, pid int) error {
	for _, key := range p.keys(socketFile) {
		process, err := p.process(key, pid)
		if errors.Is(err, ErrNone) {
			continue
		}
		if err != nil {
			return err
		}
		defer func() { _ = process.Release() }() // nothing is lost
		if err := process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeoutCause(ctx, 2*helloWait, fmt.Errorf("process %d does not end", pid))
		defer cancel()
		for !ended(process) {
			if err := wait(ctx, 10*time.Millisecond); err != nil {
				return err
			}
		}
		return nil
	}
	return ErrNone
}

// process is the daemon of a key. It is taken hold of before the daemon says that it
// lives, so that its id cannot be that of another by then.
func (p *Dir) process(key string, pid int) (*os.Process, error) {
	process, err := os.FindProcess(pid)
	if err != nil {
		return nil, ErrNone
	}
	j, err := p.dial(key, askStatus, statusWait)
	if err == nil {
		_ = j.Close() // it was only asked
	}
	if err == nil && j.PID == pid {
		return process, nil
	}
	return nil, errors.Join(ErrNone, process.Release())
}
