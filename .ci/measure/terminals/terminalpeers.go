package terminals

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"toolcrib/.ci/measure/harness"
)

// terminalTools is what users do with a server's tools for programs, by whatever tools it
// has for that. Each method is carried out as the documents of the server say.
type terminalTools interface {
	// run runs a command line to its end.
	run(command string) (shown, error)
	// runIn is run in a directory below that of the server.
	runIn(dir, command string) (shown, error)
	// limited runs a command and ends it where it takes longer.
	limited(command string, most time.Duration) (shown, error)
	// begin starts a command and does not wait for its end.
	begin(command string, input inputKind) (shown, error)
	// more is what a job has printed since the last answer, or prints soon.
	more(job string) (shown, error)
	// end waits for the end of a job and is all that it has printed.
	end(job string) (shown, error)
	// from is the output of a job from a line on, counted from 1.
	from(job string, line int) (shown, error)
	// enter types a line and is what the program says to it.
	enter(job, line string) (shown, error)
	// feed writes lines to the input of a job and waits for nothing.
	feed(job, lines string) error
	// interrupt is Ctrl-C.
	interrupt(job string) error
	// stop ends a job.
	stop(job string) error
	// jobs counts those that run, as the server tells.
	jobs() (int, error)
	// shell runs a command in a shell that lasts from call to call.
	shell(command string) (shown, error)
	// request is the call that runs a command which takes long.
	request(command string) (tool string, args map[string]any)
	// place is what lies around the server, connection what leads to it.
	place() *terminalHost
	connection() *harness.ToolUser
	// open starts the server anew, as it is configured.
	open(ctx context.Context) error
}

// inputKind is the source of a program's input.
type inputKind int

const (
	noInput    inputKind = iota
	onTerminal           // a terminal where the server has such
	byPipe
)

// shown is what a user is shown of a command, by one call or by those that belong together.
type shown struct {
	text    string // all
	output  string // of the program
	job     string // its handle, "" without one
	code    int    // -1: no exit code is told
	refused bool   // the tool failed
	longest int    // bytes of the longest answer
}

// and adds a further answer.
func (s shown) and(t shown) shown {
	s.text, s.output = s.text+"\n"+t.text, s.output+t.output
	s.code, s.refused, s.longest = t.code, s.refused || t.refused, max(s.longest, t.longest)
	return s
}

// terminalHost is what lies around a server.
type terminalHost struct {
	env     harness.Environment
	base    string
	outside string // a directory that no program may change
	secret  string
	leaving int // how many names were given
}

// TerminalPeers puts one table of cases to the terminal tools of toolcrib and to those of
// DesktopCommander, one after the other, in a quick run both at once. One check judges both.
func TerminalPeers(ctx context.Context, env harness.Environment) error {
	base, err := os.MkdirTemp(env.Cache, "terminalpeers-") // a directory that is not in /tmp, which is a private one in a sandbox
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	version, err := env.DesktopVersion()
	if err != nil {
		return err
	}
	place := func(name string) *terminalHost {
		p := &terminalHost{env: env, base: filepath.Join(base, name), secret: fmt.Sprintf("sk-%s-%d", name, time.Now().UnixNano())}
		p.outside = filepath.Join(p.base, "outside")
		return p
	}
	servers := []terminalTools{&ownTerminal{terminalHost: place("toolcrib")}, &desktopTerminal{terminalHost: place("desktop")}}
	rows := make([][]error, len(servers))
	failed := make([]error, len(servers))
	var running sync.WaitGroup
	for i, t := range servers {
		running.Go(func() { rows[i], failed[i] = judgeAll(ctx, t) })
		if env.Full() {
			running.Wait()
		}
	}
	running.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	fmt.Printf("| case | toolcrib | DesktopCommander %s |\n|---|---|---|\n", version)
	right, wrong := make([]int, len(servers)), error(nil)
	cases := place("").cases()
	for i, c := range cases {
		cells := []string{c.name}
		for who := range servers {
			why := rows[who][i]
			switch {
			case why == nil:
				right[who]++
				cells = append(cells, "right")
				continue
			case who == 0:
				wrong = errors.Join(wrong, fmt.Errorf("%s: %w", c.name, why))
			}
			cells = append(cells, "wrong: "+oneLine(why.Error()))
		}
		fmt.Printf("| %s |\n", strings.Join(cells, " | "))
	}
	fmt.Printf("\n%d cases: toolcrib %d right, DesktopCommander %d\n", len(cases), right[0], right[1])
	return wrong
}

