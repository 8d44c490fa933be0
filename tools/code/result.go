package code

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/programs/changed"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/text/textfile"
)

// outcome is the result of a script, as a model reads it.
type outcome struct {
	Status string
	Notes  []string // "" = nothing to say
	Output string
	Value  string // of the last expression; "" = none
	Trace  string // of what ended it
	Within sandbox.Report
	Files  bool  // it could write files
	lost   int64 // bytes that Output reports as missing
}

// cutNote says that lines of the output are cut, "" if none is.
func (e excerpt) cutNote() string {
	if e.cut == 0 {
		return ""
	}
	return fmt.Sprintf("%s cut at %d characters", textfile.Count(e.cut, "line"), textfile.LineChars)
}

// Text returns the status, the notes, the output and then the value or the error.
func (o outcome) Text() string {
	var b strings.Builder
	b.WriteString(o.Status)
	for _, note := range o.Notes {
		if note != "" {
			b.WriteString("\n" + note)
		}
	}
	if o.Value != "" {
		b.WriteString("\nvalue: " + indented(o.Value))
	}
	if o.Trace != "" {
		b.WriteString("\n" + o.Trace)
	}
	if o.Output != "" {
		b.WriteString("\n\n" + o.Output)
	}
	return b.String()
}

// indented returns a value for the text; one of several lines goes below its name.
func indented(value string) string {
	if strings.Contains(value, "\n") {
		return "\n" + value
	}
	return value
}

// trimmed returns the outcome with its long texts cut to a budget, and a note on how to get
// the rest.
func (o outcome) trimmed(budget int) outcome {
	lost := "what is left out is not kept: print less"
	if o.Files {
		lost += ", or write it to a file and read that with read_file"
	}
	o.Notes = append(slices.Clip(o.Notes), lost)
	rest := budget - len(outcome{Status: o.Status, Notes: o.Notes}.Text()) - 100
	o.Trace = shorten(o.Trace, max(rest/4, 0), 0)
	o.Value = shorten(o.Value, max(rest/4, 0), 0)
	o.Output = shorten(o.Output, max(rest-len(o.Trace)-len(o.Value), 0), o.lost)
	return o
}

// Meta has, for programs, the sandbox of the script.
func (o outcome) Meta() map[string]any { return o.Within.Meta() }

// outcome returns the result of a script without its report.
func (r ran) outcome(timeout time.Duration) outcome {
	o := outcome{Output: r.output.text, lost: r.output.lost, Within: r.within}
	switch {
	case r.stopped:
		o.Status = fmt.Sprintf("stopped: it took longer than %s", durations.Exact(timeout))
	case r.exit.Err != nil:
		o.Status = fmt.Sprintf("ended after %s, how is not known: %v", durations.Rough(r.took), r.exit.Err)
	case r.exit.Signal != "":
		o.Status = fmt.Sprintf("crashed: ended by %s after %s", r.exit.Signal, durations.Rough(r.took))
	case r.exit.Code != 0:
		o.Status = fmt.Sprintf("exit %d in %s", r.exit.Code, durations.Rough(r.took))
	default:
		o.Status = "ok in " + durations.Rough(r.took)
	}
	o.Notes = []string{r.output.cutNote(), r.within.Warning(), r.exit.Refused, r.exit.Orphans(), files(r.files), r.exit.Warning()}
	if r.exit.Signal != "" && !r.stopped {
		o.Notes = append(o.Notes, starved(r.exit, r.within))
	}
	return o
}

// outOfMemory says that a program reached its limit of memory, and what to do.
func outOfMemory(within sandbox.Report) string {
	if within.Limits.Memory == 0 {
		return "there is no more memory: do with less, such as by working in parts"
	}
	return fmt.Sprintf("it has met the limit of %s of memory: do with less, such as by working in parts; the user can raise programs.memory in the configuration of the server", textfile.Size(within.Limits.Memory))
}

// starved says that lack of memory ended a program, "" if that is not known: libraries abort
// if they get none.
func starved(exit sandbox.Exit, within sandbox.Report) string {
	switch {
	case exit.Code == 0:
		return ""
	case exit.Starved:
		return "the machine ran out of memory and ended it: no limit of this server; use less"
	case within.Limits.Memory > 0 && exit.Memory > within.Limits.Memory/4*3:
		return outOfMemory(within)
	}
	return ""
}

// files lists the changes in the workspace, "" if they are unknown.
func files(c changed.Changes) string {
	if !c.Any() {
		return ""
	}
	return c.String()
}
