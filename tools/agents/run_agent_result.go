package agents

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/model"
)

// RunAgentOut is how a run ended.
type RunAgentOut struct {
	id, model  string
	spec       spec
	background bool // the run has only begun
	once       bool // by another process
	outcome    loop.Outcome
}

// Text is a status, what was changed, and the answer.
func (o RunAgentOut) Text() string {
	out := o.outcome
	var b strings.Builder
	if o.background {
		fmt.Fprintf(&b, "running; run %s: %s\n", o.id, o.spec.Title)
		if o.once {
			b.WriteString("it goes on as soon as a server of this workspace takes it over\n")
		}
		fmt.Fprintf(&b, "next: job_output job=%s wait=50s\n", o.id)
		return b.String()
	}
	status := string(out.Status)
	if out.Why != "" {
		status += ": " + out.Why
	}
	r := receiptOf(out.Records)
	fmt.Fprintf(&b, "%s; run %s: %s\n", status, o.id, r.used())
	for _, note := range o.spec.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	b.WriteString(r.done())
	switch {
	case out.Status == loop.InputRequired:
		fmt.Fprintf(&b, "it asks:\n%s\nput this to the user; then resume: {\"run\": %q, \"answers\": [...]}\n", questions(out.Output), o.id)
	case out.Status != loop.Completed:
		fmt.Fprintf(&b, "to go on: resume: {\"run\": %q}\n", o.id)
	}
	switch {
	case out.Status != loop.InputRequired && out.Output != nil:
		fmt.Fprintf(&b, "\n%s\n", out.Output)
	case out.Text != "":
		fmt.Fprintf(&b, "\n%s\n", strings.TrimRight(out.Text, "\n"))
	}
	return b.String()
}

// Trim keeps the beginning of the answer.
func (o RunAgentOut) Trim(budget int) RunAgentOut {
	over := len(o.Text()) - budget
	if over <= 0 {
		return o
	}
	note := fmt.Sprintf("\n[the rest is left out; toolcrib://run/%s has it]", o.id)
	keep := max(len(o.outcome.Text)-over-len(note), 0)
	for keep > 0 && !utf8.RuneStart(o.outcome.Text[keep]) {
		keep--
	}
	o.outcome.Text = o.outcome.Text[:keep] + note
	return o
}

// Meta has, for programs, what the text says.
func (o RunAgentOut) Meta() map[string]any {
	r := receiptOf(o.outcome.Records)
	return map[string]any{"toolcrib/run": map[string]any{
		"handle": o.id, "status": o.outcome.Status, "why": o.outcome.Why, "title": o.spec.Title, "model": o.model,
		"spent": r.Spent, "limits": o.spec.Limits, "files": r.Files, "ran": r.Ran, "hosts": r.Hosts, "calls": r.Calls, "output": o.outcome.Output,
	}}
}

// oneLine returns a text in one line of bounded length.
func oneLine(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most-1]) + "…"
	}
	return text
}

// mostBrief is how many characters of a step are reported.
const mostBrief = 160

// lines makes lines of what a model says while it says it.
type lines struct{ open string }

// add returns the lines that are whole with an event.
func (l *lines) add(e model.Event) (whole []string) {
	if e.Dropped != "" {
		l.open = ""
		return []string{oneLine(e.Dropped, mostBrief)}
	}
	l.open += e.Text
	for {
		line, rest, ended := strings.Cut(l.open, "\n")
		if !ended {
			return whole
		}
		if line = oneLine(line, mostBrief); line != "" {
			whole = append(whole, line)
		}
		l.open = rest
	}
}

// end returns what is left at the end of a turn.
func (l *lines) end() string {
	line := oneLine(l.open, mostBrief)
	l.open = ""
	return line
}

// brief is a record in a line, "" if it is not worth one. What a model has said was reported
// while it said it.
func brief(r loop.Record) string {
	switch r.Kind {
	case loop.Turn:
		var calls []string
		for _, block := range r.Blocks {
			if block.Call != nil {
				calls = append(calls, block.Call.Name+" "+string(block.Call.Arguments))
			}
		}
		return oneLine(strings.Join(calls, "; "), mostBrief)
	case loop.Result:
		if r.Error {
			return oneLine(r.Tool+": "+r.Text, mostBrief)
		}
	case loop.Hint, loop.Final:
		return oneLine(r.Text, mostBrief)
	case loop.Compact, loop.Summary:
		return "the conversation is shortened"
	}
	return ""
}
