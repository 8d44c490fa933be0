package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"toolcrib/server"
	"toolcrib/server/config"
	"toolcrib/server/identity"
	"toolcrib/server/telemetry"
)

// exporter returns the exporter that the variables of OpenTelemetry configure; nil = none.
// Values that cannot be followed are logged and ignored, since the variables are meant for
// every program of the user.
func (p *Process) exporter(cfg config.Config, log *slog.Logger) *telemetry.Exporter {
	opt, err := telemetry.FromEnv(p.Getenv, p.Version)
	if err != nil {
		log.Warn("telemetry", "err", err)
	}
	if !opt.On() {
		return nil
	}
	return telemetry.NewExporter(opt, cfg.HTTP == "", log)
}

// show publishes the server's metrics until stop is called: it serves the page of metrics,
// exports metrics, and writes the records that stats sums up.
func (p *Process) show(ctx context.Context, e *Engine, srv *server.Server, cfg config.Config) (stop func(), err error) {
	sources := telemetry.Sources{Version: p.Version, Started: time.Now(), Stats: e.Runner.Stats}
	if cfg.HTTP != "" {
		sources.Traffic = func() telemetry.Traffic {
			sessions, requests := srv.Traffic()
			return telemetry.Traffic{Sessions: sessions, Requests: requests}
		}
	}
	if e.exporter != nil {
		sources.Spans = e.exporter.Tracer()
	}
	closePage := func() {}
	if cfg.Metrics != "" {
		ln, err := listenForMetrics(ctx, cfg)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(p.Stderr, "metrics at http://%s%s\n", ln.Addr(), telemetry.PagePath)
		closePage = telemetry.Serve(ln, cfg.MetricsToken, sources)
	}
	if e.exporter != nil {
		e.exporter.Export(sources)
	}
	closeRecords := func() error { return nil }
	if base := e.Workspace.StateBase(); base != "" {
		closeRecords = telemetry.Record(base, e.Workspace.Roots(), sources, e.log).Close
	}
	return func() {
		closePage()
		if err := closeRecords(); err != nil {
			e.log.Warn("records for toolcrib stats", "err", err)
		}
	}, nil
}

// checkMetrics refuses an address of the page of metrics, or a token, that cannot be used.
func checkMetrics(cfg config.Config) error {
	if cfg.Metrics == "" {
		return nil
	}
	if err := checkAddress("metrics", cfg.Metrics); err != nil {
		return err
	}
	if cfg.MetricsToken != "" && len(cfg.MetricsToken) < identity.MinToken {
		return config.Usagef("openssl rand -hex 32 makes one", "the token in TOOLCRIB_METRICS_TOKEN has %d characters, it needs %d", len(cfg.MetricsToken), identity.MinToken)
	}
	if cfg.MetricsToken == "" && beyond(cfg.Metrics) {
		return metricsForAll(cfg)
	}
	return nil
}

// metricsForAll refuses a page of metrics beyond this machine without a token.
func metricsForAll(cfg config.Config) error {
	return config.Usagef("set TOOLCRIB_METRICS_TOKEN, or listen on 127.0.0.1", "--metrics=%s can be reached from other machines, so it needs a token", cfg.Metrics)
}

// listenForMetrics opens the address of the page of metrics. Beyond this machine, it
// wants a token.
func listenForMetrics(ctx context.Context, cfg config.Config) (net.Listener, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, family(cfg.Metrics), cfg.Metrics)
	if err != nil {
		return nil, config.Usagef("toolcrib serve --metrics=127.0.0.1:0 takes any port that is free", "--metrics: %w", err)
	}
	if cfg.MetricsToken == "" && !server.Loopback(ln.Addr()) {
		_ = ln.Close() // nobody was accepted
		return nil, metricsForAll(cfg)
	}
	return ln, nil
}
