package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"toolcrib/server"
	"toolcrib/server/keeper"
	"toolcrib/workspace/state"
)

type detached struct{ server.Config }

func detachedCommand() command {
	return command{
		name:  "detached",
		args:  "[stop PID|all]",
		short: "list the servers in the background, or end one with its jobs",
		long: `
With jobs: {detach: true} in the configuration, a server that a client starts over
stdin and stdout hands the client to a server in the background, where jobs and
sessions outlast it. The next client with the same settings, directories and
environment comes back to it. It ends by itself when no client is there, no job
runs and no output is kept any more. Each has a line: process, since when, how many
clients, jobs that run, jobs that have ended and can be read, sessions, directories.
With --state-dir it looks there.`,
		new: func() runner { return new(detached) },
	}
}

func (d *detached) run(ctx context.Context, p *Process, args []string) error {
	const usage = "toolcrib detached, or toolcrib detached stop PID, or toolcrib detached stop all"
	if err := p.settle(&d.Config, nil); err != nil {
		return err
	}
	places, err := d.places()
	if err != nil {
		return err
	}
	switch {
	case len(args) == 0:
		return listDetached(p, places)
	case len(args) != 2 || args[0] != "stop":
		return usagef(usage, "detached takes nothing, or stop and a process")
	}
	all := args[1] == "all"
	pid, err := strconv.Atoi(args[1])
	if err != nil && !all {
		return usagef(usage, "%q is no process", args[1])
	}
	stopped := 0
	for _, place := range places {
		for _, s := range place.List() {
			if !all && s.PID != pid {
				continue
			}
			if err := place.Stop(ctx, s.PID); err != nil && !errors.Is(err, keeper.ErrNone) {
				return err
			}
			stopped++
			if _, err := fmt.Fprintf(p.Stdout, "process %d has ended, with %d jobs\n", s.PID, s.Load.Running); err != nil {
				return err
			}
		}
	}
	if stopped == 0 && !all {
		return fmt.Errorf("process %d: %w; toolcrib detached lists them", pid, keeper.ErrNone)
	}
	return nil
}

// places are the directories in which keepers of this user may be.
func (d *detached) places() ([]*keeper.Place, error) {
	if err := keeper.Supported(); err != nil {
		return nil, err
	}
	opt, err := d.Workspace()
	if err != nil {
		return nil, err
	}
	bases := append([]string{opt.StateBase}, opt.StateDefaults...)
	bases = append(bases, state.FallbackBase())
	slices.Sort(bases)
	return keeper.Existing(slices.DeleteFunc(slices.Compact(bases), func(base string) bool { return base == "" })...), nil
}

func listDetached(p *Process, places []*keeper.Place) error {
	var list []keeper.Status
	for _, place := range places {
		list = append(list, place.List()...)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(p.Stdout, "no server is in the background")
		return err
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "process\tsince\tclients\trunning\tkept\tsessions\tdirectories")
	for _, s := range list {
		fmt.Fprintf(table, "%d\t%s\t%d\t%d\t%d\t%d\t%s\n", s.PID, s.Since.Local().Format(time.DateTime),
			s.Clients, s.Load.Running, s.Load.Kept, s.Load.Sessions, strings.Join(s.Roots, " "))
	}
	return table.Flush()
}
