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

// List returns the daemons of the place, by process.
func (p *Dir) List() []Status {
	var list []Status
	for _, key := range p.keys(socketFile) {
		s, err := p.status(key)
		if err != nil { // a dead one, or one that is about to end
			continue
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Status) int { return cmp.Compare(a.PID, b.PID) })
	return list
}

// status asks the daemon of a key.
func (p *Dir) status(key string) (Status, error) {
	j, err := p.dial(key, askStatus, statusWait)
	if silent, ok := errors.AsType[*silentError](err); ok {
		return Status{PID: silent.pid, Silent: true}, nil
	}
	if err != nil {
		return Status{}, err
	}
	_ = j.Close() // it was only asked
	return j.Status, nil
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

// process is the daemon of a key. It is taken hold of before somebody is seen to listen, so that
// its id cannot be that of another by then.
func (p *Dir) process(key string, pid int) (*os.Process, error) {
	process, err := os.FindProcess(pid)
	if err != nil {
		return nil, ErrNone
	}
	if s, err := p.status(key); err == nil && s.PID == pid {
		return process, nil
	}
	return nil, errors.Join(ErrNone, process.Release())
}
