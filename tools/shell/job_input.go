package shell

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/screen"
	"toolcrib/tools/internal/text/textfile"
)

//go:embed job_input.md
var jobInputDoc string

// JobInputIn says what to type.
type JobInputIn struct {
	Job   string   `json:"job,omitempty" jsonschema:"maxLength=64" jsonschema_description:"handle of the job; default the only one that runs" alias:"handle,job_id,id,pid,process_id,session_id,shell_id,bash_id,task_id"`
	Text  string   `json:"text,omitempty" jsonschema:"maxLength=100000" jsonschema_description:"text to type; end it with \\n for Enter" alias:"input,data,chars"`
	Keys  []string `json:"keys,omitempty" jsonschema:"maxItems=100" jsonschema_description:"keys to press after the text: enter, tab, esc, up, f1, ctrl-c, alt-x, or a character; eof ends the input"`
	Wait  string   `json:"wait,omitempty" unit:"s,ms" jsonschema:"maxLength=20" jsonschema_description:"how long to wait for the answer, at most 50s; default 5s" alias:"timeout,yield_time"`
	Until string   `json:"until,omitempty" jsonschema:"maxLength=1000" jsonschema_description:"wait until this text, or /regexp/, appears; else until the output is still"`
}

// Times of an answer.
const (
	still        = 300 * time.Millisecond // without output: the program waits, where it is not computing
	answerWithin = 5 * time.Second
)

// JobInputOut is the answer of the program.
type JobInputOut struct{ jobShown }

func jobInputTool(d Deps) tools.Tool {
	return tools.New(tools.Def[JobInputIn, JobInputOut]{
		Name: "job_input", Title: "Type into a job", Doc: jobInputDoc, Tags: []string{"shell", "jobs", "terminal", "write", "keys", "stdin", "ctrl-c", "answer a prompt"},
		Foreign: append(tools.Called("write_stdin", "interact_with_process"), processBy("input", "write", "send", "send_keys")),
		Access:  tools.Exec, Effects: tools.Process | tools.Workspace | tools.Outside | tools.Destroys,
		Streams: true, Timeout: longestWait + 10*time.Second, Spellings: inputSpellings(),
		Plan: d.planInput, Redact: d.redactInput, Confirm: d.inputLoses,
		Examples: []tools.Example[JobInputIn]{{
			Say:    "Answer a question.",
			Before: d.example("read -p 'Your name? ' name; echo \"Hello, $name\"; read", true),
			In:     JobInputIn{Text: "Ada\n", Until: "Hello"},
			Want:   "…; job …\nfound: …Hello, Ada\n\n…Hello, Ada\n",
		}},
		Run: d.jobInput,
	})
}

func (d Deps) jobInput(ctx context.Context, in JobInputIn) (JobInputOut, error) {
	if err := ctx.Err(); err != nil {
		return JobInputOut{}, err
	}
	if of := d.workOf(ctx, in.Job); of != nil {
		return JobInputOut{}, notTyped(ctx, of, written(in.Job))
	}
	j, err := d.job(ctx, in.Job, false)
	if err != nil {
		return JobInputOut{}, err
	}
	wait, err := durations.Argument{Name: "wait", Default: answerWithin, Most: 24 * time.Hour}.Read(in.Wait)
	if err != nil {
		return JobInputOut{}, err
	}
	until, err := matcher(in.Until)
	if err != nil {
		return JobInputOut{}, err
	}
	from := j.Log().Extent().Bytes
	if err := in.send(j); err != nil {
		return JobInputOut{}, err
	}
	found, err := answer(ctx, j, part{Offset: &from, Until: in.Until}, until, min(wait, longestWait))
	if err != nil {
		return JobInputOut{}, err
	}
	out := JobInputOut{jobShown{Job: j.ID, Report: j.Report(), Notes: []string{found}}}
	shown := part{}
	if !j.Terminal {
		shown.Offset = &from
	}
	return out, errors.Join(out.show(j, shown), ctx.Err())
}

