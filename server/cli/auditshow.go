package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolcrib/schema"
	"toolcrib/server"
	"toolcrib/server/app"
	"toolcrib/server/audit"
	"toolcrib/server/config"
	"toolcrib/server/run"
	"toolcrib/workspace/state"
)

// logged is a line of the log: a record of a call, or one that the log wrote itself.
type logged struct {
	Seq uint64 `json:"seq"`
	Log string `json:"log"` // kind of a record of the log itself
	run.Record
	File string `json:"file"`
	Why  string `json:"why"`
}

// filter says which records are wanted.
type filter struct {
	*auditLog
	since time.Time
	limit int // 0 = all
}

func (a *auditLog) filter(limit int) (filter, error) {
	f := filter{auditLog: a, limit: limit}
	if a.Limit != "" {
		n, err := strconv.ParseUint(a.Limit, 10, 31)
		if err != nil {
			return filter{}, config.Usagef("--limit=100", "--limit: %q is no number of records", a.Limit)
		}
		f.limit = int(n)
	}
	if err := a.checkCode(); err != nil {
		return filter{}, err
	}
	if a.Since == "" {
		return f, nil
	}
	if ago, err := time.ParseDuration(a.Since); err == nil && ago >= 0 {
		f.since = time.Now().Add(-ago)
		return f, nil
	}
	at, err := time.Parse(time.RFC3339, a.Since)
	if err != nil {
		return filter{}, config.Usagef("--since=24h or --since=2006-01-02T15:04:05Z", "--since: %q is neither a duration nor a time", a.Since)
	}
	f.since = at
	return f, nil
}

// checkCode refuses a code that no record has.
func (a *auditLog) checkCode() error {
	codes := run.Codes()
	for _, status := range server.RefusalStatuses() {
		codes = append(codes, strconv.Itoa(status))
	}
	if a.Code == "" || slices.Contains(codes, a.Code) {
		return nil
	}
	there := "there are: " + strings.Join(codes, ", ")
	if near := schema.Nearest(a.Code, codes); near != "" {
		return config.Usagef(there, "--code: no call ends in %q; did you mean %q", a.Code, near)
	}
	return config.Usagef(there, "--code: no call ends in %q", a.Code)
}

// wants reports whether a line is wanted, and takes it apart.
func (f filter) wants(line []byte) (l logged, ok bool) {
	if err := json.Unmarshal(line, &l); err != nil {
		l = logged{Log: "damaged", Why: fmt.Sprintf("a line of %d bytes", len(line))} // verify tells more
	}
	filtered := f.Tool != "" || f.Principal != "" || f.Code != ""
	switch {
	case l.Log != "" && (filtered || l.Log == "open" || l.Log == "close"):
		return l, false
	case f.Tool != "" && l.Tool != f.Tool, f.Principal != "" && l.Principal != f.Principal, f.Code != "" && l.Code != f.Code:
		return l, false
	}
	return l, f.since.IsZero() || !l.Time.Before(f.since)
}

const auditHead = "TIME                 EVENT      TOOL              PRINCIPAL   VERDICT  OUTCOME           TOOK  WHAT\n"

// show prints the last records that are wanted.
func (a *auditLog) show(_ context.Context, p *Process, dir string, _ *state.Dir) error {
	f, err := a.filter(100)
	if err != nil {
		return err
	}
	lines, more, err := f.last(dir)
	if err != nil {
		return err
	}
	if more > 0 {
		fmt.Fprintf(p.Stderr, "%d earlier records are not shown; --limit 0 shows all\n", more)
	}
	return f.print(p, true, lines...)
}

// last returns the last lines that are wanted, and how many were before them.
func (f filter) last(dir string) (lines [][]byte, more int, err error) {
	err = audit.Read(dir, func(line []byte) bool {
		if _, ok := f.wants(line); !ok {
			return true
		}
		lines = append(lines, line)
		if f.limit > 0 && len(lines) == 2*f.limit {
			lines, more = append([][]byte(nil), lines[f.limit:]...), more+f.limit
		}
		return true
	})
	if over := len(lines) - f.limit; f.limit > 0 && over > 0 {
		lines, more = lines[over:], more+over
	}
	return lines, more, err
}

// tail prints the last records and what comes, until it is interrupted.
func (a *auditLog) tail(ctx context.Context, p *Process, dir string, _ *state.Dir) error {
	f, err := a.filter(10)
	if err != nil {
		return err
	}
	ctx, stop := app.UntilSignal(ctx, false)
	defer stop()
	lines, _, err := f.last(dir)
	if err != nil {
		return err
	}
	if err := f.print(p, true, lines...); err != nil {
		return err
	}
	var seen uint64 // Follow begins with the file that was printed already
	if len(lines) > 0 {
		l, _ := f.wants(lines[len(lines)-1])
		seen = l.Seq
	}
	var failed error
	err = audit.Follow(ctx, dir, func(line []byte) bool {
		if l, ok := f.wants(line); ok && l.Seq > seen {
			failed = f.print(p, false, line)
		}
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// print prints lines, as a table or as they are.
func (f filter) print(p *Process, head bool, lines ...[]byte) error {
	var b bytes.Buffer
	if head && !f.JSON {
		b.WriteString(auditHead)
	}
	for _, line := range lines {
		if f.JSON {
			b.Write(line)
			continue
		}
		l, _ := f.wants(line)
		b.WriteString(l.row())
	}
	_, err := p.Stdout.Write(b.Bytes())
	return err
}

func (l logged) row() string {
	at := l.Time.Local().Format("2006-01-02 15:04:05")
	if l.Log != "" {
		return visible(strings.TrimSpace(fmt.Sprintf("%-20s log %s %s %s", at, l.Log, l.File, l.Why))) + "\n"
	}
	took := ""
	if l.Event == run.EventEnd {
		took = (time.Duration(l.Micros) * time.Microsecond).String()
	}
	outcome := l.Code
	if l.Source != "" {
		outcome += " (" + l.Source + ")"
	}
	what := strings.Join(l.Paths, " ")
	switch {
	case len(l.Changed) > 0:
		what = "changed " + strings.Join(l.Changed, " ")
	case what == "" && l.Note != "":
		what = l.Note
	case what == "":
		what = string(l.Arguments)
	}
	verdict := l.Verdict
	if verdict == "deny" {
		verdict += " " + l.Rule
	}
	return fmt.Sprintf("%-20s %-10s %-17s %-11s %-8s %-15s %6s  %s\n", at, visible(string(l.Event)), visible(l.Tool), visible(l.Principal), visible(verdict), visible(outcome), took, visible(what))
}
