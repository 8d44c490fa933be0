package shell

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/programs/screen"
	"toolcrib/tools/internal/progress"
	"toolcrib/tools/internal/text/textfile"
)

// longestWait is how long a call waits for a job: clients give up after a minute.
const longestWait = 50 * time.Second

// part says which part of an output to show. The zero part is what no result has shown yet,
// or the screen of a terminal.
type part struct {
	Offset *int64 // what follows this byte
	Line   int64  // what follows from this line, counted from 1
	Tail   int    // the last lines
	Until  string // the text that is waited for, or /regexp/
	Most   int    // bytes, 0 = the default
}

// jobShown is a part of the output of a job.
type jobShown struct {
	Status string
	Notes  []string
	Output string
	Job    string
	Code   *int // nil while it runs
	Next   int64
	Report sandbox.Report
	cursor string // of the terminal
}

// Text returns the status, the notes, and after an empty line the output.
func (o jobShown) Text() string { return worded(o.Status, o.Notes, o.Output) }

// Meta has, for programs, the next page, the sandbox of the job, and its exit code.
func (o jobShown) Meta() map[string]any {
	meta := jobMeta(o.Report, o.Job, o.Code)
	meta[tools.MetaNext] = map[string]any{"job": o.Job, "offset": o.Next}
	return meta
}

// show fills in the part of the output that is asked for.
func (o *jobShown) show(j *jobs.Job, in part) error {
	e := j.Log().Extent()
	var p page
	var raw []byte
	var long cut
	var err error
	left := int64(-1)
	most := cmp.Or(in.Most, shownPage)
	switch {
	case in.Tail > 0:
		var from int64
		if from, err = j.Log().Tail(in.Tail, int64(most)); err == nil {
			if p, raw, err = lastPage(j.Log(), from, most); err == nil {
				long = p.cutLines(raw)
			}
		}
	case in.Offset != nil:
		if *in.Offset > e.Bytes {
			o.Notes = append(o.Notes, fmt.Sprintf("offset %d is beyond the end: the output has %d bytes", *in.Offset, e.Bytes))
		}
		p, _, err = pageAt(j.Log(), *in.Offset, most)
		if p.from > *in.Offset && p.text != "" {
			o.Notes = append(o.Notes, fmt.Sprintf("%s before offset %d are not kept", textfile.Size(p.from-*in.Offset), p.from))
		}
	case in.Line > 0:
		if in.Line > e.Lines {
			o.Notes = append(o.Notes, fmt.Sprintf("line %d is beyond the end: the output has %s", in.Line, textfile.Count(e.Lines, "line")))
		}
		var from int64
		if from, err = j.Log().LineAt(in.Line); err == nil {
			p, long, err = cutPage(j.Log(), from, most)
		}
	default:
		p.next = e.Bytes
		if !j.Screen(func(s *screen.Screen) { p.text = s.String(); o.cursor = cursorOf(s) }) {
			p, left, err = o.unseen(j, cmp.Or(in.Most, shownWhole))
		}
	}
	if err != nil {
		return err
	}
	o.Output, o.Next = p.text, p.next
	o.Notes = append(o.Notes, long.note(j.ID))
	j.SetShown(p.next, left)
	o.Status = state(j) + "; job " + j.ID + "; " + volume(e) + o.cursor
	if !o.ended(j) || p.next < e.Bytes {
		o.Status += fmt.Sprintf("; next: offset=%d", p.next)
	}
	if o.Code != nil && p.next == e.Bytes {
		o.Notes = append(o.Notes, hintOf(j))
	}
	o.Notes = append(o.Notes, ports(j)...)
	o.Notes = append(o.Notes, j.Touched().Warning())
	if lost := j.Lost(); lost != "" {
		o.Notes = append(o.Notes, "cannot be undone: "+lost)
	}
	o.Notes = append(o.Notes, unkept(e))
	return nil
}

// unseen returns the output that no result has shown yet, and where the first part begins that
// is left out. Of a job that has ended it is what the last answer has left out, if nothing new
// came.
func (o *jobShown) unseen(j *jobs.Job, most int) (page, int64, error) {
	from, cut := j.Shown()
	x, err := excerptOf(j.Log(), j.ID, from, most)
	_, over := overOf(j)
	switch {
	case x.text == "" && cut >= 0 && over:
		o.Notes = append(o.Notes, fmt.Sprintf("from offset %d, where the last answer was cut", cut))
		p, _, err := pageAt(j.Log(), cut, most)
		return p, -1, err
	case x.text == "" && cut >= 0:
		o.Notes = append(o.Notes, fmt.Sprintf("nothing new since offset %d; offset=%d shows what the last answer left out", from, cut))
		return x.page, cut, err
	case from == 0:
	case x.text == "":
		o.Notes = append(o.Notes, fmt.Sprintf("nothing new since offset %d; offset=0 shows the output again", from))
	default:
		o.Notes = append(o.Notes, fmt.Sprintf("from offset %d, where the last answer ended", from))
	}
	o.Notes = append(o.Notes, x.note)
	return x.page, x.cut, err
}

