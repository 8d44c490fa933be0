package schedule

import (
	"context"
	_ "embed"
	"sort"

	"toolcrib/tools"
)

//go:embed schedule_list.md
var scheduleListDoc string

// ListIn says which schedules to show.
type ListIn struct {
	Name  string `json:"name,omitempty" jsonschema:"maxLength=64" jsonschema_description:"Schedule whose runs to show; default all schedules, with the last run of each." alias:"id"`
	Limit int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=50,default=10" jsonschema_description:"Runs to show of a named schedule."`
}

// ListOut is the schedules.
type ListOut struct{ listing }

// Trim implements [tools.Trimmer].
func (o ListOut) Trim(budget int) ListOut {
	items := len(o.all)
	if o.one {
		items = len(o.all[0].runs)
	}
	fit := sort.Search(items, func(n int) bool { return len(o.first(n+1).Text()) > budget })
	return o.first(min(max(fit, 1), items))
}

// first returns the first schedules alone, or the first runs of the one.
func (o ListOut) first(n int) ListOut {
	if !o.one {
		o.left += len(o.all) - n
		o.all = o.all[:n]
		return o
	}
	l := o.all[0]
	o.left += len(l.runs) - n
	l.runs = l.runs[:n]
	o.all = []listed{l}
	return o
}

func scheduleListTool(d Deps) tools.Tool {
	return tools.New(tools.Def[ListIn, ListOut]{
		Name: "schedule_list", Title: "Show schedules and their runs", Doc: scheduleListDoc, Tags: []string{"schedules"},
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Examples: []tools.Example[ListIn]{{Say: "What is planned?", Want: "no schedules"}},
		Run:      d.scheduleList,
	})
}

func (d Deps) scheduleList(ctx context.Context, in ListIn) (ListOut, error) {
	found, err := d.look(ctx, in.Name, in.Limit)
	return ListOut{found}, err
}
