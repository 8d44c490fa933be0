package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"toolcrib/.ci/measure/harness"
)

// Of the figure floods: by how much the server's memory may grow, and how much longer
// other calls may take than at rest.
const (
	floodGrowth = 32.0 // MB
	floodSlower = 3.0
)

// overflow is a command that others choke on, and how it must end.
type overflow struct {
	name    string
	command string
	args    map[string]any // in addition to the command
	wants   string         // in the first lines of what it comes to
	within  time.Duration  // 0 = as long as it takes
	full    bool           // only where the sandbox contains it
}

// Floods runs commands that flood, hang, ask or multiply, while another caller reads a
// file again and again. What multiplies runs as the superuser, whom limits of processes do
// not bind, and as an ordinary user.
func Floods(ctx context.Context, env harness.Environment) error {
	base, dir, err := env.Scratch("floods")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	program := env.Writer(dir)
	failed := flooded(env, exec.CommandContext(ctx, program.Args[0], program.Args[1:]...), dir, os.Getuid(), overflows(env))
	if os.Getuid() != 0 {
		return failed
	}
	w, err := newWorld(nobody)
	if err != nil {
		return errors.Join(failed, err)
	}
	binary, err := w.bring(env.Binary)
	if err == nil {
		err = flooded(env, w.as(binary, "serve", "--confirm", "client", "--state-dir", w.state, w.root), w.root, nobody, bombs())
	}
	return errors.Join(failed, err, w.close())
}

// flooded runs commands on one server, as one user.
func flooded(e harness.Environment, serve *exec.Cmd, dir string, user int, list []overflow) error {
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a line\n"), 0o644); err != nil {
		return err
	}
	server, err := harness.UseCommand(serve)
	if err != nil {
		return err
	}
	if _, err := server.Must("bash", map[string]any{"command": "seq 100000"}); err != nil {
		return err
	}
	level, err := sandboxLevel(server)
	if err != nil {
		return err
	}
	rest, err := readers(server, 3*time.Second, nil)
	if err != nil {
		return err
	}
	before := harness.Resident(server.Cmd.Process.Pid)
	fmt.Printf("user %d, sandbox %s; other calls at rest p95 %s; the server takes %.1f MB\n\n", user, level, rest.Round(time.Microsecond), before)
	fmt.Println("| command | came to | took | other calls' p95 | the server's peak |\n|---|---|---|---|---|")
	var failed error
	for _, f := range list {
		if f.full && level != "full" {
			fmt.Printf("| %s | not run: the sandbox is %s | | | |\n", f.name, level)
			continue
		}
		if err := f.run(server, rest, before, e.Full()); err != nil {
			failed = errors.Join(failed, fmt.Errorf("user %d: %s: %w", user, f.name, err))
		}
	}
	fmt.Println()
	return errors.Join(failed, server.Close())
}

func overflows(e harness.Environment) []overflow {
	size := func(mb int) int { return e.Of(mb, 8) }
	return append([]overflow{
		{name: "10 GB of lines", command: fmt.Sprintf("yes %s | head -c %dM", strings.Repeat("0123456789", 9), size(10_240)), wants: `^exit 0 in .*; \d+ lines, [\d.]+ [MG]B`},
		{name: "one line of 100 MB", command: fmt.Sprintf("head -c %dM /dev/zero | tr '\\0' x", size(100)), wants: `^exit 0 in .*; 1 line, [\d.]+ MB`},
		{name: "100 MB of random bytes", command: fmt.Sprintf("head -c %dM /dev/urandom", size(100)), wants: `^exit 0 in `},
		{name: "100 MB of progress bars", command: fmt.Sprintf("yes $'10%%\\r50%%\\r\\e[K100%%\\r' | head -c %dM", size(100)), wants: `^exit 0 in `},
		{name: "`yes`, with a timeout", command: "yes", args: map[string]any{"timeout": "2s"}, wants: `\(timeout 2s\)`, within: 6 * time.Second},
		{name: "`sleep 60 &` holds the pipe", command: "sleep 60 & echo started", wants: `(?s)^exit 0 in .*started`, within: 3 * time.Second},
		{name: "a daemon in a session of its own holds it", command: "setsid sleep 60 & disown; echo started", wants: `(?s)^exit 0 in .*started`, within: 3 * time.Second},
		{name: "`sudo`", command: "sudo -k; sudo id", wants: `^exit [1-9]\d* in`, within: 5 * time.Second},
		{name: "`su` asks for a password", command: "su nobody -c id || su -c id root </dev/tty", wants: `^exit [1-9]\d* in`, within: 10 * time.Second},
		{name: "a prompt on the terminal", command: "read -s -p 'Password: ' x </dev/tty", wants: `^exit [1-9]\d* in`, within: 3 * time.Second},
		{name: "`ssh-keygen` asks", command: "ssh-keygen -t ed25519 -f k", wants: `^exit [1-9]?\d* in`, within: 5 * time.Second},
		{name: "`cat` without input", command: "cat", wants: `^exit 0 in`, within: 3 * time.Second},
		{name: "SIGTERM is ignored", command: "trap '' TERM INT HUP; while :; do sleep 0.1; done", args: map[string]any{"timeout": "1s"}, wants: `SIGKILL.*\(timeout 1s\)|killed .*\(timeout 1s\)`, within: 6 * time.Second},
	}, bombs()...)
}

