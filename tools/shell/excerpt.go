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
	shownWhole = 20_000 // all of it, if it has at most this
	shownHead  = 8_000  // otherwise the first
	shownTail  = 12_000
	shownPage  = 30_000
	cleanable  = 256 << 10 // bytes that may clean to shownWhole
)

// page is a part of an output, from one offset to another.
type page struct {
	text       string
	from, next int64
}

// excerpt returns an output, or its beginning and end if it is long.
func excerpt(l *jobs.Log, job string) (text string, whole bool, err error) {
	e := l.Extent()
	if e.Bytes == 0 {
		return "", true, nil
	}
	if e.Bytes <= cleanable && e.GapFrom == e.GapTo {
		raw, _, err := l.Read(0, cleanable)
		if err != nil {
			return "", false, err
		}
		if text := screen.Clean(raw); len(text) <= shownWhole {
			return text, true, nil
		}
	}
	head, err := pageAt(l, 0, shownHead)
	if err != nil {
		return "", false, err
	}
	from, err := l.Tail(1<<30, shownTail)
	if err != nil {
		return "", false, err
	}
	tail, err := lastPage(l, max(from, head.next), shownTail)
	if err != nil {
		return "", false, err
	}
	return head.text + cutLine(e, job, head.next, tail.from) + tail.text, false, nil
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
// line if one is near.
func pageAt(l *jobs.Log, offset int64, most int) (page, error) {
	raw, from, err := l.Read(offset, most)
	if err != nil {
		return page{}, err
	}
	if from+int64(len(raw)) < l.Extent().Bytes {
		raw = raw[:cutEnd(raw)]
	}
	for {
		text := screen.Clean(raw)
		if len(text) <= most || len(raw) < utf8.UTFMax {
			return page{text, from, from + int64(len(raw))}, nil
		}
		raw = raw[:cutEnd(raw[:len(raw)/2])] // escapes made it longer
	}
}

// lastPage returns the end of an output, from an offset or later.
func lastPage(l *jobs.Log, from int64, most int) (page, error) {
	end := l.Extent().Bytes
	raw, from, err := l.Read(max(from, end-int64(most)), most)
	if err != nil {
		return page{}, err
	}
	next := from + int64(len(raw))
	for {
		raw = raw[cutStart(raw):]
		text := screen.Clean(raw)
		if len(text) <= most || len(raw) < utf8.UTFMax {
			return page{text, next - int64(len(raw)), next}, nil
		}
		raw = raw[len(raw)/2:]
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
