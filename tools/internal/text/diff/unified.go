package diff

import (
	"fmt"
	"iter"
	"strings"

	"toolcrib/tools/internal/text/textfile"
)

// Options bounds a unified diff.
type Options struct {
	// From and To are the names of the sides, "/dev/null" for a missing file. If both are
	// empty the diff has no header.
	From, To string
	Context  int // lines around a change; 0 = 3, negative = none
	// MaxBytes is the most bytes of diff; 0 = 20,000. The last line says how much was cut.
	MaxBytes int
}

const (
	defaultContext = 3
	defaultBytes   = 20_000
	// lineChars is the most characters of a line that are shown; a longer line is cut
	// around its difference.
	lineChars = 1000
	// remark is the space kept for the line that says how much was cut.
	remark = 48
)

// Unified returns the unified diff of two texts, "" if they are equal. Deceiving characters
// are shown as escapes. Carriage returns before line feeds are shown only if the changed
// lines of a hunk end in different ways.
func Unified(a, b string, opt Options) string {
	if a == b {
		return ""
	}
	context := max(opt.Context, 0)
	if opt.Context == 0 {
		context = defaultContext
	}
	limit := opt.MaxBytes
	if limit <= 0 {
		limit = defaultBytes
	}
	c := compare(a, b, context)
	var out strings.Builder
	if opt.From != "" || opt.To != "" {
		fmt.Fprintf(&out, "--- %s\n+++ %s\n", textfile.Visible(opt.From), textfile.Visible(opt.To))
	}
	cut := 0
	for line := range c.rows(context) {
		if cut == 0 {
			text := line.render()
			if out.Len()+len(text) <= limit-remark {
				out.WriteString(text)
				continue
			}
		}
		cut++
	}
	if cut > 0 {
		fmt.Fprintf(&out, "… %s of diff\n", textfile.Count(cut, "more line"))
	}
	return out.String()
}

// row is a line of a diff.
type row struct {
	op   byte   // ' ', '-', '+' or '@', whose text is ready
	text string // with its end
	// from and to delimit what differs in the line.
	from, to int
	// showCR says that the carriage return before the line feed differs.
	showCR bool
}

func (r row) render() string {
	if r.op == '@' {
		return r.text
	}
	text, ended := strings.CutSuffix(r.text, "\n")
	if ended && !r.showCR {
		text = strings.TrimSuffix(text, "\r")
	}
	text = textfile.Visible(textfile.Cut(text, r.from, r.to, lineChars))
	if !ended {
		text += "\n\\ No newline at end of file"
	}
	return string(r.op) + text + "\n"
}

// rows yields the lines of the diff, from the header of its first hunk on.
func (c *comparison) rows(context int) iter.Seq[row] {
	return func(yield func(row) bool) {
		for rest := c.changes; len(rest) > 0; {
			n := 1
			for n < len(rest) && rest[n].A0-rest[n-1].A1 <= 2*context {
				n++
			}
			if !c.hunk(rest[:n], context, yield) {
				return
			}
			rest = rest[n:]
		}
	}
}

func (c *comparison) hunk(changes []Change, context int, yield func(row) bool) bool {
	head, last := changes[0], changes[len(changes)-1]
	before := min(context, head.A0)
	after := min(context, len(c.a)-last.A1)
	a0, b0 := head.A0-before, head.B0-before
	a1, b1 := last.A1+after, last.B1+after
	header := fmt.Sprintf("@@ -%s +%s @@\n", lineRange(c.first+a0, a1-a0), lineRange(c.first+b0, b1-b0))
	if !yield(row{op: '@', text: header}) {
		return false
	}
	showCR := c.endsDiffer(changes)
	at := a0
	for _, change := range changes {
		for ; at < change.A0; at++ {
			if !yield(row{op: ' ', text: c.a[at]}) {
				return false
			}
		}
		for i := change.A0; i < change.A1; i++ {
			r := pair('-', c.a[i], c.b[change.B0:change.B1], i-change.A0)
			if r.showCR = showCR; !yield(r) {
				return false
			}
		}
		for i := change.B0; i < change.B1; i++ {
			r := pair('+', c.b[i], c.a[change.A0:change.A1], i-change.B0)
			if r.showCR = showCR; !yield(r) {
				return false
			}
		}
		at = change.A1
	}
	for ; at < a1; at++ {
		if !yield(row{op: ' ', text: c.a[at]}) {
			return false
		}
	}
	return true
}

// pair delimits the difference between a line and its counterpart on the other side.
func pair(op byte, text string, other []string, i int) row {
	r := row{op: op, text: text}
	if len(text) > lineChars && i < len(other) {
		prefix, suffix := Common(text, other[i])
		r.from, r.to = prefix, len(text)-suffix
	}
	return r
}

// endsDiffer reports whether some of the changed lines end with a carriage return
// and line feed and others with a line feed alone.
func (c *comparison) endsDiffer(changes []Change) bool {
	crlf, lf := false, false
	see := func(lines []string) {
		for _, line := range lines {
			switch {
			case strings.HasSuffix(line, "\r\n"):
				crlf = true
			case strings.HasSuffix(line, "\n"):
				lf = true
			}
		}
	}
	for _, change := range changes {
		see(c.a[change.A0:change.A1])
		see(c.b[change.B0:change.B1])
	}
	return crlf && lf
}

// lineRange writes lines as a hunk's header does: an empty range names the line before it.
func lineRange(first, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", first-1)
	case 1:
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d,%d", first, n)
}
