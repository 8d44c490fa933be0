package files

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// restoring is a call under way.
type restoring struct {
	deps Deps
	in   RestoreFileIn
	call string // by which undo knows changes that belong together
	last workspace.Receipt
	// redoes: what is undone is an undo.
	redoes bool
	// lossy is why the call cannot be taken back, "" where it can.
	lossy string
	out   RestoreFileOut
}

// carryOut does what a restoration plans, in as few changes as possible.
func (run *restoring) carryOut(ctx context.Context, r *restoration, several bool) error {
	if run.out.Status != "" {
		run.out.Status += "; "
	}
	run.out.Notes = append(run.out.Notes, r.notes...)
	if len(r.steps) == 0 {
		run.out.Status += "nothing to do: all is as before " + r.head(r.rec)
		return nil
	}
	verb := "restored what was before "
	switch {
	case run.in.DryRun && run.in.Undo:
		verb = "dry run, nothing is changed: would undo "
	case run.in.DryRun:
		verb = "dry run, nothing is changed: would restore what was before "
	case run.in.Undo:
		verb = "undid "
	}
	run.out.Status += verb + r.head(r.rec) + ": " + textfile.Count(len(r.steps), "path")
	run.out.Steps += r.listed()
	changes := r.changes()
	if (several || len(changes) > 1) && run.call == "" {
		run.call = rand.Text()
	}
	for _, ops := range changes {
		if err := run.apply(ctx, r, ops); err != nil {
			return err
		}
		if run.in.DryRun {
			break // what comes later needs what is not done
		}
	}
	return nil
}

// apply carries out one change. Its contents are not remembered as seen: there may
// be thousands.
func (run *restoring) apply(ctx context.Context, r *restoration, ops []workspace.Op) error {
	session := tools.Session(ctx)
	change := workspace.Change{Tool: "restore_file", Principal: session.Principal, Call: run.call, Ops: ops, DryRun: run.in.DryRun}
	if r.undo {
		change.Undoes = r.rec.ID
	}
	receipt, err := session.Workspace.Apply(ctx, change)
	if err != nil {
		return run.deps.explain(ctx, err)
	}
	if run.last = receipt; !run.in.DryRun {
		run.deps.forget(ctx, touched(ops, receipt))
	}
	run.lossy = cmp.Or(run.lossy, receipt.NotKept)
	for _, done := range receipt.Done {
		run.out.Notes = append(run.out.Notes, done.Notes...)
	}
	return nil
}

// half tells what is done already when an error ends the call.
func (run *restoring) half(err error) error {
	if run.last.ID == "" {
		return err
	}
	return tools.Errorf(tools.AsError(err).Code, "a part is done%s, but then: %s", changeID(run.last), err).
		WithHint("undo=true version=%s takes back that part", run.last.ID)
}

// aftermath is the end of the status line: how to do again what is undone now, or to
// take back what was restored.
func (run *restoring) aftermath() string {
	if run.in.DryRun || run.last.ID == "" || run.lossy != "" || !run.in.Undo || run.redoes {
		run.last.NotKept = run.lossy
		return changeID(run.last) + aftermath(run.last, nil, run.in.DryRun)
	}
	return "; redo: restore_file undo=true version=" + run.last.ID
}

// listed names what is done, the first of many, and counts the others.
func (r *restoration) listed() string {
	var lines strings.Builder
	for _, s := range r.steps[:min(len(r.steps), mostLines)] {
		lines.WriteString(s.name + ": " + s.done + s.size + "\n")
	}
	if len(r.steps) <= mostLines {
		return lines.String()
	}
	var kinds []string
	count := map[string]int{}
	for _, s := range r.steps[mostLines:] {
		if count[s.done]++; count[s.done] == 1 {
			kinds = append(kinds, s.done)
		}
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", count[kind], kind)
	}
	fmt.Fprintf(&lines, "… %d more: %s\n", len(r.steps)-mostLines, strings.Join(kinds, ", "))
	return lines.String()
}
