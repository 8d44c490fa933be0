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

// ownTerminal is toolcrib, with its own tools.
type ownTerminal struct {
	*terminalHost
	*harness.ToolUser
	next string // offset of the output that was not shown yet
}

func (o *ownTerminal) connection() *harness.ToolUser { return o.ToolUser }

func (o *ownTerminal) open(ctx context.Context) (err error) {
	o.ToolUser, err = o.serve(ctx, o.env.Writer(o.dir()).Args...)
	return err
}

var (
	ownExit = regexp.MustCompile(`^exit (\d+) in`)
	ownJob  = regexp.MustCompile(`\bjob[ =](\w\S*?)[;\s]`)
	ownNext = regexp.MustCompile(`\boffset=(\d+)`)
)

// ask makes a call and reads its answer.
func (o *ownTerminal) ask(tool string, args map[string]any) (shown, error) {
	a, err := o.Use(tool, args)
	if err != nil {
		return shown{}, err
	}
	head, output, _ := strings.Cut(a.Text, "\n\n")
	s := shown{text: a.Text, output: output, code: -1, refused: a.Failed, longest: len(a.Text)}
	if m := ownExit.FindStringSubmatch(head); m != nil {
		s.code, _ = strconv.Atoi(m[1]) // digits
	}
	if m := ownJob.FindStringSubmatch(head + "\n"); m != nil {
		s.job = m[1]
	}
	if m := ownNext.FindStringSubmatch(head); m != nil {
		o.next = m[1]
	}
	return s, nil
}

func (o *ownTerminal) run(command string) (shown, error) {
	return o.ask("bash", map[string]any{"command": command})
}

func (o *ownTerminal) runIn(dir, command string) (shown, error) {
	return o.ask("bash", map[string]any{"command": command, "cwd": dir})
}

func (o *ownTerminal) limited(command string, most time.Duration) (shown, error) {
	return o.ask("bash", map[string]any{"command": command, "timeout": most.String()})
}

func (o *ownTerminal) begin(command string, input inputKind) (shown, error) {
	args := map[string]any{"command": command}
	args[map[inputKind]string{noInput: "background", onTerminal: "terminal", byPipe: "input"}[input]] = true
	o.next = "0"
	s, err := o.ask("bash", args)
	if err == nil && s.job == "" {
		err = fmt.Errorf("there is no job: %s", harness.Brief(s.text))
	}
	return s, err
}

func (o *ownTerminal) more(job string) (shown, error) {
	offset, err := strconv.ParseInt(o.next, 10, 64)
	if err != nil {
		return shown{}, err
	}
	return o.ask("job_output", map[string]any{"job": job, "offset": offset, "wait": "10s"})
}

func (o *ownTerminal) end(job string) (shown, error) {
	return o.ask("job_output", map[string]any{"job": job, "wait": "20s", "tail": 1000})
}

func (o *ownTerminal) from(job string, line int) (shown, error) {
	return o.ask("job_output", map[string]any{"job": job, "line": line})
}

func (o *ownTerminal) enter(job, line string) (shown, error) {
	return o.ask("job_input", map[string]any{"job": job, "text": line + "\n"})
}

func (o *ownTerminal) feed(job, lines string) error {
	s, err := o.ask("job_input", map[string]any{"job": job, "text": lines, "wait": "10ms"})
	if err == nil && s.refused {
		err = errors.New(s.text)
	}
	return err
}

func (o *ownTerminal) interrupt(job string) error {
	_, err := o.Must("job_input", map[string]any{"job": job, "keys": []string{"ctrl-c"}})
	return err
}

func (o *ownTerminal) stop(job string) error {
	_, err := o.Must("job_stop", map[string]any{"job": job})
	return err
}

func (o *ownTerminal) jobs() (int, error) {
	text, err := o.Must("job_list", map[string]any{})
	n, _ := strconv.Atoi(strings.Fields(text + " -")[0]) // "no job" is none
	return n, err
}

func (o *ownTerminal) shell(command string) (shown, error) {
	return o.ask("bash", map[string]any{"command": command, "session": "peers"})
}

func (o *ownTerminal) request(command string) (string, map[string]any) {
	return "bash", map[string]any{"command": command}
}
