package terminals

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
)

// desktopTerminal is DesktopCommander with its tools start_process, read_process_output,
// interact_with_process, force_terminate and list_sessions. It keeps its home to itself
// and tells nobody of its use.
type desktopTerminal struct {
	*terminalHost
	*harness.ToolUser
	bash string // process of the shell that lasts
}

func (d *desktopTerminal) connection() *harness.ToolUser { return d.ToolUser }

func (d *desktopTerminal) open(ctx context.Context) (err error) {
	d.ToolUser, err = d.serve(ctx, d.env.Desktop().Args...)
	if err != nil {
		return err
	}
	d.bash = ""
	return harness.ConfineDesktop(d.ToolUser, d.dir())
}

var (
	desktopStarted = regexp.MustCompile(`(?s)^Process started with PID (-?\d+) .*?\nInitial output:\n(.*)$`)
	desktopRead    = regexp.MustCompile(`(?s)^\[Reading[^\n]*\n(?:\[WARNING[^\n]*\n)?\n(.*)$`)
	desktopLines   = regexp.MustCompile(`^\[Reading[^\n]*\(total: (\d+) lines`)
	desktopEntered = regexp.MustCompile(`(?s)📤 Output:\n(.*)$`)
	desktopState   = regexp.MustCompile(`\n+(?:🔄|✅|⏳|⏱️) [^\n]*$`)
	desktopExit    = regexp.MustCompile(`Process completed with exit code (\d+)`)
)

// ask makes a call and takes the program's output out of the answer.
func (d *desktopTerminal) ask(tool string, args map[string]any, output *regexp.Regexp) (shown, error) {
	a, err := d.Use(tool, args)
	if err != nil {
		return shown{}, err
	}
	s := shown{text: a.Text, code: -1, refused: a.Failed, longest: len(a.Text)}
	if m := output.FindStringSubmatch(a.Text); m != nil {
		s.output = desktopState.ReplaceAllString(m[len(m)-1], "")
		if output == desktopStarted {
			s.job = m[1]
		}
	}
	if s.output == "(No output in requested range)" {
		s.output = ""
	}
	if m := desktopExit.FindStringSubmatch(a.Text); m != nil {
		s.code, _ = strconv.Atoi(m[1]) // digits
	}
	return s, nil
}

func (d *desktopTerminal) start(command string, wait time.Duration) (shown, error) {
	return d.ask("start_process", map[string]any{"command": command, "timeout_ms": wait.Milliseconds()}, desktopStarted)
}

func (d *desktopTerminal) read(job string, args map[string]any) (shown, error) {
	pid, err := strconv.Atoi(job)
	if err != nil {
		return shown{}, fmt.Errorf("there is no process: %s", job)
	}
	args["pid"] = pid
	return d.ask("read_process_output", args, desktopRead)
}

// run starts the process, and reads its output and how it ended.
func (d *desktopTerminal) run(command string) (shown, error) {
	started, err := d.start(command, 30*time.Second)
	if err != nil || started.job == "" {
		return started, err
	}
	all, err := d.end(started.job)
	all.text, all.longest, all.job = started.text+"\n"+all.text, max(started.longest, all.longest), started.job
	return all, err
}

func (d *desktopTerminal) runIn(dir, command string) (shown, error) {
	return d.run("cd " + dir + " && " + command)
}

// limited ends the process itself: the timeout of start_process is that of the answer.
func (d *desktopTerminal) limited(command string, most time.Duration) (shown, error) {
	started, err := d.start(command, most)
	if err != nil || started.job == "" {
		return started, err
	}
	pid, err := strconv.Atoi(started.job)
	if err != nil {
		return started, err
	}
	stopped, err := d.ask("force_terminate", map[string]any{"pid": pid}, desktopRead)
	if err != nil {
		return started, err
	}
	ended, err := d.end(started.job)
	return started.and(stopped).and(ended), err
}

func (d *desktopTerminal) begin(command string, _ inputKind) (shown, error) {
	s, err := d.start(command, 500*time.Millisecond)
	if err == nil && s.job == "" {
		err = fmt.Errorf("there is no process: %s", harness.Brief(s.text))
	}
	return s, err
}

func (d *desktopTerminal) more(job string) (shown, error) {
	return d.read(job, map[string]any{"timeout_ms": 10_000})
}

// end reads what is new until the process has ended, and then the last 1,000 lines.
func (d *desktopTerminal) end(job string) (shown, error) {
	all := shown{code: -1}
	for begin := time.Now(); time.Since(begin) < 20*time.Second && !strings.Contains(all.text, "Process completed"); {
		s, err := d.read(job, map[string]any{"timeout_ms": 2000})
		if err != nil || s.refused {
			return s, err
		}
		all = all.and(s)
	}
	last, err := d.read(job, map[string]any{"offset": -1000, "length": 1000})
	if err != nil {
		return all, err
	}
	if m := desktopLines.FindStringSubmatch(last.text); m != nil && len(m[1]) < 4 { // all there is
		all.output = ""
	}
	return all.and(last), nil
}

func (d *desktopTerminal) from(job string, line int) (shown, error) {
	return d.read(job, map[string]any{"offset": line - 1, "length": 100})
}

func (d *desktopTerminal) enter(job, line string) (shown, error) {
	pid, err := strconv.Atoi(job)
	if err != nil {
		return shown{}, err
	}
	return d.ask("interact_with_process", map[string]any{"pid": pid, "input": line, "timeout_ms": 1500}, desktopEntered)
}

func (d *desktopTerminal) feed(job, lines string) error {
	pid, err := strconv.Atoi(job)
	if err != nil {
		return err
	}
	_, err = d.Must("interact_with_process", map[string]any{"pid": pid, "input": lines, "wait_for_prompt": false})
	return err
}

// interrupt is the nearest that there is: it sends SIGINT and, a second later, SIGKILL.
func (d *desktopTerminal) interrupt(job string) error { return d.stop(job) }

func (d *desktopTerminal) stop(job string) error {
	pid, err := strconv.Atoi(job)
	if err != nil {
		return err
	}
	_, err = d.Must("force_terminate", map[string]any{"pid": pid})
	return err
}

func (d *desktopTerminal) jobs() (int, error) {
	text, err := d.Must("list_sessions", map[string]any{})
	return strings.Count(text, "PID:"), err
}

func (d *desktopTerminal) shell(command string) (shown, error) {
	if d.bash == "" {
		s, err := d.start("bash -i", 2*time.Second)
		if err != nil || s.job == "" {
			return s, errors.Join(err, errors.New("no shell was started"))
		}
		d.bash = s.job
	}
	return d.enter(d.bash, command)
}

func (d *desktopTerminal) request(command string) (string, map[string]any) {
	return "start_process", map[string]any{"command": command, "timeout_ms": 60_000}
}
