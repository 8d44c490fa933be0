package executor

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"toolcrib/tools/agents/internal/loop"
)

// mostTold is how many characters of a result a program that goes on with a run is told.
const mostTold = 2000

// prompt returns what a program is told: the task and, of a run that goes on, what was done so
// far. It has no conversation of its own to go on with, so any executor can take over any run.
func prompt(records []loop.Record) string {
	last := len(records) // of what was done
	for last > 0 && records[last-1].Kind == loop.Said {
		last--
	}
	var task, past, now []string
	begun := map[string]bool{}
	for i, r := range records {
		switch {
		case r.Kind == loop.Said && len(past) == 0 && len(begun) == 0:
			task = append(task, r.Text)
		case r.Kind == loop.Said && i >= last:
			now = append(now, r.Text)
		case r.Kind == loop.Said:
			past = append(past, "You were told: "+r.Text)
		case r.Kind == loop.Begin:
			begun[r.Call] = true
		default:
			past = append(past, told(r, begun)...)
		}
	}
	for _, r := range records {
		if r.Kind == loop.Begin && begun[r.Call] {
			past = append(past, fmt.Sprintf("You called %s at %s, and its outcome is unknown: look before you repeat it.", r.Tool, r.At.Format(time.RFC3339)))
		}
	}
	parts := task
	if len(past) > 0 {
		parts = append(parts, "You have worked on this before. What was said and done so far:\n\n"+strings.Join(past, "\n"))
	}
	return strings.Join(append(parts, now...), "\n\n")
}

// told returns a record for a program that goes on after it, and takes the calls that have ended
// from those that have begun.
func told(r loop.Record, begun map[string]bool) (lines []string) {
	switch r.Kind {
	case loop.Turn:
		for _, b := range r.Blocks {
			switch {
			case b.Call != nil:
				lines = append(lines, fmt.Sprintf("You called %s %s", b.Call.Name, shortened(string(b.Call.Arguments))))
			case b.Text != "":
				lines = append(lines, "You said: "+b.Text)
			}
		}
	case loop.Result:
		delete(begun, r.Call)
		lines = append(lines, fmt.Sprintf("%s gave: %s", r.Tool, shortened(r.Text)))
	case loop.Summary:
		lines = append(lines, r.Text)
	}
	return lines
}

func shortened(text string) string {
	if len(text) <= mostTold {
		return text
	}
	end := mostTold
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s [%d bytes more]", text[:end], len(text)-end)
}
