package state

import (
	"context"
	"os"
	"time"
)

// Lock is held until Unlock, or until its process ends in any way.
type Lock struct{ f *os.File }

// Lock waits for the lock of that name, which one holder has at a time among all
// goroutines of all processes. It gives up when ctx ends.
func (d *Dir) Lock(ctx context.Context, name string) (*Lock, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(d.file(name+".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	// The system's own waiting cannot be cancelled, so this tries again and again.
	const shortest, longest = 100 * time.Microsecond, 10 * time.Millisecond
	for wait := shortest; ; wait = min(2*wait, longest) {
		ok, err := tryLock(f)
		if ok {
			return &Lock{f}, nil
		}
		if err == nil {
			err = sleep(ctx, wait)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
	}
}

// Unlock releases the lock. The file stays: removing it would let two processes hold locks
// on two files of one name.
func (l *Lock) Unlock() error { return l.f.Close() }

func sleep(ctx context.Context, d time.Duration) error {
	if d < time.Millisecond { // a timer would take as long as that
		nap(d)
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
