package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"toolcrib/server/app"
	"toolcrib/server/config"
	"toolcrib/server/daemon"
)

type detached struct{ config.Config }

func detachedCommand() command {
	return command{
		name:  "detached",
		args:  "[stop PID|all]",
		short: "list the servers in the background, or end one with its jobs",
		long: `
It lists the servers in the background, whose jobs and sessions outlast their clients.
Each has a line: process, since when, how many clients, jobs that run, jobs that have
ended and can be read, sessions, directories. With --state-dir it looks there.`,
		new: func() runner { return new(detached) },
	}
}

func (d *detached) run(ctx context.Context, p *Process, args []string) error {
	const usage = "toolcrib detached, or toolcrib detached stop PID, or toolcrib detached stop all"
	if d.StateDir != "" { // named by the user: an error if nothing is there
		if info, err := os.Stat(d.StateDir); err != nil || !info.IsDir() {
			return config.Usagef("toolcrib detached looks where the configuration says", "--state-dir: %q is no directory", d.StateDir)
		}
	}
	if err := p.settle(&d.Config, nil); err != nil {
		return err
	}
	places, err := app.Daemons(d.Config)
	if err != nil {
		return err
	}
	switch {
	case len(args) == 0:
		return listDetached(p, places)
	case len(args) != 2 || args[0] != "stop":
		return config.Usagef(usage, "detached takes nothing, or stop and a process")
	}
	all := args[1] == "all"
	pid, err := strconv.Atoi(args[1])
	if err != nil && !all {
		return config.Usagef(usage, "%q is no process", args[1])
	}
	stopped := 0
	for _, place := range places {
		for _, s := range place.List() {
			if !all && s.PID != pid {
				continue
			}
			if err := place.Stop(ctx, s.PID); err != nil && !errors.Is(err, daemon.ErrNone) {
				return err
			}
			stopped++
			jobs := fmt.Sprintf("%d jobs", s.Load.Running)
			switch {
			case s.Silent:
				jobs = "all its jobs"
			case s.Load.Running == 1:
				jobs = "1 job"
			}
			if _, err := fmt.Fprintf(p.Stdout, "process %d has ended, with %s\n", s.PID, jobs); err != nil {
				return err
			}
		}
	}
	switch {
	case stopped == 0 && all:
		return tellNone(p)
	case stopped == 0:
		return fmt.Errorf("process %d: %w; toolcrib detached lists them", pid, daemon.ErrNone)
	}
	return nil
}

func tellNone(p *Process) error {
	_, err := fmt.Fprintln(p.Stdout, "no server is in the background")
	return err
}

func listDetached(p *Process, places []*daemon.Dir) error {
	var list []daemon.Status
	for _, place := range places {
		list = append(list, place.List()...)
	}
	if len(list) == 0 {
		return tellNone(p)
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "process\tsince\tclients\trunning\tkept\tsessions\tdirectories")
	for _, s := range list {
		if s.Silent {
			fmt.Fprintf(table, "%d\tdoes not answer\n", s.PID)
			continue
		}
		fmt.Fprintf(table, "%d\t%s\t%d\t%d\t%d\t%d\t%s\n", s.PID, s.Since.Local().Format(time.DateTime),
			s.Clients, s.Load.Running, s.Load.Kept, s.Load.Sessions, strings.Join(s.Roots, " "))
	}
	return table.Flush()
}
