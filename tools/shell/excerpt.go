package shell

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/screen"
	"toolcrib/tools/internal/text/textfile"
)

// How much of an output one result shows, in bytes.
const (
	shownWhole = 20_000 // all of it, if it has at most this; otherwise its two ends
	shownPage  = 30_000
	cleanable  = 256 << 10 // bytes that may clean to shownWhole
)

// The range of max_output.
const (
	leastOutput = 200
	mostOutput  = 45_000
)

// ends divides what is shown of a long output between its beginning and its end.
func ends(most int) (head, tail int) { return most * 2 / 5, most - most*2/5 }

// page is a part of an output, from one offset to another.
type page struct {
	text       string
	from, next int64
}

// excerpt is an output or its beginning and end.
type excerpt struct {
	page
	whole bool   // nothing is left out
	note  string // about long lines
	cut   int64  // where the first part begins that is left out, -1 = none
}

// excerptOf returns what follows an offset of an output, or the beginning and the end of that
// if it has more than most bytes. Long lines are cut.
func excerptOf(l *jobs.Log, job string, from int64, most int) (excerpt, error) {
	e := l.Extent()
	if e.Bytes <= from {
		return excerpt{page: page{from: from, next: e.Bytes}, whole: true, cut: -1}, nil
	}
	if e.Bytes-from <= cleanable && e.GapFrom == e.GapTo {
		raw, _, err := l.Read(from, cleanable)
		if err != nil {
			return excerpt{}, err
		}
		p := page{screen.Clean(raw), from, from + int64(len(raw))}
		cut := p.cutLines(raw)
		if len(p.text) <= most {
			return excerpt{p, cut.lines == 0, cut.note(job), cut.begin()}, nil
		}
	}
	first, last := ends(most)
	head, cut, err := cutPage(l, from, first)
	if err != nil {
		return excerpt{}, err
	}
	at, err := l.Tail(1<<30, int64(last))
	if err != nil {
		return excerpt{}, err
	}
	tail, raw, err := lastPage(l, max(at, head.next), last)
	if err != nil {
		return excerpt{}, err
	}
	also := tail.cutLines(raw)
	if cut.lines == 0 {
		cut.from = also.from
	}
	cut.lines += also.lines
	begin := head.next
	if cut.lines > 0 {
		begin = min(begin, cut.from)
	}
	text := head.text + cutLine(e, job, head.next, tail.from) + tail.text
	return excerpt{page{text, from, tail.next}, false, cut.note(job), begin}, nil
}

// cut counts lines that are cut. from is the offset at which the first of them begins.
type cut struct {
	lines int
	from  int64
}

// begin returns where the first cut line begins, -1 if there is none.
func (c cut) begin() int64 {
	if c.lines == 0 {
		return -1
	}
	return c.from
}

// note names the call that shows the lines whole, "" if there are none.
func (c cut) note(job string) string {
	if c.lines == 0 {
		return ""
	}
	return fmt.Sprintf("%s cut at %d characters; job_output job=%s offset=%d shows all", textfile.Count(c.lines, "line"), textfile.LineChars, job, c.from)
}

// cutPage is pageAt with long lines cut.
func cutPage(l *jobs.Log, offset int64, most int) (page, cut, error) {
	p, raw, err := pageAt(l, offset, most)
	if err != nil {
		return page{}, cut{}, err
	}
	return p, p.cutLines(raw), nil
}

// cutLines cuts the long lines of a page, whose output is raw.
func (p *page) cutLines(raw []byte) cut {
	c, first := cut{from: p.from}, 0
	p.text, c.lines, first = textfile.CutLines(p.text)
	for range first {
		end := bytes.IndexByte(raw, '\n') + 1
		raw, c.from = raw[end:], c.from+int64(end)
	}
	return c
}

// cutLine names the omitted bytes between two offsets and the call that returns them.
func cutLine(e jobs.Extent, job string, from, to int64) string {
	lost := ""
	if n := min(e.GapTo, to) - max(e.GapFrom, from); n > 0 {
		lost = fmt.Sprintf(", of which %s are not kept", textfile.Size(n))
	}
	return fmt.Sprintf("\n[%s are not shown here%s; job_output job=%s offset=%d shows them]\n", textfile.Size(to-from), lost, job, from)
}

// pageAt returns the output from an offset, at most most bytes of text, up to the end of a
// line if one is near. raw is the output before it was cleaned.
func pageAt(l *jobs.Log, offset int64, most int) (p page, raw []byte, err error) {
	raw, from, err := l.Read(offset, most)
	if err != nil {
		return page{}, nil, err
	}
	if from+int64(len(raw)) < l.Extent().Bytes {
		raw = raw[:cutEnd(raw)]
	}
	for {
		text := screen.Clean(raw)
		if len(text) <= most || len(raw) < utf8.UTFMax {
			return page{text, from, from + int64(len(raw))}, raw, nil
		}
		raw = raw[:cutEnd(raw[:len(raw)/2])] // escapes made it longer
	}
}

// lastPage returns the end of an output, from an offset where a line begins or later, as pageAt
// does.
func lastPage(l *jobs.Log, from int64, most int) (p page, raw []byte, err error) {
	wanted := from
	raw, from, err = l.Read(max(from, l.Extent().Bytes-int64(most)), most)
	if err != nil {
		return page{}, nil, err
	}
	next := from + int64(len(raw))
	if from > wanted {
		raw = raw[cutStart(raw):]
	}
	for {
		text := screen.Clean(raw)
		if len(text) <= most || len(raw) < utf8.UTFMax {
			return page{text, next - int64(len(raw)), next}, raw, nil
		}
		raw = raw[len(raw)/2:]
		raw = raw[cutStart(raw):]
	}
}

// cutEnd returns where to end a page that is cut: after its last whole line, or between
// characters if that line would lose most of the page.
func cutEnd(raw []byte) int {
	if i := bytes.LastIndexByte(raw, '\n'); i >= len(raw)/2 {
		return i + 1
	}
	for i := len(raw); i > max(0, len(raw)-utf8.UTFMax); i-- {
		if utf8.RuneStart(raw[i-1]) {
			if utf8.FullRune(raw[i-1:]) {
				return len(raw)
			}
			return max(i-1, 1)
		}
	}
	return len(raw)
}

// cutStart returns where to begin a page that does not start at the beginning of the output.
func cutStart(raw []byte) int {
	if i := bytes.IndexByte(raw[:len(raw)/2], '\n'); i >= 0 {
		return i + 1
	}
	for i := range min(len(raw), utf8.UTFMax) {
		if utf8.RuneStart(raw[i]) {
			return i
		}
	}
	return 0
}
