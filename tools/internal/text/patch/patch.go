// Package patch reads patches as models and programs write them: "*** Begin Patch"
// envelopes, unified and git diffs, told apart by content, section by section.
//
// It turns text into values and touches no file. Start at [Parse], then read unwrap.go
// (text around a patch), section.go (the order of sections), then envelope.go and
// unified.go, and hunk.go, which both share. The package imports textedit for the type of a
// hunk, and nothing else of toolcrib.
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

// Kind is the effect of a patch on a file.
type Kind string

// The kinds.
const (
	Add    Kind = "add"
	Update Kind = "update" // with To a move as well
	Delete Kind = "delete" // with Chunks of the old content, if the patch has it
	Copy   Kind = "copy"   // To becomes Path with the chunks applied
)

// File is the part of a patch about one file.
type File struct {
	Kind Kind
	Path string
	To   string // the new path of a move or copy, "" = none
	// Content is that of an added file.
	Content string
	Chunks  []textedit.Chunk
	At      []int // where in the patch each chunk begins, from 1
	// CRLF says that all added lines end with CRLF in the patch, though its headers do not.
	// It matters for a file that has no line ending yet.
	CRLF bool
	Mode fs.FileMode // the new permission bits as git has them, 0644 or 0755; 0 = not given
	Line int         // where in the patch it begins, from 1
	// Doubts name lines that can be read in two ways, for messages about chunks that do not
	// match.
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
	Line int    // in the text as given, from 1; 0 = the whole patch
	Msg  string // the fault, and the wanted form
	Hint string // the next step, "" if Msg says it
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Msg
	}
	return fmt.Sprintf("patch line %d: %s", e.Line, e.Msg)
}

// Parse reads a patch. The notes name the slips that it read as they were meant. Every
// error is an *[Error].
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
	cr   bool // it ended with a carriage return and a line feed
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

	began, open bool   // *** Begin Patch was read; its end was not
	whole       bool   // the wrapper of the patch ends, so the patch is whole
	broken      bool   // the wrapper of the patch does not end
	unended     bool   // the last line has no line feed
	sealed      bool   // the patch ended with *** End Patch
	body        int    // the number of the last line of a unified diff's hunk
	dir         string // the directory that the names are below, "" = none
	padding     string // the indentation of the markers
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

// nothing is the error of a text that names no file.
func (p *parser) nothing() error {
	e := &Error{Msg: "the patch names no file", Hint: "a patch looks like this, or is a unified diff:\n" + Example}
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

// notes collects the slips that were read as they were meant, each kind once with its
// lines.
type notes []note

type note struct {
	text  string
	lines []int
}

// add notes a slip at a line; 0 is no line.
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

// list returns the notes as texts.
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