// answer waits for the answer of a program to the input.
func answer(ctx context.Context, j *jobs.Job, in part, until *regexp.Regexp, wait time.Duration) (found string, err error) {
	if until != nil {
		return await(ctx, j, in, until, wait)
	}
	_, err = quiesce(ctx, j, *in.Offset, still, wait)
	return "", err
}

// send types the text and the keys.
func (in JobInputIn) send(j *jobs.Job) error {
	if how, over := overOf(j); over {
		return tools.Errorf(tools.Conflict, "job %s has ended: %s", j.ID, how)
	}
	if in.Text == "" && len(in.Keys) == 0 {
		return tools.Errorf(tools.InvalidArgument, "there is nothing to type").WithHint("give text or keys")
	}
	if !j.Input && !in.interrupts() {
		return tools.Errorf(tools.Conflict, "the input of job %s is closed", j.ID).
			WithHint("start it with terminal: true or input: true; the key ctrl-c works all the same")
	}
	leaves := in.leaves(j)
	j.SetTyping(true) // until all is written
	text := in.Text
	if j.Terminal {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\r"), "\n", "\r")
	}
	if err := typed(j, text); err != nil {
		return err
	}
	for i, name := range in.Keys {
		if err := press(j, i, name); err != nil {
			return err
		}
	}
	j.SetTyping(leaves)
	return nil
}

// interrupts reports whether ctrl-c is the only key, which needs no input.
func (in JobInputIn) interrupts() bool {
	s := (*screen.Screen)(nil)
	sends := ""
	if len(in.Keys) == 1 {
		sends, _ = s.Key(in.Keys[0])
	}
	return in.Text == "" && sends == "\x03"
}

// press sends a key in the present mode of the terminal. Some keys also work without a
// terminal.
func press(j *jobs.Job, i int, name string) error {
	sends, ok := (*screen.Screen)(nil).Key(name)
	j.Screen(func(s *screen.Screen) { sends, ok = s.Key(name) })
	eof := strings.EqualFold(name, "eof")
	switch {
	case eof && j.Terminal:
		return typed(j, "\x04")
	case eof, sends == "\x04" && !j.Terminal:
		return unread(j, j.CloseInput())
	case !ok:
		e := tools.Errorf(tools.InvalidArgument, "/keys/%d: no key is called %q", i, name)
		if near := schema.Nearest(strings.ToLower(name), screen.KeyNames()); near != "" {
			return e.WithHint("did you mean %s; there are ctrl-a to ctrl-z and alt- with any key too", near)
		}
		return e.WithHint("there are: %s, ctrl-a to ctrl-z, alt- with any of them", strings.Join(screen.KeyNames(), ", "))
	case j.Terminal:
		return typed(j, sends)
	case sends == "\x03":
		return unread(j, j.Interrupt())
	}
	return typed(j, strings.ReplaceAll(sends, "\r", "\n"))
}

func typed(j *jobs.Job, text string) error {
	if text == "" {
		return nil
	}
	n, err := j.Write([]byte(text))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return tools.Errorf(tools.Conflict, "job %s does not read its input: it took %s of %s", j.ID, textfile.Size(int64(n)), textfile.Size(int64(len(text)))).
			WithHint("job_output shows what it is doing")
	}
	return unread(j, err)
}

// unread returns why input did not arrive.
func unread(j *jobs.Job, err error) error {
	if err == nil {
		return nil
	}
	e := tools.Errorf(tools.Conflict, "job %s reads no input any more", j.ID).WithHint("job_output shows what it has printed")
	e.Err = fmt.Errorf("write: %w", err)
	return e
}

// inputSpellings are the forms in which other tools take input.
func inputSpellings() []schema.Spelling {
	return []schema.Spelling{
		schema.Dropped("", "max_output_tokens", "wait_for_prompt", "verbose_timing"),
	}
}
