package shell

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/shell/internal/processes"
)

//go:embed process_list.md
var processListDoc string

// cpuSample is the time between the two readings that give the load.
const cpuSample = 200 * time.Millisecond

// ProcessListIn says which processes to list.
type ProcessListIn struct {
	Name   string `json:"name,omitempty" jsonschema:"maxLength=200" jsonschema_description:"text in the command line, in any case" alias:"filter,query,pattern,command"`
	PID    int    `json:"pid,omitempty" jsonschema:"minimum=1,maximum=4194304" jsonschema_description:"this process and all that descends from it"`
	Port   int    `json:"port,omitempty" jsonschema:"minimum=1,maximum=65535" jsonschema_description:"those that listen at this TCP port; on Linux"`
	User   string `json:"user,omitempty" jsonschema:"maxLength=100" jsonschema_description:"those of this user"`
	Sort   string `json:"sort,omitempty" jsonschema:"enum=cpu,enum=memory,enum=age,enum=pid,default=cpu" jsonschema_description:"cpu and memory: most first; age: newest first" alias:"sort_by"`
	Tree   bool   `json:"tree,omitempty" jsonschema:"default=false" jsonschema_description:"each after its parent, indented, instead of sorted"`
	Kernel bool   `json:"kernel,omitempty" jsonschema:"default=false" jsonschema_description:"also parts of the kernel"`
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=500,default=25" jsonschema_description:"rows at most"`
}

// ProcessListOut is the list.
type ProcessListOut struct {
	Status string
	Rows   []string
}

// Text returns the status and a row for each process.
func (o ProcessListOut) Text() string {
	return lines(append([]string{o.Status}, o.Rows...)...)
}

// Trim keeps the first rows.
func (o ProcessListOut) Trim(budget int) ProcessListOut {
	for len(o.Rows) > 1 && len(o.Text()) > budget {
		o.Rows = o.Rows[:len(o.Rows)/2]
		o.Status += "; more did not fit: filter, or lower the limit"
	}
	return o
}

func processListTool() tools.Tool {
	return tools.New(tools.Def[ProcessListIn, ProcessListOut]{
		Name: "process_list", Title: "List processes", Doc: processListDoc, Tags: []string{"shell", "processes", "cpu", "memory", "tree", "ports"},
		Aliases: []string{"list_processes"}, Foreign: []tools.Foreign{processBy("", "list", "ps", "find", "search", "info")},
		Access: tools.Read, Effects: tools.None,
		Limits: tools.Limits{Facts: map[string]any{"sample": cpuSample.Milliseconds()}},
		Examples: []tools.Example[ProcessListIn]{{
			Say:  "The process that takes most memory.",
			In:   ProcessListIn{Sort: "memory", Limit: 1},
			Want: "1 of … processes, by memory: …\nid · parent · user · cpu · mem · age · command\n…@… · … · … · …% · … · … · …\n",
		}, {
			Say:  "Who listens at a port.",
			In:   ProcessListIn{Port: 1},
			Want: "no process …\n...",
		}},
		Run: listProcesses,
	})
}

func listProcesses(ctx context.Context, in ProcessListIn) (ProcessListOut, error) {
	all, load, err := measured(ctx)
	if err != nil {
		return ProcessListOut{}, err
	}
	listening, err := listeners(ctx, in.Port)
	if err != nil {
		return ProcessListOut{}, err
	}
	fits := func(p processes.Process) bool {
		return (in.Kernel || !p.Kernel) && (in.User == "" || p.User == in.User) &&
			(in.Name == "" || strings.Contains(strings.ToLower(p.Command), strings.ToLower(in.Name))) &&
			(in.Port == 0 || slices.Contains(listening, p.PID))
	}
	found, depths := all, make([]int, len(all))
	switch {
	case in.PID > 0:
		if found, depths = processes.Tree(all, in.PID); len(found) == 0 {
			return ProcessListOut{}, tools.Errorf(tools.NotFound, "no process has the PID %d", in.PID).WithHint("process_list without pid shows what runs")
		}
	case in.Tree:
		found, depths = forest(all)
	}
	type row struct {
		processes.Process
		depth int
	}
	var rows []row
	for i, p := range found {
		if fits(p) {
			rows = append(rows, row{p, depths[i]})
		}
	}
	if !in.Tree {
		slices.SortStableFunc(rows, func(a, b row) int { return order(in.Sort, load, a.Process, b.Process) })
	}
	if len(rows) == 0 {
		return ProcessListOut{Status: fmt.Sprintf("no process of %d fits", len(all))}, ctx.Err()
	}
	shown := rows[:min(len(rows), cmp.Or(in.Limit, 25))]
	out := ProcessListOut{Rows: []string{"id · parent · user · cpu · mem · age · command"}}
	now, indent := time.Now(), 0
	if in.Tree {
		indent = 2
	}
	for _, p := range shown {
		out.Rows = append(out.Rows, fmt.Sprintf("%s · %d · %s · %.0f%% · %s · %s · %s%s", p.ID(), p.Parent, p.User, load[p.PID],
			textfile.Size(p.Memory), durations.Rough(max(now.Sub(p.Start), 0)), strings.Repeat(" ", min(p.depth*indent, 40)), shortCommand(p.Process)))
	}
	by := "by " + cmp.Or(in.Sort, "cpu")
	if in.Tree {
		by = "as a tree"
	}
	sum := 0.0
	for _, l := range load {
		sum += l
	}
	out.Status = fmt.Sprintf("%d of %d processes, %s: %.0f%% cpu in all", len(shown), len(rows), by, sum)
	return out, ctx.Err()
}

// measured returns the processes, and the load of each in percent of one CPU.
func measured(ctx context.Context) ([]processes.Process, map[int]float64, error) {
	before, err := processes.List(ctx)
	if err != nil {
		return nil, nil, unlisted(err)
	}
	began := time.Now()
	select {
	case <-time.After(cpuSample):
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	all, err := shownProcesses(ctx)
	if err != nil {
		return nil, nil, unlisted(err)
	}
	elapsed := time.Since(began)
	spent := map[string]time.Duration{}
	for _, p := range before {
		spent[p.ID()] = p.CPU
	}
	load := map[int]float64{}
	for _, p := range all {
		load[p.PID] = 100 * float64(p.CPU-spent[p.ID()]) / float64(elapsed)
	}
	return all, load, nil
}

// listeners returns the PIDs that listen on a port; port 0 means none.
func listeners(ctx context.Context, port int) ([]int, error) {
	if port == 0 {
		return nil, nil
	}
	pids, err := processes.Listening(ctx, port)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, tools.Errorf(tools.Unsupported, "who listens at a port is known on Linux alone").WithHint("filter by name")
	}
	return pids, err
}

// forest sorts every process after its parent.
func forest(all []processes.Process) (list []processes.Process, depths []int) {
	known := map[int]bool{}
	for _, p := range all {
		known[p.PID] = true
	}
	for _, p := range all {
		if !known[p.Parent] || p.Parent == p.PID {
			tree, below := processes.Tree(all, p.PID)
			list, depths = append(list, tree...), append(depths, below...)
		}
	}
	return list, depths
}

func order(by string, load map[int]float64, a, b processes.Process) int {
	switch by {
	case "memory":
		return cmp.Compare(b.Memory, a.Memory)
	case "age":
		return cmp.Compare(b.Began, a.Began)
	case "pid":
		return cmp.Compare(a.PID, b.PID)
	}
	return cmp.Compare(load[b.PID], load[a.PID])
}
