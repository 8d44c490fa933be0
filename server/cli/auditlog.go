package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/schema"
	"toolcrib/server/app"
	"toolcrib/server/audit"
	"toolcrib/server/config"
	"toolcrib/workspace/state"
)

type auditLog struct {
	config.Config
	Tool      string `flag:"tool" arg:"NAME" help:"only calls of this tool"`
	Principal string `flag:"principal" arg:"NAME" help:"only calls in this name"`
	Code      string `flag:"code" arg:"CODE" help:"only calls that ended so: ok, asked, denied, not_found ...; or refused requests with this status"`
	Since     string `flag:"since" arg:"WHEN" help:"only what came since: 90m, 24h or 2006-01-02T15:04:05Z"`
	Limit     string `flag:"limit" arg:"N" help:"at most that many records, the last ones (default 100 with show, 10 with tail; 0 = all)"`
	JSON      bool   `flag:"json" help:"print the records, or what verify found, as JSON"`
}

func auditCommand() command {
	return command{
		name:  "audit",
		args:  "show|verify|tail",
		short: "read the audit log, follow it, or prove that nobody changed it",
		long: `
show prints the last records, tail also those that come. verify recomputes the chain of
all records with the key of the state directory. It prints which record of which file
was changed, dropped, added or moved, whether the end or a file is missing, and the hash
of the last record: note it elsewhere to prove later that the log had these records.
Exit code 1: something is wrong.

--state-dir and --audit-dir are those of serve.

  toolcrib audit show --since 24h --code denied
  toolcrib audit tail --json
  toolcrib audit verify`,
		new: func() runner { return new(auditLog) },
	}
}

func (a *auditLog) run(ctx context.Context, p *Process, args []string) error {
	const usage = "toolcrib audit show|verify|tail"
	if len(args) == 0 {
		return config.Usagef(usage, "audit wants to know what to do")
	}
	if err := atMost(args, 1, usage); err != nil {
		return err
	}
	do := map[string]func(context.Context, *Process, string, *state.Dir) error{
		"show": a.show, "verify": a.verify, "tail": a.tail,
	}[args[0]]
	if do == nil {
		near := schema.Nearest(args[0], []string{"show", "verify", "tail"})
		if near != "" {
			return config.Usagef(usage, "audit does not %s; did you mean %q", config.ShellWord(args[0]), near)
		}
		return config.Usagef(usage, "audit does not %s", config.ShellWord(args[0]))
	}
	if args[0] == "verify" && (a.Tool != "" || a.Principal != "" || a.Code != "" || a.Since != "" || a.Limit != "") {
		return config.Usagef("toolcrib audit verify", "verify looks at every record: it has no --tool, --principal, --code, --since or --limit")
	}
	if err := p.settle(&a.Config, nil); err != nil {
		return err
	}
	dir, st, err := a.place()
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, p, dir, st), st.Close())
}

// place finds the log and the state that has its key. Of the directories where the state
// can be, it takes the first that knows the log; else the first whose log directory has
// files of a log; else the first that has noted that a log was begun.
func (a *auditLog) place() (dir string, st *state.Dir, err error) {
	opt, err := a.Workspace()
	if err != nil {
		return "", nil, &config.UsageError{Err: err, Hint: "toolcrib audit show --state-dir=DIR"}
	}
	bases := opt.StateDefaults
	if opt.StateBase != "" {
		bases = []string{opt.StateBase}
	}
	var dirs []string
	for _, has := range []func(string, *state.Dir) (bool, error){audit.Known, audit.Remains, audit.Begun} {
		dirs = nil
		for _, base := range bases {
			dir, err := filepath.Abs(app.AuditDir(a.Config, base))
			if err != nil {
				return "", nil, err
			}
			dirs = append(dirs, dir)
			if !state.HasShared(base) {
				continue
			}
			st, err := state.Shared(base)
			if err != nil {
				return "", nil, err
			}
			found, err := has(dir, st)
			if found {
				return dir, st, nil
			}
			if err := errors.Join(err, st.Close()); err != nil {
				return "", nil, err
			}
		}
	}
	return "", nil, config.Usagef("serve --audit keeps one; --state-dir and --audit-dir say where it is kept", "no audit log is known in %s", strings.Join(slices.Compact(dirs), " or "))
}

// verify prints the problems of the log, or that there are none.
func (a *auditLog) verify(ctx context.Context, p *Process, dir string, st *state.Dir) error {
	r, err := audit.Verify(ctx, dir, st)
	if err != nil {
		return err
	}
	if a.JSON {
		enc := json.NewEncoder(p.Stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(r); err != nil {
			return err
		}
	} else if err := printReport(p, dir, r); err != nil {
		return err
	}
	if len(r.Problems) > 0 {
		return silentError{}
	}
	return nil
}

func printReport(p *Process, dir string, r audit.Report) error {
	var b strings.Builder
	for _, found := range r.Problems {
		fmt.Fprintln(&b, visible(found.String()))
	}
	if r.More > 0 {
		fmt.Fprintf(&b, "and %d problems more\n", r.More)
	}
	for _, note := range r.Notes {
		fmt.Fprintln(&b, "note:", visible(note))
	}
	verdict := "nobody has changed it"
	if len(r.Problems) > 0 {
		verdict = "IT WAS TAMPERED WITH"
	}
	fmt.Fprintf(&b, "%s: %d records (%d to %d) in %d files; %s\nhead %d %s\n", dir, r.Records, r.First, r.Last, r.Files, verdict, r.Last, r.Hash)
	_, err := p.Stdout.Write([]byte(b.String()))
	return err
}

// visible replaces what could move the cursor of a terminal or hide text on it.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < ' ' || r >= 0x7f && r < 0xa0 || strings.ContainsRune("\u2028\u2029\ufeff\u200b\u200e\u200f", r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe0fff {
			fmt.Fprintf(&b, "\\u{%x}", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
