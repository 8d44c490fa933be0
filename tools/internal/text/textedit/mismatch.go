package textedit

import (
	"fmt"
	"strconv"
	"strings"

	"toolcrib/tools/internal/text/textfile"
)

// Mismatch says why an edit or a chunk does not apply.
type Mismatch struct {
	Edit int // its index
	// Msg is one line. Detail helps to repair the edit: the closest region with its
	// whitespace visible, or the lines of all candidates. Detail is "" or some lines
	// without a last line feed, at most 5,000 bytes.
	Msg, Detail string
}

func (e *Mismatch) Error() string { return e.Msg }

const (
	// mostListed is how many places are listed.
	mostListed = 20
	// listedChars is the most characters of a line that are shown in a list.
	listedChars = 100
)

// linesOf lists the lines of hits: "3, 10, 42 and 5 more".
func (d *draft) linesOf(hits []hit) string { return listed(d.lineIndexes(hits)) }

func listed(lines []int) string {
	var b []byte
	for i, line := range lines {
		switch {
		case i == mostListed:
			return string(fmt.Appendf(b, " and %d more", len(lines)-i))
		case i > 0:
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(b, int64(line)+1, 10)
	}
	return string(b)
}

// candidates shows the lines on which hits begin, each after the line before it, which
// helps to tell them apart.
func (d *draft) candidates(hits []hit) string {
	if len(hits) > mostListed {
		hits = hits[:mostListed]
	}
	return d.places(d.lineIndexes(hits))
}

func (d *draft) places(lines []int) string {
	var b strings.Builder
	for i, at := range lines[:min(len(lines), mostListed)] {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%d\t%s", at+1, brief(d.lines[at].text))
		for before := at - 1; before >= 0; before-- {
			if text := d.lines[before].text; strings.TrimSpace(text) != "" {
				fmt.Fprintf(&b, "   (after %d: %s)", before+1, brief(strings.TrimSpace(text)))
				break
			}
		}
	}
	return b.String()
}

func brief(text string) string { return textfile.Visible(textfile.Cut(text, 0, 0, listedChars)) }
