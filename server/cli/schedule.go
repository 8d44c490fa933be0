package cli

import (
	"context"
	"runtime"
	"slices"

	"toolcrib/server/cli/internal/unitfile"
	"toolcrib/server/config"
)

// databaseVariable is the variable without a flag that decides which schedules there are.
const databaseVariable = "TOOLCRIB_DATABASE"

type schedules struct{ config.Config }

func scheduleCommand() command {
	return command{
		name: "schedule", args: "run|install|uninstall [DIR ...]",
		short: "run the schedules of directories without a client, or have the system do so",
		long: `
run is a server without a client, which only runs schedules. install writes a unit of systemd
or an agent of launchd for it, with these flags and directories; uninstall removes that.`,
		new: func() runner { return new(schedules) },
	}
}

func (s *schedules) run(ctx context.Context, p *Process, args []string) error {
	const hint = "toolcrib schedule run DIR; toolcrib schedule install DIR"
	switch {
	case len(args) == 0:
		return config.Usagef(hint, "schedule wants to know what to do")
	case !slices.Contains([]string{"run", "install", "uninstall"}, args[0]):
		return config.Usagef(hint, "schedule takes run, install or uninstall, not %q", args[0])
	}
	roots, err := rootsOf(args[1:])
	if err != nil {
		return err
	}
	l := launchOf(s.Config, roots)
	switch home, noHome := p.env.Home(); {
	case args[0] == "run":
		if err := p.settle(&s.Config, roots); err != nil {
			return err
		}
		selected, err := p.app().Choose(s.Config)
		if err != nil {
			return err
		}
		return p.app().Attend(ctx, s.Config, selected, roots)
	case args[0] == "install" && p.env.Getenv(databaseVariable) != "":
		return config.Usagef("set database in the configuration instead; toolcrib help state tells how",
			"%s is set, and what the system starts would not have it: it would run the schedules of another database", databaseVariable)
	case noHome != nil:
		return noHome
	default:
		return unitfile.Do(args[0] == "install", p.Stdout, runtime.GOOS, home.Dir, roots, append([]string{l.Command, "schedule", "run"}, l.Args[1:]...))
	}
}
