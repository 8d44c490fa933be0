// Package patch reads patches as models and programs write them: "*** Begin Patch"
// envelopes, unified and git diffs, told apart by content, section by section.
//
// It turns text into values and touches no file. Start at [Parse], then read
// unwrap.go (what is around a patch), section.go (what follows what), then
// envelope.go and unified.go, and hunk.go, which both share. The package imports
// textedit for what a hunk is, and nothing else of toolcrib.
package patch

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolcrib/tools/internal/text/textedit"
)

// Kind is what a patch does to a file.
type Kind string

// The kinds.
const (
	Add    Kind = "add"
	Update Kind = "update" // with To a move as well
	Delete Kind = "delete" // with Chunks of what it says stood there
	Copy   Kind = "copy"   // To becomes Path with the chunks applied
)

// File is what a patch does to one file.
type File struct {
	Kind Kind
	Path string
	To   string // the new path of a move or copy, "" of none
	// Content is that of an added file.
	Content string
	Chunks  []textedit.Chunk
	At      []int // where in the patch each chunk begins, from 1
	// CRLF says that all lines that come to a file end so in the patch, though its
	// headers do not. It matters for a file that has no line ending yet.
	CRLF bool
	Mode fs.FileMode // the new permission bits as git has them, 0644 or 0755; 0 = not told
	Line int         // where in the patch it begins, from 1
	// Doubts tell what was read in one way and may be meant in another: worth a
	// word where the chunks do not match.
	Doubts []string
}

// Example is a whole patch, for messages.
const Example = `*** Begin Patch
*** Update File: path/of/file
-the old line
+the new line
*** End Patch`

// Error says why a text is not a patch.
type Error struct {
	Line int    // from 1, as the text was given; 0 = of the whole
	Msg  string // what stands there, and what is wanted
	Hint string // the way out, "" where Msg says it
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Msg
	}
	return fmt.Sprintf("patch line %d: %s", e.Line, e.Msg)
}

// Parse reads a patch. The notes disclose what was mended. Every error is an
// *[Error].
func Parse(text string) (files []File, notes []string, err error) {
	var p parser
	if err := p.unwrap(text); err != nil {
		return nil, nil, err
	}
	for p.at < len(p.lines) {
		if err := p.section(); err != nil {
			return nil, nil, err
		}
	}
	if len(p.files) == 0 {
		return nil, nil, p.nothing()
	}
	if err := p.ended(); err != nil {
		return nil, nil, err
	}
	for i := range p.files {
		p.below(&p.files[i])
	}
	return p.files, p.notes.list(), nil
}

// line is a line of a patch without its end.
type line struct {
	text string
	cr   bool // a carriage return stood before the line feed
	open bool // of a hunk: in the file it has no line feed
	no   int
}

// parser reads the lines one section after the other.
type parser struct {
	lines []line
	at    int
	last  int // the number of the last line that is not blank
	files []File
	notes notes

	began, open bool   // *** Begin Patch was there; it has not ended yet
	whole       bool   // what is around the patch ends, so that nothing of it is missing
	broken      bool   // what is around the patch does not end
	unended     bool   // the last line has no line feed
	sealed      bool   // *** End Patch was the last of the patch
	body        int    // the number of the last line of a unified diff's hunk
	dir         string // the directory that the names are below, "" of none
	padding     string // what stands before the markers of a patch whose markers are indented
	prose       []line // lines that belong to no section, since the last
	apart       bool   // the line before is blank, prose or an end
}

// more reports whether there is a line, and returns it.
func (p *parser) more() (line, bool) { return p.peek(0) }

// peek returns the line n after the current one.
func (p *parser) peek(n int) (line, bool) {
	if p.at+n >= len(p.lines) {
		return line{}, false
	}
	return p.lines[p.at+n], true
}

// nothing is the error of a text without any file.
func (p *parser) nothing() error {
	e := &Error{Msg: "no file is named in the patch", Hint: "a patch looks like this, or is a unified diff:\n" + Example}
	if len(p.prose) == 0 && !p.began {
		e.Msg = "the patch is empty"
	}
	return e
}

// shown quotes a line for a message, shortened.
func shown(text string) string {
	const most = 80
	if len(text) <= most {
		return strconv.Quote(text)
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strconv.Quote(text[:end]) + "…"
}

// notes collects what was mended, each kind once with the lines it concerns.
type notes []note

type note struct {
	text  string
	lines []int
}

// add notes a mend at a line; 0 is no line.
func (n *notes) add(no int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for i := range *n {
		if (*n)[i].text == text {
			if !slices.Contains((*n)[i].lines[max(0, len((*n)[i].lines)-8):], no) {
				(*n)[i].lines = append((*n)[i].lines, no)
			}
			return
		}
	}
	*n = append(*n, note{text, []int{no}})
}

// list words the notes.
func (n notes) list() []string {
	const most = 8 // lines named
	var out []string
	for _, note := range n {
		var b strings.Builder
		for i, no := range note.lines {
			switch {
			case no == 0:
			case i == 0 && len(note.lines) == 1:
				fmt.Fprintf(&b, "patch line %d: ", no)
			case i == 0:
				fmt.Fprintf(&b, "patch lines %d", no)
			case i < most:
				fmt.Fprintf(&b, ", %d", no)
			case i == most:
				fmt.Fprintf(&b, " and %d more", len(note.lines)-most)
			}
		}
		if len(note.lines) > 1 {
			b.WriteString(": ")
		}
		out = append(out, b.String()+note.text)
	}
	return out
}
