package store

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"toolcrib/workspace/state"
)

// stripes is the number of locks that all paths share. Two paths of one stripe wait for
// each other without need, which costs time alone.
const stripes = 256

// stripe returns the lock of a canonical host path. It is the same in every process and
// version, and for all spellings of a name that a file system may take for one.
func stripe(name string) int {
	h := fnv.New32a()
	h.Write([]byte(strings.ToLower(norm.NFC.String(name))))
	sum := h.Sum32()
	return int((sum ^ sum>>8 ^ sum>>16 ^ sum>>24) % stripes)
}

// Lock waits until no other change has one of the paths, in this process and, where
// state can be kept, in all that share it. The locks are taken in one order, so that
// no two changes wait for each other. It gives up when ctx ends.
func (s *Store) Lock(ctx context.Context, names []string) (unlock func() error, err error) {
	shared, err := s.Shared()
	if errors.Is(err, os.ErrClosed) {
		return nil, err
	}
	var order []int
	for _, name := range names {
		order = append(order, stripe(name))
	}
	slices.Sort(order)
	order = slices.Compact(order)
	var undo []func() error
	unlock = func() error {
		var errs []error
		for _, f := range slices.Backward(undo) {
			errs = append(errs, f())
		}
		return errors.Join(errs...)
	}
	for _, i := range order {
		select {
		case s.stripes[i] <- struct{}{}:
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), unlock())
		}
		undo = append(undo, func() error { <-s.stripes[i]; return nil })
		if shared == nil {
			continue
		}
		l, err := lockStripe(ctx, shared, i)
		if err != nil {
			return nil, errors.Join(err, unlock())
		}
		undo = append(undo, l.Unlock)
	}
	return unlock, nil
}

// lockStripe takes a stripe among the processes. A process waits for it under a second
// lock, the turn, which the last holder needs too before it can take the stripe again:
// otherwise a process that locks again as soon as it has unlocked would starve the others.
func lockStripe(ctx context.Context, d *state.Dir, i int) (*state.Lock, error) {
	turn, err := d.Lock(ctx, fmt.Sprintf("turn_%02x", i))
	if err != nil {
		return nil, err
	}
	l, err := d.Lock(ctx, fmt.Sprintf("path_%02x", i))
	if err != nil {
		return nil, errors.Join(err, turn.Unlock())
	}
	if err := turn.Unlock(); err != nil {
		return nil, errors.Join(err, l.Unlock())
	}
	return l, nil
}
