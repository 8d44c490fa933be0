package restore

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/change"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// Report describes a restoration.
type Report struct {
	Status string
	// Steps has a line for each path, the first of many.
	Steps string
	Notes []string
}

// Text returns the result as text.
func (o Report) Text() string {
	return strings.TrimSuffix(o.Status+"\n"+o.Steps, "\n") + change.NoteLines(o.Notes...)
}

// Restoring is a call of restore_file under way.
type Restoring struct {
	change.Writer
	Undo, DryRun bool
	call         string // by which undo knows changes that belong together
	last         workspace.Receipt
	// Redoes: the reverted change is itself an undo.
	Redoes bool
	// lossy is why the call cannot be reverted, "" if it can.
	lossy string
	Out   Report
}

// CarryOut carries out a restoration, in as few changes as possible.
func (run *Restoring) CarryOut(ctx context.Context, r *Restoration, several bool) error {
	if run.Out.Status != "" {
		run.Out.Status += "; "
	}
	run.Out.Notes = append(run.Out.Notes, r.notes...)
	if len(r.steps) == 0 {
		run.Out.Status += "nothing to do: all is as before " + r.Head(r.Rec)
		return nil
	}
	verb := "restored what was before "
	switch {
	case run.DryRun && run.Undo:
		verb = "dry run, nothing is changed: would undo "
	case run.DryRun:
		verb = "dry run, nothing is changed: would restore what was before "
	case run.Undo:
		verb = "undid "
	}
	run.Out.Status += verb + r.Head(r.Rec) + ": " + textfile.Count(len(r.told()), "path")
	run.Out.Steps += r.listed()
	changes := r.changes()
	if (several || len(changes) > 1) && run.call == "" {
		run.call = rand.Text()
	}
	for _, ops := range changes {
		if err := run.apply(ctx, r, ops); err != nil {
			return err
		}
		if run.DryRun {
			break // later changes need the one that failed
		}
	}
	return nil
}

// apply carries out one change. Its contents are not remembered as seen: there may
// be thousands.
func (run *Restoring) apply(ctx context.Context, r *Restoration, ops []workspace.Op) error {
	session := tools.Session(ctx)
	c := workspace.Change{Tool: "restore_file", Principal: session.Principal, Client: session.Client.Name, Call: run.call, Ops: ops, DryRun: run.DryRun}
	if r.undo {
		c.Undoes, c.Partly = r.Rec.ID, r.partly
	}
	receipt, err := session.Workspace.Apply(ctx, c)
	if err != nil {
		return run.Explain(ctx, err)
	}
	if receipt.ID != "" || run.last.ID == "" {
		run.last = receipt
	}
	if !run.DryRun {
		run.Forget(ctx, change.Touched(ops, receipt))
	}
	run.lossy = cmp.Or(run.lossy, receipt.NotKept)
	for _, done := range receipt.Done {
		for _, note := range done.Notes {
			run.Out.Notes = append(run.Out.Notes, textfile.Path(done.Path)+" "+note)
		}
	}
	return nil
}

// Idle reports whether there was nothing to do.
func (run *Restoring) Idle() bool { return run.last.ID == "" && !run.DryRun }

// Half adds to an error the steps that were done before it.
func (run *Restoring) Half(err error) error {
	if run.last.ID == "" {
		return err
	}
	return tools.Errorf(tools.AsError(err).Code, "a part is done%s, but then: %s", change.ID(run.last), err).
		WithHint("undo=true version=%s takes back that part", run.last.ID)
}

// Aftermath returns the end of the status line: how to make the reverted change again, or to
// revert the restoration.
func (run *Restoring) Aftermath() string {
	if run.DryRun || run.last.ID == "" || run.lossy != "" || !run.Undo || run.Redoes {
		run.last.NotKept = run.lossy
		return change.ID(run.last) + change.Aftermath(run.last, nil, run.DryRun)
	}
	return "; redo: restore_file undo=true version=" + run.last.ID
}

// told returns the steps that a result has.
func (r *Restoration) told() []step {
	return slices.DeleteFunc(slices.Clone(r.steps), func(s step) bool { return s.name == "" })
}

// listed names the first steps, and counts the others.
func (r *Restoration) listed() string {
	var lines strings.Builder
	steps := r.told()
	for _, s := range steps[:min(len(steps), change.MostLines)] {
		lines.WriteString(s.name + ": " + s.done + s.size + "\n")
	}
	if len(steps) <= change.MostLines {
		return lines.String()
	}
	var kinds []string
	count := map[string]int{}
	for _, s := range steps[change.MostLines:] {
		if count[s.done]++; count[s.done] == 1 {
			kinds = append(kinds, s.done)
		}
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", count[kind], kind)
	}
	fmt.Fprintf(&lines, "… %d more: %s\n", len(steps)-change.MostLines, strings.Join(kinds, ", "))
	return lines.String()
}
