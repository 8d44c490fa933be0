package code

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/programs/screen"
	"toolcrib/tools/internal/progress"
	"toolcrib/tools/internal/text/textfile"
)

const (
	headBytes = 32 << 10
	tailBytes = 256 << 10 // holds the longest report and output before it
)

// capture keeps the head and the tail of the output of a program. Other goroutines than the
// writer may call its methods.
type capture struct {
	mark   string        // ends the output for the model
	marked chan struct{} // closed when the mark has come

	mu    sync.Mutex
	head  []byte
	tail  []byte // a ring when it is full
	at    int    // where the ring begins
	total int64
	end   int64  // where the mark begins; -1 = not yet seen
	carry []byte // the last bytes, which may be the beginning of the mark
}

func newCapture(mark string) *capture {
	return &capture{mark: mark, marked: make(chan struct{}), end: -1}
}

// Write implements [io.Writer]. It never fails.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.look(p)
	c.total += int64(n)
	take := min(len(p), headBytes-len(c.head))
	c.head, p = append(c.head, p[:take]...), p[take:]
	if len(p) >= tailBytes {
		c.tail, c.at, p = append(c.tail[:0], p[len(p)-tailBytes:]...), 0, nil
	}
	take = min(len(p), tailBytes-len(c.tail))
	c.tail, p = append(c.tail, p[:take]...), p[take:]
	for len(p) > 0 {
		n := copy(c.tail[c.at:], p)
		c.at, p = (c.at+n)%tailBytes, p[n:]
	}
	return n, nil
}

// look looks for the mark in what comes next.
func (c *capture) look(p []byte) {
	if c.end >= 0 {
		return
	}
	seen := slices.Concat(c.carry, p)
	if i := bytes.Index(seen, []byte(c.mark)); i >= 0 {
		c.end = c.total - int64(len(c.carry)) + int64(i)
		close(c.marked)
		return
	}
	c.carry = append(c.carry[:0], seen[max(0, len(seen)-len(c.mark)+1):]...)
}

// since returns the output from an offset, only the last most bytes of it, and its end offset:
// before the mark, and before a possible beginning of the mark.
func (c *capture) since(from int64, most int) (data []byte, end int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	end = c.end
	for n := 0; end < 0; n++ {
		if rest := c.carry[min(n, len(c.carry)):]; strings.HasPrefix(c.mark, string(rest)) {
			end = c.total - int64(len(rest))
		}
	}
	tailFrom := c.total - int64(len(c.tail))
	for i := max(from, end-int64(most)); i < end; i++ {
		switch {
		case i < int64(len(c.head)):
			data = append(data, c.head[i])
		case i >= tailFrom:
			data = append(data, c.tail[(c.at+int(i-tailFrom))%len(c.tail)])
		}
	}
	return data, end
}

// progress returns the program in the form in which progress is reported.
func (c *capture) progress() progress.Program {
	begin := time.Now()
	return progress.Program{Output: c.since, State: func() string {
		_, end := c.since(0, 0)
		return fmt.Sprintf("running for %s; %s of output", durations.Rough(time.Since(begin)), textfile.Size(end))
	}}
}

// split returns the output around the report, which follows a mark, and the report; nil =
// there is none. left is how many bytes between head and tail are lost.
func (c *capture) split() (head, tail, report []byte, left int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail = append(append(make([]byte, 0, len(c.tail)), c.tail[c.at:]...), c.tail[:c.at]...)
	left = c.total - int64(len(c.head)) - int64(len(tail))
	all := tail
	if left == 0 {
		all = slices.Concat(c.head, tail)
	}
	begin := bytes.LastIndex(all, []byte(c.mark))
	if begin >= 0 {
		report = all[begin+len(c.mark):]
		rest := []byte{}
		if end := bytes.IndexByte(report, '\n'); end >= 0 {
			report, rest = report[:end], report[end+1:]
		}
		all = slices.Concat(all[:begin], rest)
	}
	if left == 0 {
		return all, nil, report, 0
	}
	return c.head, all, report, left
}

// excerpt is the kept part of an output, with a mark for the missing middle.
type excerpt struct {
	text string
	lost int64 // bytes that are left out
	cut  int   // lines that are cut
}

// text returns the output as a model reads it, and the report.
func (c *capture) text() (output excerpt, report []byte) {
	head, tail, report, left := c.split()
	if left == 0 {
		text, cut, _ := textfile.CutLines(clean(head))
		return excerpt{text: text, cut: cut}, report
	}
	if over := len(tail) - headBytes; over > 0 {
		tail, left = tail[over:], left+int64(over)
	}
	first, cut, _ := textfile.CutLines(clean(head))
	last, also, _ := textfile.CutLines(clean(tail))
	return excerpt{first + leftOut(left) + last, left, cut + also}, report
}

// leftOut returns the mark for missing bytes.
func leftOut(bytes int64) string {
	return fmt.Sprintf("\n[... %s left out ...]\n", textfile.Size(bytes))
}

// clean removes control sequences from output.
func clean(raw []byte) string { return strings.TrimRight(screen.Clean(raw), " \n") }

// shorten cuts the middle out of a text so that it has at most most bytes. The mark also
// counts the bytes lost before.
func shorten(text string, most int, lost int64) string {
	const room = 60 // of the mark
	if len(text) <= most {
		return text
	}
	keep := max(most-room, 0)
	from, to := keep/2, len(text)-(keep-keep/2)
	left := int64(to - from)
	if lost > 0 {
		mark := leftOut(lost)
		if i := strings.Index(text, mark); i >= 0 && i < to && i+len(mark) > from {
			from, to = min(from, i), max(to, i+len(mark))
			left = int64(to-from-len(mark)) + lost
		}
	}
	return strings.ToValidUTF8(text[:from], "") + leftOut(left) + strings.ToValidUTF8(text[to:], "")
}
