package processes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Kill sends a signal ("TERM", "KILL" ...) to the process with an identity and no other, and
// waits at most wait for its end. It reports whether the process has ended.
func Kill(ctx context.Context, id ID, name string, wait time.Duration) (ended bool, err error) {
	signal := unix.SignalNum("SIG" + strings.TrimPrefix(strings.ToUpper(name), "SIG"))
	if signal == 0 {
		return false, fmt.Errorf("%w: %s", ErrSignal, name)
	}
	// The descriptor refers to one process: a check through it still holds when the signal is
	// sent, even if the PID is reused.
	fd, err := unix.PidfdOpen(id.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return false, ErrGone
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = unix.Close(fd) }()
	data, err := os.ReadFile("/proc/" + strconv.Itoa(id.PID) + "/stat")
	p, ok := parseStat(data)
	if err != nil || !ok || p.Began != id.Began || p.State == "Z" {
		return false, ErrGone
	}
	if err := unix.PidfdSendSignal(fd, signal, nil, 0); errors.Is(err, unix.ESRCH) {
		return false, ErrGone
	} else if err != nil {
		return false, err
	}
	for deadline := time.Now().Add(wait); ; {
		left := min(time.Until(deadline), 50*time.Millisecond)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(max(left, 0).Milliseconds()))
		switch {
		case n > 0:
			return true, nil
		case err != nil && !errors.Is(err, unix.EINTR):
			return false, err
		case ctx.Err() != nil:
			return false, ctx.Err()
		case left <= 0:
			return false, nil
		}
	}
}