// bombs multiply.
func bombs() []overflow {
	bomb := func(name, command string) overflow {
		return overflow{name: name, command: command, args: map[string]any{"timeout": "3s"}, wants: `\(timeout 3s\)|^exit`, within: 12 * time.Second, full: true}
	}
	return []overflow{
		bomb("a fork bomb", "bomb() { bomb | bomb & }; bomb; sleep 20"),
		bomb("a fork bomb of daemons", "b() { setsid bash -c \"$(declare -f b); b\" & setsid bash -c \"$(declare -f b); b\" & wait; }; b"),
		bomb("a fork bomb that neither waits nor hears signals", `exec python3 -c '
import os, signal
for s in range(1, 32):
    if s not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(s, signal.SIG_IGN)
while True:
    try:
        os.fork()
        os.setsid()
    except OSError:
        pass
'`),
	}
}

// run makes the call and prints its row.
func (f overflow) run(server *harness.ToolUser, rest time.Duration, before float64, judged bool) error {
	pid := server.Cmd.Process.Pid
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0) // its peak begins anew; where it may not, it is that of all until now
	var over atomic.Bool
	type slowed struct {
		p95 time.Duration
		err error
	}
	others := make(chan slowed, 1)
	go func() {
		p95, err := readers(server, time.Hour, &over)
		others <- slowed{p95, err}
	}()
	args := map[string]any{"command": f.command}
	maps.Copy(args, f.args)
	begin := time.Now()
	text, err := f.toTheEnd(server, args)
	took := time.Since(begin)
	if took < time.Second {
		time.Sleep(time.Second - took) // for enough other calls
	}
	over.Store(true)
	slow := <-others
	if err := errors.Join(err, slow.err); err != nil {
		return err
	}
	peak, err := harness.PeakResident(pid)
	if err != nil {
		return err
	}
	status, _, _ := strings.Cut(text, "\n")
	fmt.Printf("| %s | %s | %.1f s | %s, %.1fx | +%.1f MB |\n", f.name, jobless(status), took.Seconds(),
		slow.p95.Round(time.Microsecond), float64(slow.p95)/float64(rest), peak-before)
	switch {
	case !regexp.MustCompile(f.wants).MatchString(text):
		return fmt.Errorf("came to %q, want %s", harness.Brief(text), f.wants)
	case f.within > 0 && took > f.within:
		return fmt.Errorf("took %v, want %v", took, f.within)
	case len(text) > 30_000:
		return fmt.Errorf("a result of %d bytes", len(text))
	case judged && peak-before > floodGrowth:
		return fmt.Errorf("the server's memory grew by %.1f MB, want %.0f", peak-before, floodGrowth)
	case judged && slow.p95 > time.Duration(floodSlower*float64(rest)) && slow.p95 > time.Millisecond:
		return fmt.Errorf("other calls' p95 was %v, at rest %v", slow.p95, rest)
	}
	return nil
}

// toTheEnd runs a command and follows the job that it may become.
func (f overflow) toTheEnd(server *harness.ToolUser, args map[string]any) (string, error) {
	text, err := server.Must("bash", args)
	handle := regexp.MustCompile(`it is job (\S+) now`)
	for err == nil {
		m := handle.FindStringSubmatch(text)
		if m == nil && !strings.HasPrefix(text, "running for") {
			return text, nil
		}
		if m != nil {
			args = map[string]any{"job": m[1], "wait": "50s"}
		}
		text, err = server.Must("job_output", args)
	}
	return "", err
}

// readers reads a file until it is over and returns the 95th percentile of the times.
func readers(server *harness.ToolUser, most time.Duration, over *atomic.Bool) (time.Duration, error) {
	var all []time.Duration
	for begin := time.Now(); time.Since(begin) < most && (over == nil || !over.Load()); time.Sleep(2 * time.Millisecond) {
		start := time.Now()
		if _, err := server.Must("read_file", map[string]any{"path": "a.txt"}); err != nil {
			return 0, err
		}
		all = append(all, time.Since(start))
	}
	slices.Sort(all)
	return all[len(all)*95/100], nil
}

// sandboxLevel is what the result of a command says of its sandbox.
func sandboxLevel(server *harness.ToolUser) (string, error) {
	text, err := server.Must("bash", map[string]any{"command": "true"})
	if m := regexp.MustCompile(`\nsandbox: (\w+)`).FindStringSubmatch(text); m != nil {
		return m[1], err
	}
	return "full", err
}

// jobless is a status without the handle of its job, which is another one each time.
func jobless(status string) string {
	return regexp.MustCompile(`;? ?job \S+;`).ReplaceAllString(status, ";")
}
