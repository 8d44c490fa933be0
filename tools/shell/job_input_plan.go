package shell

import (
	"context"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/programs/screen"
	"toolcrib/tools/shell/internal/command"
	"toolcrib/tools/shell/internal/processes"
)

// planInput returns the effects of typing into a job. A line for a shell that waits at its
// prompt is judged as a command line; the effect of a text in any other program is unknown.
// Keys that type nothing add no effect.
func (d Deps) planInput(ctx context.Context, in JobInputIn) (tools.Plan, error) {
	plan := tools.Plan{
		Effects: tools.Process | tools.Workspace | tools.Destroys,
		Unknown: "nobody knows what a program does with what is typed",
	}
	j, err := d.job(ctx, in.Job, false)
	switch {
	case err != nil && d.workOf(ctx, in.Job) != nil: // which cannot be typed into
		return tools.Plan{Effects: tools.Process}, nil
	case err != nil: // the call itself reports the error
		return plan, nil
	}
	if in.quiet(j) {
		return tools.Plan{Effects: tools.Process}, nil
	}
	if d.Sandbox != nil && d.Sandbox.Level() == sandbox.None {
		plan.Effects |= tools.Outside
	}
	if line, ok := in.line(j); ok {
		plan = planLine(tools.Session(ctx).Workspace, line, command.Location{Anywhere: true}, plan.Effects)
	}
	text, _ := in.typed()
	redacted := d.redactInput(ctx, in)
	plan.Private = redacted.Text != in.Text || !slices.Equal(redacted.Keys, in.Keys)
	plan.Shows = "into the job " + brief(j.Text) + ":\n" + text
	return plan, nil
}

// typed returns the text followed by the characters of the keys, Enter as a line feed; false =
// no key has that name.
func (in JobInputIn) typed() (text string, ok bool) {
	text, ok = strings.ReplaceAll(in.Text, "\r\n", "\n"), true
	for _, name := range in.Keys {
		sends, known := (*screen.Screen)(nil).Key(name)
		if strings.EqualFold(name, "eof") {
			sends, known = "\x04", true
		}
		text += sends
		ok = ok && known
	}
	return strings.ReplaceAll(text, "\r", "\n"), ok
}

// quiet reports whether all keys type nothing and confirm nothing that was typed.
func (in JobInputIn) quiet(j *jobs.Job) bool {
	return in.Text == "" && !slices.ContainsFunc(in.Keys, func(name string) bool {
		sends, ok := (*screen.Screen)(nil).Key(name)
		switch {
		case strings.EqualFold(name, "eof"):
			return false
		case !ok:
			return true
		case sends == "\r":
			return j.Typing() || len(in.Keys) > 1
		}
		return !slices.Contains([]string{"\x03", "\x04", "\x1a", "\x1b", "\x1c"}, sends) &&
			!strings.HasPrefix(sends, "\x1b[") && !strings.HasPrefix(sends, "\x1bO")
	})
}

// line returns the text as the command line of a shell that waits for one. ok is false if no
// shell waits, its line is not empty, or keys would change the text.
func (in JobInputIn) line(j *jobs.Job) (text string, ok bool) {
	text, ok = in.typed()
	switch {
	case !ok, j.Typing(), !atPrompt(j), !strings.HasSuffix(text, "\n"):
		return text, false
	case strings.HasSuffix(text, "\\\n"): // it goes on
		return text, false
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }): // keys of its editor
		return text, false
	case recalls(text):
		return text, false
	}
	return text, true
}

// recalls reports whether a shell may replace a part of the text by an earlier line (history
// expansion).
func recalls(text string) bool {
	if strings.HasPrefix(text, "^") || strings.Contains(text, "\n^") {
		return true
	}
	for {
		_, rest, found := strings.Cut(text, "!")
		if !found {
			return false
		}
		if rest != "" && !strings.ContainsRune(" \t\n=", rune(rest[0])) {
			return true
		}
		text = rest
	}
}

// atPrompt reports whether a shell reads the terminal of a job.
func atPrompt(j *jobs.Job) bool {
	return slices.Contains([]string{"bash", "sh", "dash"}, processes.Alone(j.Foreground()))
}

// leaves reports whether a part of a line stays typed on the terminal of the job, where the
// next input continues it.
func (in JobInputIn) leaves(j *jobs.Job) bool {
	text, _ := in.typed()
	switch line, ok := in.line(j); {
	case in.interrupts():
		return false
	case ok:
		return command.Parse(line, command.Location{Anywhere: true}).Unknown != ""
	case atPrompt(j):
		return text != "\n" || j.Typing()
	}
	return !strings.HasSuffix(text, "\n")
}

// inputLoses asks before a line loses something that is typed for a shell at its prompt.
func (d Deps) inputLoses(ctx context.Context, in JobInputIn) (tools.Question, error) {
	j, err := d.job(ctx, in.Job, false)
	if err != nil {
		return tools.Question{}, ctx.Err() // the call itself reports the error
	}
	line, ok := in.line(j)
	if !ok {
		return tools.Question{}, nil
	}
	dir := processes.Dir(j.Foreground())
	return d.question(ctx, command.Parse(line, command.Location{Dir: dir, Anywhere: dir == ""}).Losses)
}
