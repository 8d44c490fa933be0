package state

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/workspace/state/postgres"
)

const (
	crashes   = 3
	mostWait  = 5 * time.Second // until a call says that the database is gone
	betweenIt = 500 * time.Millisecond
)

// outage has a process write while PostgreSQL crashes and starts again, and while it is
// stopped for a minute.
type outage struct {
	acknowledged, unavailable, uncertain, lost int
	slowest                                    time.Duration
	others                                     int // calls of another tool meanwhile
}

func (o *outage) run(ctx context.Context, env harness.Environment) error {
	return harness.WithPostgres(ctx, func(server *postgres.Server) error {
		return world{env: env, url: server.URL()}.run(ctx, func(ctx context.Context, w world) error {
			p, err := w.start(ctx)
			if err != nil {
				return err
			}
			failed := make(chan error, 1)
			go func() { failed <- o.breaking(ctx, env, server) }()
			if err := o.write(p, failed); err != nil {
				return err
			}
			return p.Close()
		})
	})
}

// breaking ends the server again and again.
func (o *outage) breaking(ctx context.Context, env harness.Environment, server *postgres.Server) error {
	for range crashes {
		time.Sleep(betweenIt)
		if err := errors.Join(server.Crash(ctx), server.Restart(ctx)); err != nil {
			return err
		}
	}
	time.Sleep(betweenIt)
	if err := server.Stop(ctx); err != nil {
		return err
	}
	time.Sleep(max(time.Duration(float64(time.Minute)*env.Scale), time.Second))
	err := server.Restart(ctx)
	time.Sleep(betweenIt)
	return err
}

// write counts up until the breaking has ended, and compares.
func (o *outage) write(p *harness.ToolUser, ended <-chan error) error {
	known, version, told := true, 0, 0
	for {
		select {
		case err := <-ended:
			if err != nil {
				return err
			}
			_, n, err := value(p, "outage")
			if err != nil {
				return err
			}
			if o.lost += max(told-n, 0); n > o.acknowledged+o.uncertain {
				return fmt.Errorf("the value is %d, and only %d writes were made", n, o.acknowledged+o.uncertain)
			}
			return nil
		default:
		}
		begin := time.Now()
		var a harness.Answer
		var err error
		if known {
			a, err = p.Use("storage", map[string]any{"operation": "put", "key": "outage", "value": fmt.Sprint(told + 1), "expected_version": version})
		} else {
			a, err = p.Use("storage", map[string]any{"operation": "get", "key": "outage"})
		}
		o.slowest = max(o.slowest, time.Since(begin))
		switch {
		case err != nil:
			return err
		case a.Code == "unavailable":
			o.unavailable++
			if known && strings.Contains(a.Text, "may have been made") {
				o.uncertain++
			}
			known = false
			if _, err := p.Must("calculator", map[string]any{"expression": "6*7"}); err != nil {
				return err
			}
			o.others++
		case a.Failed && a.Code != "not_found":
			return errors.New(a.Text)
		case known:
			o.acknowledged++
			told, version = told+1, version+1
		default:
			now, n, err := value(p, "outage")
			if err != nil {
				continue // it was unavailable again
			}
			o.lost += max(told-n, 0)
			version, told, known = now, n, true
		}
	}
}