// judgeAll puts all cases to a server and says what is wrong about each. At full size each
// case has a server of its own, so that none suffers from what another has left.
func judgeAll(ctx context.Context, t terminalTools) (why []error, err error) {
	p := t.place()
	for i, c := range p.cases() {
		if i > 0 && p.env.Full() {
			_ = t.connection().End() // how a server ends is not what is asked
		}
		if i == 0 || p.env.Full() {
			if err := t.open(ctx); err != nil {
				return nil, err
			}
		}
		why = append(why, p.judge(ctx, t, c))
	}
	_ = t.connection().End()
	return why, ctx.Err()
}

// judge puts one case to a server and takes away what it leaves. A server that has ended is
// started anew.
func (p *terminalHost) judge(ctx context.Context, t terminalTools, c terminalCase) error {
	if err := p.plantOutside(); err != nil {
		return err
	}
	name := p.name()
	why := c.check(ctx, t, name)
	for _, pid := range harness.ProcessesNamed(name) {
		if n, err := strconv.Atoi(pid); err == nil {
			_ = syscall.Kill(n, syscall.SIGKILL) // it may be gone
		}
	}
	select {
	case <-t.connection().Done:
		return errors.Join(why, errors.New("the server ended"), t.open(ctx))
	default:
		return why
	}
}

// name is a new one, for the processes of one case.
func (p *terminalHost) name() string {
	p.leaving++
	return fmt.Sprintf("toolcrib-peer-%d-%s-%d", os.Getpid(), filepath.Base(p.base), p.leaving)
}

// sleeper is a command that becomes a process of a name, which sleeps.
func sleeper(name string) string { return fmt.Sprintf("bash -c 'exec -a %s sleep 300'", name) }

// gone waits until no process has a name.
func gone(name string, within time.Duration) error {
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		left := len(harness.ProcessesNamed(name))
		if left == 0 {
			return nil
		}
		if time.Since(begin) > within {
			return fmt.Errorf("%d of its processes run on after %s", left, within)
		}
	}
}

// up waits until so many processes have a name.
func up(name string, count int) error {
	for range 200 {
		if len(harness.ProcessesNamed(name)) >= count {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("%d of %d processes were started", len(harness.ProcessesNamed(name)), count)
}

// plantOutside makes what no program may change.
func (p *terminalHost) plantOutside() error {
	return harness.WriteTree(p.outside, map[string]string{"keep": "kept\n", "tree/file": "kept\n"})
}

// outsideKept checks that.
func (p *terminalHost) outsideKept() error {
	for _, name := range []string{"keep", "tree/file"} {
		if data, err := os.ReadFile(filepath.Join(p.outside, name)); err != nil || string(data) != "kept\n" {
			return errors.New("files outside were changed")
		}
	}
	return nil
}

// serverEnv is the environment of a server, with a secret in it.
func (p *terminalHost) serverEnv(home string) []string {
	set := map[string]string{}
	for _, name := range []string{"PATH", "LANG", "TZ"} {
		if value, ok := os.LookupEnv(name); ok {
			set[name] = value
		}
	}
	set["HOME"], set["SHELL"], set["LC_ALL"], set["MEASURE_API_TOKEN"] = home, "/bin/bash", "C.UTF-8", p.secret
	set["DESKTOP_COMMANDER_DISABLE_TELEMETRY"] = "1"
	var list []string
	for _, name := range slices.Sorted(maps.Keys(set)) {
		list = append(list, name+"="+set[name])
	}
	return list
}

func (p *terminalHost) place() *terminalHost { return p }

// dir is the directory of the server, and its root.
func (p *terminalHost) dir() string { return filepath.Join(p.base, "files") }

// serve starts a server and opens the session.
func (p *terminalHost) serve(ctx context.Context, args ...string) (*harness.ToolUser, error) {
	home := filepath.Join(p.base, "home")
	for _, d := range []string{p.dir(), home} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = p.dir(), p.serverEnv(home)
	return harness.UseCommand(cmd)
}

// oneLine is a text in one cell of the table.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "|", "\\|").Replace(fmt.Sprintf("%.150s", text))
}