// cursorOf describes the shown screen and its cursor.
func cursorOf(s *screen.Screen) string {
	row, column := s.Cursor()
	text := fmt.Sprintf("; screen, cursor at %d,%d", row, column)
	if n := s.Scrolled(); n > 0 {
		text += fmt.Sprintf("; %s above it: line=1", textfile.Count(n, "line"))
	}
	return text
}

// ended reports whether a job has ended, and notes its exit code.
func (o *jobShown) ended(j *jobs.Job) bool {
	select {
	case <-j.Done():
		exit, _ := j.Exit()
		o.Code = &exit.Code
		return true
	default:
		return false
	}
}

// await waits for the event that in names, and reports the output meanwhile as progress. found
// names the line that until matches.
func await(ctx context.Context, j *jobs.Job, in part, until *regexp.Regexp, wait time.Duration) (found string, err error) {
	from := j.Log().Extent().Bytes
	if in.Offset != nil {
		from = min(from, *in.Offset)
	}
	err = progress.During(ctx, progressOf(j), from, func() (err error) {
		found, err = wanted(ctx, j, in, until, wait)
		return err
	})
	return found, err
}

// wanted is await without the reports.
func wanted(ctx context.Context, j *jobs.Job, in part, until *regexp.Regexp, wait time.Duration) (found string, err error) {
	over := time.NewTimer(wait)
	defer over.Stop()
	s := search{log: j.Log(), until: until}
	if in.Offset != nil {
		s.at = *in.Offset
	}
	var grown <-chan struct{} // nil: no call waits for output
	for {
		if until != nil {
			if line := s.next(); line != "" {
				return "found: " + line, nil
			}
			grown = j.Log().Grown(s.at)
		} else if in.Offset != nil {
			grown = j.Log().Grown(*in.Offset)
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-j.Done():
			if line := s.next(); line != "" {
				return "found: " + line, nil
			}
			return notFound(in.Until, "it has ended"), nil
		case <-over.C:
			return notFound(in.Until, "waited "+durations.Rough(wait)), nil
		case <-grown:
			if until == nil {
				return "", nil
			}
			if err := pause(ctx, j); err != nil {
				return "", err
			}
		}
	}
}

// pause lets some output come together before it is searched.
func pause(ctx context.Context, j *jobs.Job) error {
	timer := time.NewTimer(20 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-j.Done():
	case <-timer.C:
	}
	return nil
}

func notFound(until, why string) string {
	if until == "" {
		return ""
	}
	return fmt.Sprintf("%s: the output has no %s", why, textfile.Visible(until))
}

// matcher compiles a text or /regexp/ to a regular expression; nil for "".
func matcher(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	pattern := regexp.QuoteMeta(text)
	if len(text) > 2 && text[0] == '/' && strings.HasSuffix(text, "/") {
		pattern = text[1 : len(text)-1]
	}
	re, err := regexp.Compile("(?m)" + pattern)
	if err != nil {
		return nil, tools.Errorf(tools.InvalidArgument, "/until: %v", err)
	}
	return re, nil
}

// Sizes of the search of an output.
const (
	searched = 256 << 10 // bytes at a time
	overlap  = 4 << 10   // of them, those that are searched again
)

// search looks for a text in an output that grows.
type search struct {
	log   *jobs.Log
	until *regexp.Regexp
	at    int64 // where it goes on
}

// next searches the new output and returns the line that matches, "" for none.
func (s *search) next() string {
	if s.until == nil {
		return ""
	}
	for {
		raw, from, err := s.log.Read(s.at, searched)
		if err != nil || len(raw) == 0 {
			return ""
		}
		text := screen.Clean(raw)
		if at := s.until.FindStringIndex(text); at != nil {
			begin := strings.LastIndexByte(text[:at[0]], '\n') + 1
			line, _, _ := strings.Cut(text[begin:], "\n")
			return brief(line)
		}
		end := from + int64(len(raw))
		// The incomplete last line is searched again.
		again := len(raw) - bytes.LastIndexByte(raw, '\n') - 1
		s.at = end - int64(min(again, overlap))
		if len(raw) < searched {
			return ""
		}
	}
}
