package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/inner"
	"toolcrib/tools/internal/text/textfile"
)

// listing shows schedules.
type listing struct {
	one  bool // the runs of one schedule
	all  []listed
	left int // how many at the end are left out: runs of the one, or schedules
}

type listed struct {
	row
	args schema.Object
	next time.Time
	runs []outcome
}

// Text implements [tools.Texter].
func (o listing) Text() string {
	if len(o.all) == 0 {
		return "no schedules"
	}
	var b strings.Builder
	if !o.one {
		fmt.Fprintf(&b, "%s\n", textfile.Count(len(o.all)+o.left, "schedule"))
	}
	for _, l := range o.all {
		l.write(&b, o.one)
	}
	switch {
	case o.left == 0:
	case o.one:
		fmt.Fprintf(&b, "left out: %s, which %s%s has\n", textfile.Count(o.left, "older run"), scheduleURI, o.all[0].Name)
	default:
		fmt.Fprintf(&b, "left out: %s; name one to see it\n", textfile.Count(o.left, "schedule"))
	}
	return b.String()
}

func (l listed) write(b *strings.Builder, whole bool) {
	next := "next " + stamp(l.next)
	if l.Over != "" {
		next = "over: " + l.Over
	}
	fmt.Fprintf(b, "%s: %s, calls %s; %s", l.Name, l.Spec.When, l.Spec.Tool, next)
	if l.Ran > 0 || l.Missed > 0 {
		fmt.Fprintf(b, "; started %d, missed %d", l.Ran, l.Missed)
	}
	b.WriteString("\n")
	if whole {
		fmt.Fprintf(b, "arguments: %s\n", l.args)
		if l.Spec.Consented {
			b.WriteString("the user has agreed to this very call\n")
		}
		fmt.Fprintf(b, "missed: %s, overlap: %s\n", l.Spec.Missed, l.Spec.Overlap)
	}
	for _, run := range l.runs {
		run.write(b, l.next.Location(), whole)
	}
}

func (o outcome) write(b *strings.Builder, zone *time.Location, whole bool) {
	fmt.Fprintf(b, "  %s: %s", stamp(o.Started.In(zone)), o.State)
	switch late := o.Started.Sub(o.Slot); {
	case o.Slot.IsZero():
		b.WriteString(", by schedule_run")
	case late > punctual:
		fmt.Fprintf(b, ", %s late", late.Round(time.Second))
	}
	if o.Missed > 0 {
		fmt.Fprintf(b, ", %d missed before it", o.Missed)
	}
	if o.Note != "" {
		fmt.Fprintf(b, ": %s", o.Note)
	}
	b.WriteString("\n")
	if whole && o.Result != "" {
		fmt.Fprintf(b, "    %s\n", strings.ReplaceAll(o.Result, "\n", "\n    "))
	}
}

// look returns the schedules of the session, or the last runs of the one of a name.
func (d Deps) look(ctx context.Context, name string, limit int) (listing, error) {
	out := listing{one: name != ""}
	k, err := d.keeper(tools.Session(ctx))
	if err != nil {
		return out, err
	}
	var all []row
	if name != "" {
		r, err := k.named(ctx, name)
		if err != nil {
			return out, err
		}
		all = []row{r}
	} else if k.exists() {
		if all, err = k.store.list(ctx, tools.Session(ctx).Principal); err != nil {
			return out, err
		}
	}
	for _, r := range all {
		if name == "" {
			limit = 1
		}
		l, err := d.listed(ctx, k, r, limit)
		if err != nil {
			return out, err
		}
		out.all = append(out.all, l)
	}
	return out, ctx.Err()
}

func (d Deps) listed(ctx context.Context, k *keeper, r row, limit int) (listed, error) {
	l := listed{row: r, args: inner.Told(ctx, d.Caller, r.Spec.Tool, schema.Object(r.Spec.Args), nil)}
	if times, err := r.times(); err == nil {
		after := d.Now()
		if r.Cursor.After(after) {
			after = r.Cursor
		}
		l.next, _ = times.Next(after)
	}
	var err error
	l.runs, err = k.store.runs(ctx, r.ID, limit)
	return l, err
}

// named returns the schedule of that name of the session's principal.
func (k *keeper) named(ctx context.Context, name string) (row, error) {
	var all []row
	if k.exists() {
		var err error
		if all, err = k.store.list(ctx, tools.Session(ctx).Principal); err != nil {
			return row{}, err
		}
	}
	names := make([]string, 0, len(all))
	for _, r := range all {
		if r.Name == name {
			return r, nil
		}
		names = append(names, r.Name)
	}
	e := tools.Errorf(tools.NotFound, "there is no schedule %q", name)
	if len(names) == 0 {
		return row{}, e.WithHint("there are none; schedule_create makes one")
	}
	return row{}, e.WithHint("there are %s", strings.Join(names, ", "))
}

// tool returns the tool that a call by a name means.
func (d Deps) tool(ctx context.Context, name string, args json.RawMessage) (tools.Tool, error) {
	names, err := d.Caller.Names(ctx)
	if err != nil {
		return tools.Tool{}, err
	}
	return names.Find(name, args)
}

// stamps formats times for people.
func stamps(all []time.Time) string {
	parts := make([]string, len(all))
	for i, t := range all {
		parts[i] = stamp(t)
	}
	return strings.Join(parts, ", ")
}

func stamp(t time.Time) string {
	if t.Second() != 0 {
		return t.Format("Mon 2006-01-02 15:04:05 MST")
	}
	return t.Format("Mon 2006-01-02 15:04 MST")
}

// exampleSchedule makes the schedule of the examples.
func (d Deps) exampleSchedule(ctx context.Context) error {
	s := tools.Session(ctx)
	k, err := d.keeper(s)
	if err != nil {
		return err
	}
	err = k.store.add(ctx, row{
		ID: "example", Principal: s.Principal, Name: "large", Created: d.Now(), Cursor: d.Now(),
		Spec: spec{When: "0 9 1 1 *", Zone: "UTC", Tool: "glob", Args: json.RawMessage(`{"pattern":["**/*.iso"]}`), Missed: "once", Overlap: "skip"},
	}, mostRuns)
	if e, ok := errors.AsType[*tools.Error](err); ok && e.Code == tools.AlreadyExists {
		return nil
	}
	return err
}
