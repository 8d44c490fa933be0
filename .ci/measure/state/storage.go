package state

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolcrib/.ci/measure/harness"
)

const (
	counters = 8 // processes that count
	killed   = 2 // processes at a time that are killed
)

// Storage has processes count one value up by compare-and-set, and kills processes while they
// write: nothing that was acknowledged may be missing.
func Storage(ctx context.Context, env harness.Environment) error {
	fmt.Printf("| storage: %d processes count by compare-and-set; %d at a time are killed while they write |\n", counters, killed)
	fmt.Println("| database | increments | sum | a second | conflicts | slowest call | kills | acknowledged | lost | written, not acknowledged |\n|---|---|---|---|---|---|---|---|---|---|")
	err := onBoth(ctx, env, "SQLite", func(ctx context.Context, w world) error {
		c := &counting{rounds: env.Of(10_000, 50)}
		if err := c.run(ctx, w); err != nil {
			return err
		}
		k := &killing{kills: env.Of(1_000, 20)}
		if err := k.run(ctx, w); err != nil {
			return err
		}
		fmt.Printf("| %s | %d x %d | %d | %.0f | %d | %.0f ms | %d | %d | %d | %d |\n", w.name, counters, c.rounds, c.sum, float64(counters*c.rounds)/c.took.Seconds(),
			c.conflicts.Load(), harness.Milliseconds(time.Duration(c.slowest.Load())), k.kills, k.acknowledged, k.lost, k.unknown)
		switch {
		case c.sum != counters*c.rounds:
			return fmt.Errorf("the sum is %d, not %d", c.sum, counters*c.rounds)
		case k.lost > 0:
			return fmt.Errorf("%d acknowledged writes are lost", k.lost)
		}
		return nil
	})
	if err != nil {
		return err
	}
	o := new(outage)
	if err := o.run(ctx, env); err != nil {
		return err
	}
	fmt.Printf("\n| PostgreSQL crashes %d times and is stopped for a minute, while a process writes | acknowledged | lost | calls that said unavailable | of unknown outcome | slowest call | calls of other tools meanwhile |\n|---|---|---|---|---|---|---|\n", crashes)
	fmt.Printf("| | %d | %d | %d | %d | %.1f s | %d |\n", o.acknowledged, o.lost, o.unavailable, o.uncertain, o.slowest.Seconds(), o.others)
	switch {
	case o.lost > 0:
		return fmt.Errorf("%d acknowledged writes are lost", o.lost)
	case o.slowest > mostWait:
		return fmt.Errorf("a call took %.1f s", o.slowest.Seconds())
	case env.Full() && o.unavailable == 0: // a short outage ends before a call gives up
		return errors.New("no call met the outage: nothing is proved")
	}
	return nil
}

// counting is many that count one value up.
type counting struct {
	rounds int

	conflicts, slowest atomic.Int64
	took               time.Duration
	sum                int
}

func (c *counting) run(ctx context.Context, w world) error {
	processes := make([]*harness.ToolUser, counters)
	for i := range processes {
		var err error
		if processes[i], err = w.start(ctx); err != nil {
			return err
		}
	}
	errs := make([]error, counters)
	var wg sync.WaitGroup
	begin := time.Now()
	for i, p := range processes {
		wg.Go(func() {
			for range c.rounds {
				if errs[i] = c.count(p); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	c.took = time.Since(begin)
	if err := harness.FirstOf(errs); err != nil {
		return err
	}
	version, n, err := value(processes[0], "counter")
	if err == nil && version != n {
		err = fmt.Errorf("the counter is %d at version %d", n, version)
	}
	c.sum = n
	for _, p := range processes {
		err = errors.Join(err, p.Close())
	}
	return err
}

// count counts up by one.
func (c *counting) count(p *harness.ToolUser) error {
	for {
		version, n, err := value(p, "counter")
		if err != nil {
			return err
		}
		begin := time.Now()
		a, err := p.Use("storage", map[string]any{"operation": "put", "key": "counter", "value": fmt.Sprint(n + 1), "expected_version": version})
		if took := int64(time.Since(begin)); took > c.slowest.Load() {
			c.slowest.Store(took) // nearly: another may store a smaller one
		}
		switch {
		case err != nil:
			return err
		case !a.Failed:
			return nil
		case a.Code != "conflict":
			return errors.New(a.Text)
		}
		c.conflicts.Add(1)
	}
}

// value returns a number and its version, zeros if it does not exist.
func value(p *harness.ToolUser, key string) (version, n int, err error) {
	a, err := p.Use("storage", map[string]any{"operation": "get", "key": key})
	switch {
	case err != nil:
		return 0, 0, err
	case a.Failed && a.Code == "not_found":
		return 0, 0, nil
	case a.Failed:
		return 0, 0, errors.New(a.Text)
	}
	status, number, _ := strings.Cut(a.Text, "\n")
	if _, err := fmt.Sscanf(status, key+": version %d,", &version); err != nil {
		return 0, 0, fmt.Errorf("%q: %w", status, err)
	}
	_, err = fmt.Sscan(number, &n)
	return version, n, err
}

// killing is processes that are killed while they count, each its own value.
type killing struct {
	kills int

	mu                          sync.Mutex
	acknowledged, lost, unknown int
}

func (k *killing) run(ctx context.Context, w world) error {
	errs := make([]error, killed)
	var wg sync.WaitGroup
	for i := range killed {
		wg.Go(func() {
			key, told := fmt.Sprint("killed-", i), 0
			for range k.kills / killed {
				if told, errs[i] = k.once(ctx, w, key, told); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return harness.FirstOf(errs)
}

// once starts a process, looks whether what was told last is there, has it write, and kills it.
// It returns what the process acknowledged last.
func (k *killing) once(ctx context.Context, w world, key string, told int) (int, error) {
	p, err := w.start(ctx)
	if err != nil {
		return 0, err
	}
	version, n, err := value(p, key)
	if err != nil {
		return 0, errors.Join(err, kill(p))
	}
	k.mu.Lock()
	k.lost += max(told-n, 0)
	k.unknown += max(n-told, 0) // the one that was on its way
	k.mu.Unlock()
	if n > told+1 {
		return 0, errors.Join(fmt.Errorf("%s is %d, and %d was acknowledged", key, n, told), kill(p))
	}
	const longest = 60 * time.Millisecond
	timer := time.AfterFunc(rand.N(longest), func() { _ = p.Cmd.Process.Kill() }) // the loop tells
	defer timer.Stop()
	for {
		a, err := p.Use("storage", map[string]any{"operation": "put", "key": key, "value": fmt.Sprint(n + 1), "expected_version": version})
		if err != nil {
			break // it was killed
		}
		if a.Code == "conflict" && n == told { // what the dead process had on its way ends later than it
			late, m, err := value(p, key)
			if err != nil {
				break // it was killed
			}
			if m != told+1 {
				return 0, errors.Join(fmt.Errorf("%s is %d, and %d was acknowledged", key, m, told), kill(p))
			}
			n, version = m, late
			k.mu.Lock()
			k.unknown++
			k.mu.Unlock()
			continue
		}
		if a.Failed {
			return 0, errors.Join(errors.New(a.Text), kill(p))
		}
		n, version = n+1, version+1
		k.mu.Lock()
		k.acknowledged++
		k.mu.Unlock()
	}
	<-p.Done
	_ = p.Cmd.Wait()
	return n, nil
}
