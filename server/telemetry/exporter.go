package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"toolcrib/server/run"
)

// farewell is how long the last telemetry may take to be sent.
const farewell = 5 * time.Second

// Exporter sends traces and metrics to collectors.
type Exporter struct {
	opt    Options
	tracer *Tracer
	log    *slog.Logger
	ctx    context.Context
	cancel context.CancelFunc
	once   sync.Once
	stop   chan struct{} // closed: everything is to end
	done   sync.WaitGroup
}

// NewExporter starts to export traces, if the options want it. pipe says that
// clients speak over stdin and stdout. Close ends it.
func NewExporter(opt Options, pipe bool, log *slog.Logger) *Exporter {
	e := &Exporter{opt: opt, log: log, stop: make(chan struct{})}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	if opt.Traces.url != "" {
		e.tracer = newTracer(opt.Traces, pipe, e.newOutlet(opt.Traces.target, "traces"))
	}
	return e
}

// Observer returns the observer of calls, nil if traces are not wanted.
func (e *Exporter) Observer() run.Observer {
	if e.tracer == nil {
		return nil
	}
	return e.tracer
}

// Tracer is the observer of calls, nil if traces are not wanted.
func (e *Exporter) Tracer() *Tracer { return e.tracer }

// Export begins to export metrics at intervals, if the options want it.
func (e *Exporter) Export(s Sources) {
	if e.opt.Metrics.url == "" {
		return
	}
	o := e.newOutlet(e.opt.Metrics.target, "metrics")
	e.done.Go(func() {
		tick := time.NewTicker(e.opt.Metrics.Interval)
		defer tick.Stop()
		for last := false; !last; {
			select {
			case <-tick.C:
			case <-e.stop:
				last = true
			}
			now := time.Now()
			o.send(metricRequest(e.opt.resource, s.metrics(now), s.Started, now))
		}
	})
}

// Close sends the remaining data, each request once and for five seconds at most.
func (e *Exporter) Close() {
	e.once.Do(func() {
		limit := time.AfterFunc(farewell, e.cancel)
		defer limit.Stop()
		close(e.stop)
		if e.tracer != nil {
			e.tracer.close()
		}
		e.done.Wait()
		e.cancel()
	})
}
