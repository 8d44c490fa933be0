package code

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools/internal/screen"
	"toolcrib/tools/internal/textfile"
)

const (
	headBytes = 32 << 10
	tailBytes = 256 << 10 // holds the longest report and output before it
)

// capture takes the output of a program, of which it keeps the head and the tail.
type capture struct {
	head  []byte
	tail  []byte // a ring when it is full
	at    int    // where the ring begins
	total int64
}

// Write implements [io.Writer]. It never fails.
func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
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

// split returns the output around the report that stands in it after a mark, and the
// report; nil = there is none. left is how many bytes between head and tail are lost.
func (c *capture) split(mark string) (head, tail, report []byte, left int64) {
	tail = append(append(make([]byte, 0, len(c.tail)), c.tail[c.at:]...), c.tail[:c.at]...)
	left = c.total - int64(len(c.head)) - int64(len(tail))
	all := tail
	if left == 0 {
		all = slices.Concat(c.head, tail)
	}
	begin := bytes.LastIndex(all, []byte("\n"+mark))
	if begin >= 0 {
		report = all[begin+1+len(mark):]
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

// text returns the output as a model reads it, with a word on what is left out, and the
// report.
func (c *capture) text(mark string) (output string, report []byte) {
	head, tail, report, left := c.split(mark)
	if left == 0 {
		return clean(head), report
	}
	if over := len(tail) - headBytes; over > 0 {
		tail, left = tail[over:], left+int64(over)
	}
	return fmt.Sprintf("%s\n[... %s left out ...]\n%s", clean(head), textfile.Size(left), clean(tail)), report
}

// clean makes output fit to be read.
func clean(raw []byte) string { return strings.TrimRight(screen.Clean(raw), " \n") }

// shorten cuts the middle out of a text so that it has at most so many bytes.
func shorten(text string, most int) string {
	const room = 60 // of the mark
	if len(text) <= most {
		return text
	}
	keep := max(most-room, 0)
	head, tail := text[:keep/2], text[len(text)-(keep-keep/2):]
	return fmt.Sprintf("%s\n[... %s left out ...]\n%s",
		strings.ToValidUTF8(head, ""), textfile.Size(int64(len(text)-keep)), strings.ToValidUTF8(tail, ""))
}
