package run

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"toolcrib/tools"
)

const (
	maxAttempts = 3
	firstPause  = 100 * time.Millisecond // doubles with each attempt; half of it is jitter
)

// retry tries again what may succeed the next time, where the tool is
// Repeatable. It does not begin what the caller's deadline would cut off, and
// nothing beside a handler that still runs.
func (p *pass) retry(ctx context.Context, once func(context.Context) (any, error)) (any, error) {
	start := p.asker.position()
	for n := 1; ; n++ {
		v, err := once(ctx)
		if err == nil || n == maxAttempts || !p.tool.Repeatable || !retryable(err) {
			return v, err
		}
		pause := firstPause << (n - 1)
		pause = pause/2 + rand.N(pause/2)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= pause {
			return nil, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		}
		p.counters.retries.Add(1)
		p.asker.rewind(start)
	}
}

func retryable(err error) bool {
	if errors.Is(err, errAbandoned) {
		return false
	}
	if _, panicked := errors.AsType[*tools.PanicError](err); panicked {
		return false
	}
	if _, asked := errors.AsType[*tools.PendingAsk](err); asked {
		return false
	}
	return tools.AsError(err).Code.Retryable()
}
