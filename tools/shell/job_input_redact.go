package shell

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/screen"
	"toolcrib/tools/internal/secrets"
	"toolcrib/tools/shell/internal/command"
	"toolcrib/tools/shell/internal/processes"
)

// redactInput returns the arguments as records may have them: without text that the terminal
// does not echo or that answers a question for a secret, and without the secrets of a command
// line.
func (d Deps) redactInput(ctx context.Context, in JobInputIn) JobInputIn {
	typed, named := in.characters()
	if typed == "" {
		return in
	}
	redacted := ""
	j, err := d.job(ctx, in.Job, false)
	if err != nil {
		redacted = withheld(typed, "typed into no job")
	} else if why := private(j); why != "" {
		redacted = withheld(typed, why)
	} else {
		redacted = redactedLines(typed)
	}
	if redacted != typed {
		in.Text, in.Keys = redacted, named
	}
	return in
}

// characters returns the typed text with the keys that are single characters, and the named
// keys.
func (in JobInputIn) characters() (typed string, named []string) {
	typed = in.Text
	for _, name := range in.Keys {
		sends, ok := (*screen.Screen)(nil).Key(name)
		if r, n := utf8.DecodeRuneInString(sends); ok && n == len(sends) && unicode.IsPrint(r) {
			typed += sends
			continue
		}
		named = append(named, name)
	}
	return typed, named
}

// private returns why records must not have the input of a job, "" if they may.
func private(j *jobs.Job) string {
	line, echo, shell := "", j.Echo(), atPrompt(j)
	if !j.Screen(func(s *screen.Screen) { line = lineOf(s) }) {
		line = lastLine(j)
	}
	group := j.Foreground()
	switch {
	case j.Typing():
		return "typed behind a part of the line"
	case shell && echo == jobs.Edited:
		return ""
	case j.Terminal && echo != jobs.Seen:
		return "typed without echo"
	case secrets.Prompt(line), !shell && (command.Asks(j.Text) || secrets.Asks([]string{processes.Alone(group)})):
		return "typed where a secret may be asked for"
	case j.Terminal && processes.Busy(group):
		return "typed before it was read"
	}
	return ""
}

// lineOf returns the line of the cursor.
func lineOf(s *screen.Screen) string {
	row, _ := s.Cursor()
	lines := strings.Split(s.String(), "\n")
	if row > len(lines) {
		return ""
	}
	return lines[row-1]
}

// lastLine returns the last line that a job has printed.
func lastLine(j *jobs.Job) string {
	const most = 512
	end := j.Log().Extent().Bytes
	data, _, err := j.Log().Read(max(end-most, 0), most)
	if err != nil {
		return "password:" // unknown, so it may be a secret
	}
	text := string(data)
	return text[strings.LastIndexByte(strings.TrimRight(text, "\n"), '\n')+1:]
}

// redactedLines returns lines of a shell without their secrets. The lines after one that may ask
// for a secret may be the answer, and are left out.
func redactedLines(text string) string {
	at := 0
	for line := range strings.Lines(text) {
		at += len(line)
		if rest := text[at:]; rest != "" && command.Asks(line) {
			return command.Redacted(text[:at]) + withheld(rest, "typed where a secret may be asked for")
		}
	}
	return command.Redacted(text)
}

// withheld returns the replacement of a text that records must not have: the reason and the
// class of its length.
func withheld(text, why string) string {
	class := 16
	for class < utf8.RuneCountInString(text) {
		class *= 4
	}
	return fmt.Sprintf("[%s: at most %d characters]", why, class)
}
