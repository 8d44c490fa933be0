package schedule

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
)

//go:embed schedule_list.md
var scheduleListDoc string

// ScheduleListIn says which schedules to show.
type ScheduleListIn struct {
	Name  string `json:"name,omitempty" jsonschema:"maxLength=64" jsonschema_description:"Schedule whose runs to show; default all schedules, with the last run of each." alias:"id"`
	Limit int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=50,default=10" jsonschema_description:"Runs to show of a named schedule."`
}

// ScheduleListOut is the schedules.
type ScheduleListOut struct {
	one bool // the runs of one schedule
	all []listed
	now time.Time
}

type listed struct {
	row
	args schema.Object
	next time.Time
	runs []outcome
}

// Text implements [tools.Texter].
func (o ScheduleListOut) Text() string {
	if len(o.all) == 0 {
		return "no schedules"
	}
	var b strings.Builder
	if !o.one {
		fmt.Fprintf(&b, "%s\n", count(len(o.all), "schedule"))
	}
	for _, l := range o.all {
		l.write(&b, o.one)
	}
	return b.String()
}

// Trim implements [tools.Trimmer].
func (o ScheduleListOut) Trim(budget int) ScheduleListOut {
	for len(o.Text()) > budget && len(o.all) > 0 {
		last := &o.all[len(o.all)-1]
		switch n := len(last.runs); {
		case o.one && n > 1:
			last.runs = last.runs[:n-1]
		case o.one:
			return o
		default:
			o.all = o.all[:len(o.all)-1]
		}
	}
	return o
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
		args, err := json.Marshal(l.args)
		if err == nil {
			fmt.Fprintf(b, "arguments: %s\n", args)
		}
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

func scheduleListTool(d Deps) tools.Tool {
	return tools.New(tools.Def[ScheduleListIn, ScheduleListOut]{
		Name: "schedule_list", Title: "Show schedules and their runs", Doc: scheduleListDoc, Tags: []string{"schedules"},
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Examples: []tools.Example[ScheduleListIn]{{Say: "What is planned?", Want: "no schedules"}},
		Run:      d.list,
	})
}

func (d Deps) list(ctx context.Context, in ScheduleListIn) (ScheduleListOut, error) {
	out := ScheduleListOut{one: in.Name != "", now: d.Now()}
	k, err := d.keeper(tools.Session(ctx))
	if err != nil {
		return out, err
	}
	var all []row
	if in.Name != "" {
		r, err := k.named(ctx, in.Name)
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
		limit := 1
		if in.Name != "" {
			limit = in.Limit
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
	l := listed{row: r}
	var args schema.Object
	if json.Unmarshal(r.Spec.Args, &args) == nil {
		l.args = d.shown(ctx, r.Spec.Tool, args)
	}
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
