//go:build !linux && !windows

package processes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Kill sends a signal ("TERM", "KILL" ...) to the process with an identity, and waits at most
// wait for its end. It reports whether the process has ended. On this system the PID could be
// reused between the check of its start and the signal.
func Kill(ctx context.Context, id ID, name string, wait time.Duration) (ended bool, err error) {
	signal := unix.SignalNum("SIG" + strings.TrimPrefix(strings.ToUpper(name), "SIG"))
	if signal == 0 {
		return false, fmt.Errorf("%w: %s", ErrSignal, name)
	}
	if lives, err := lives(ctx, id); err != nil || !lives {
		return false, errors.Join(err, ErrGone)
	}
	if err := unix.Kill(id.PID, signal); errors.Is(err, unix.ESRCH) {
		return false, ErrGone
	} else if err != nil {
		return false, err
	}
	deadline := time.Now().Add(wait)
	for {
		lives, err := lives(ctx, id)
		if err != nil || !lives {
			return err == nil, err
		}
		if time.Now().After(deadline) {
			return false, nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

func lives(ctx context.Context, id ID) (bool, error) {
	list, err := List(ctx)
	for _, p := range list {
		if p.PID == id.PID {
			return p.Began == id.Began && p.State != "Z", err
		}
	}
	return false, err
}
