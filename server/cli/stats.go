package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"toolcrib/server/config"
	"toolcrib/server/counts"
	"toolcrib/server/telemetry"
)

type stats struct {
	config.Config
	Since string `flag:"since" arg:"TIME" help:"how far back, such as 90m or 720h (default 24h); records are of up to an hour, and kept for 30 days"`
	JSON  bool   `flag:"json" help:"as JSON, with all that was counted"`
}

func statsCommand() command {
	return command{
		name:  "stats",
		args:  "[DIR ...]",
		short: "sum up recent calls by tool: how many, how long they took, how they failed",
		long: `
It sums up the records of this user's servers in the state directory, those
that run and those that have ended; with DIR, those that serve one of these
directories. Tokens are estimated: bytes / 4.`,
		new: func() runner { return new(stats) },
	}
}

func (s *stats) run(_ context.Context, p *Process, args []string) error {
	back, err := time.ParseDuration(cmp.Or(s.Since, "24h"))
	if err != nil || back <= 0 {
		return config.Usagef("toolcrib stats --since=24h", "--since: %q is no time such as 90m or 24h", s.Since)
	}
	opt, err := s.Workspace()
	if err != nil {
		return &config.UsageError{Err: err, Hint: "toolcrib stats --state-dir=DIR"}
	}
	bases := opt.StateDefaults
	if opt.StateBase != "" {
		bases = []string{opt.StateBase}
	}
	dirs := make([]string, len(args))
	for i, arg := range args {
		if dirs[i], err = filepath.Abs(arg); err != nil {
			return err
		}
	}
	sum, err := telemetry.Summarize(bases, time.Now().Add(-back), dirs)
	if err != nil {
		return err
	}
	if sum.Unread > 0 {
		fmt.Fprintf(p.Stderr, "%d records of another version of toolcrib are left out\n", sum.Unread)
	}
	if s.JSON {
		enc := json.NewEncoder(p.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(s.report(sum, back))
	}
	return s.table(p, sum, back)
}

// statsReport is the form of --json. Times are in milliseconds.
type statsReport struct {
	SinceSeconds float64     `json:"since_seconds"`
	Servers      int         `json:"servers"`
	Tools        []statsTool `json:"tools"`
	Total        statsTool   `json:"total"`
}

type statsTool struct {
	Tool string `json:"tool,omitempty"`
	counts.ToolStats
	P50       float64 `json:"p50_ms"`
	P95       float64 `json:"p95_ms"`
	P99       float64 `json:"p99_ms"`
	TokensIn  uint64  `json:"tokens_in"`
	TokensOut uint64  `json:"tokens_out"`
}

func statsOf(name string, t counts.ToolStats) statsTool {
	ms := func(q float64) float64 { return float64(t.Quantile(q).Microseconds()) / 1000 }
	in, out := t.Tokens()
	s := statsTool{Tool: name, ToolStats: t, P50: ms(0.5), P95: ms(0.95), P99: ms(0.99), TokensIn: in, TokensOut: out}
	s.Latency = nil // the percentiles say it
	return s
}

func (s *stats) report(sum telemetry.Summary, back time.Duration) statsReport {
	r := statsReport{SinceSeconds: back.Seconds(), Servers: sum.Servers, Tools: []statsTool{}, Total: statsOf("", sum.Total())}
	for _, name := range slices.SortedFunc(maps.Keys(sum.Tools), func(a, b string) int { // the busiest first
		return cmp.Or(cmp.Compare(sum.Tools[b].Calls, sum.Tools[a].Calls), strings.Compare(a, b))
	}) {
		r.Tools = append(r.Tools, statsOf(telemetry.Shown(name), sum.Tools[name]))
	}
	return r
}

func (s *stats) table(p *Process, sum telemetry.Summary, back time.Duration) error {
	if len(sum.Tools) == 0 {
		_, err := fmt.Fprintf(p.Stdout, "nothing was called in the last %s\n", plainTime(back))
		return err
	}
	r := s.report(sum, back)
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "CALLS\tERRORS\tP50 MS\tP95 MS\tP99 MS\tCACHED\tBYTES IN\tBYTES OUT\tTOKENS\t  TOOL")
	row := func(t statsTool) {
		fmt.Fprintf(w, "%d\t%d\t%.3g\t%.3g\t%.3g\t%d\t%d\t%d\t%d\t  %s\n", t.Calls, t.Failed(), t.P50, t.P95, t.P99,
			t.Cached+t.Joined, t.In, t.Text+t.Structured+t.Binary, t.TokensIn+t.TokensOut, t.Tool)
	}
	for _, t := range r.Tools {
		row(t)
	}
	r.Total.Tool = fmt.Sprintf("all; servers: %d, last %s", r.Servers, plainTime(back))
	row(r.Total)
	return w.Flush()
}

// plainTime is 24h, not 24h0m0s.
func plainTime(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
