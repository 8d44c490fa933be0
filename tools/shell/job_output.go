package shell

import (
	"context"
	_ "embed"
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

//go:embed job_output.md
var jobOutputDoc string

// longestWait is how long a call waits for a job: clients give up after a minute.
const longestWait = 50 * time.Second

// JobOutputIn says which output to show.
type JobOutputIn struct {
	Job    string `json:"job,omitempty" jsonschema:"maxLength=64" jsonschema_description:"handle of the job; default the newest" alias:"handle,job_id,id,shell_id,task_id,bash_id,pid,process_id,session_id"`
	Offset *int64 `json:"offset,omitempty" jsonschema:"minimum=0,maximum=9007199254740991" jsonschema_description:"show what follows this byte; the last result names the next"`
	Line   int64  `json:"line,omitempty" jsonschema:"minimum=1,maximum=9007199254740991" jsonschema_description:"show what follows from this line, counted from 1" alias:"start_line"`
	Tail   int    `json:"tail,omitempty" jsonschema:"minimum=1,maximum=10000" jsonschema_description:"show the last lines" alias:"last_lines,tail_lines"`
	Wait   string `json:"wait,omitempty" unit:"s,ms" jsonschema:"maxLength=20" jsonschema_description:"first wait, at most 50s, for the end of the job; with offset, for output beyond it" alias:"timeout,yield_time"`
	Until  string `json:"until,omitempty" jsonschema:"maxLength=1000" jsonschema_description:"wait only until the output has this text, or /regexp/"`
}

// JobOutputOut is a part of an output.
type JobOutputOut struct {
	Status string
	Notes  []string
	Output string
	Job    string
	Code   *int // nil while it runs
	Next   int64
	Report sandbox.Report
	place  string // of the cursor of a terminal
}

func jobOutputTool(d Deps) tools.Tool {
	return tools.New(tools.Def[JobOutputIn, JobOutputOut]{
		Name: "job_output", Title: "Read the output of a job", Doc: jobOutputDoc, Tags: []string{"shell", "jobs", "log", "wait"},
		Access: tools.Read, Effects: tools.None,
		Streams: true, Timeout: longestWait + 10*time.Second, Spellings: outputSpellings(),
		Limits: tools.Limits{Facts: map[string]any{"page": shownPage, "wait": int(longestWait.Seconds())}},
		Examples: []tools.Example[JobOutputIn]{{
			Say:    "Wait for the end of the newest job.",
			Before: d.example("echo one; echo two", false),
			In:     JobOutputIn{Wait: "20s"},
			Want:   "exit 0 in …; job …; 2 lines, 8 B\n\none\ntwo\n",
		}, {
			Say:    "Wait until a server is ready.",
			Before: d.example("echo starting; echo listening on 8080; sleep 20", false),
			In:     JobOutputIn{Wait: "20s", Until: "listening", Tail: 1},
			Want:   "running for …; job …; 2 lines, 27 B; next: offset=27\nfound: listening on 8080\n\nlistening on 8080\n",
		}},
		Run: d.jobOutput,
	})
}

// Text is the status, what there is to say, and after an empty line the output.
func (o JobOutputOut) Text() string { return worded(o.Status, o.Notes, o.Output) }

// Meta tells programs of the next page, what contains the job, and its exit code.
func (o JobOutputOut) Meta() map[string]any {
	meta := jobMeta(o.Report, o.Job, o.Code)
	meta[tools.MetaNext] = map[string]any{"job": o.Job, "offset": o.Next}
	return meta
}

func (d Deps) jobOutput(ctx context.Context, in JobOutputIn) (JobOutputOut, error) {
	if err := ctx.Err(); err != nil {
		return JobOutputOut{}, err
	}
	j, err := d.job(ctx, in.Job, true)
	if err != nil {
		return JobOutputOut{}, err
	}
	wait, err := durations.Argument{Name: "wait", Most: 24 * time.Hour}.Read(in.Wait)
	if err != nil {
		return JobOutputOut{}, err
	}
	until, err := matcher(in.Until)
	if err != nil {
		return JobOutputOut{}, err
	}
	out := JobOutputOut{Job: j.ID, Report: j.Report()}
	if wait > 0 || until != nil {
		if wait == 0 || wait > longestWait {
			wait = longestWait
		}
		found, err := await(ctx, j, in, until, wait)
		if err != nil {
			return JobOutputOut{}, err
		}
		out.Notes = append(out.Notes, found)
	}
	if err := out.show(j, in); err != nil {
		return JobOutputOut{}, err
	}
	return out, ctx.Err()
}

// show fills in the part of the output that is asked for.
func (o *JobOutputOut) show(j *jobs.Job, in JobOutputIn) error {
	e := j.Log().Extent()
	var p page
	var err error
	switch {
	case in.Tail > 0:
		var from int64
		if from, err = j.Log().Tail(in.Tail, shownPage); err == nil {
			p, err = lastPage(j.Log(), from, shownPage)
		}
	case in.Offset != nil:
		if *in.Offset > e.Bytes {
			o.Notes = append(o.Notes, fmt.Sprintf("offset %d is beyond the end: the output has %d bytes", *in.Offset, e.Bytes))
		}
		p, err = pageAt(j.Log(), *in.Offset, shownPage)
		if p.from > *in.Offset && p.text != "" {
			o.Notes = append(o.Notes, fmt.Sprintf("%s before offset %d are not kept", textfile.Size(p.from-*in.Offset), p.from))
		}
	case in.Line > 0:
		if in.Line > e.Lines {
			o.Notes = append(o.Notes, fmt.Sprintf("line %d is beyond the end: the output has %s", in.Line, textfile.Count(e.Lines, "line")))
		}
		var from int64
		if from, err = j.Log().LineAt(in.Line); err == nil {
			p, err = pageAt(j.Log(), from, shownPage)
		}
	default:
		p.next = e.Bytes
		if !j.Screen(func(s *screen.Screen) { p.text = s.String(); o.place = placed(s) }) {
			p.text, _, err = excerpt(j.Log(), j.ID)
		}
	}
	if err != nil {
		return err
	}
	o.Output, o.Next = p.text, p.next
	o.Status = standing(j) + "; job " + j.ID + "; " + volume(e) + o.place
	if !o.ended(j) || p.next < e.Bytes {
		o.Status += fmt.Sprintf("; next: offset=%d", p.next)
	}
	if o.Code != nil && p.next == e.Bytes {
		o.Notes = append(o.Notes, hintOf(j))
	}
	o.Notes = append(o.Notes, j.Touched().Warning())
	o.Notes = append(o.Notes, unkept(e))
	return nil
}

// placed words what is shown of a terminal.
func placed(s *screen.Screen) string {
	row, column := s.Cursor()
	text := fmt.Sprintf("; screen, cursor at %d,%d", row, column)
	if n := s.Scrolled(); n > 0 {
		text += fmt.Sprintf("; %s above it: line=1", textfile.Count(n, "line"))
	}
	return text
}

// ended notes the exit code of a job that has ended.
func (o *JobOutputOut) ended(j *jobs.Job) bool {
	select {
	case <-j.Done():
		exit, _ := j.Exit()
		o.Code = &exit.Code
		return true
	default:
		return false
	}
}

// await waits for what in says, and reports what the job prints meanwhile. found words
// the line that until matches.
func await(ctx context.Context, j *jobs.Job, in JobOutputIn, until *regexp.Regexp, wait time.Duration) (found string, err error) {
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
func wanted(ctx context.Context, j *jobs.Job, in JobOutputIn, until *regexp.Regexp, wait time.Duration) (found string, err error) {
	over := time.NewTimer(wait)
	defer over.Stop()
	s := search{log: j.Log(), until: until}
	if in.Offset != nil {
		s.at = *in.Offset
	}
	var grown <-chan struct{} // nil: nobody waits for output
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

// matcher makes a regular expression of a text or of /regexp/; nil of "".
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
