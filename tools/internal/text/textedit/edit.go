package textedit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Edit replaces text, or whole lines by their numbers. Line endings in Old and New match
// any line ending of the file; everything else is plain text.
type Edit struct {
	Old, New string
	All      bool // replace every occurrence
	// Count is the required number of occurrences, all of which are replaced; 0 = one, or
	// with All any number.
	Count int
	// StartLine and EndLine, from 1, both included, replace whole lines instead of
	// Old; EndLine = StartLine-1 inserts before StartLine, which may be the line
	// after the last. They count the lines of the text before all edits. A line
	// ending that New lacks at its end is added; at the end of the file New ends as
	// the file did, unless New has a line ending there. Empty New deletes the lines.
	//
	// With Old they say where it begins: on StartLine, or with an EndLine between the two.
	StartLine, EndLine int
}

// Result is an edited file.
type Result struct {
	Data  []byte // the bytes of the whole file
	Hunks []Hunk // the replaced lines, in the order of the file
	// Replacements is how many occurrences of an Old, line ranges or chunks were replaced.
	Replacements int
	// Starts are the lines of the old file, from 1, at which the chunks of a patch were
	// found.
	Starts []int
	// Notes say which differences were tolerated: "edit 2 matched lines 10-12 but for
	// trailing spaces".
	Notes []string
}

// Hunk is one replacement of whole lines. Lines count from 1, in the old and the new file;
// a side without lines names the line after it.
type Hunk struct{ OldLine, OldLines, NewLine, NewLines int }

// Apply makes all edits or none. Each edit sees the text that the edits before it left, but
// line numbers are those of the original text; lines that an earlier edit changed cannot be
// named. An error is a *[Mismatch].
//
// An Old that the text does not have literally may match as read_file shows the text: with
// escapes for invisible characters, or with line numbers. Last, it may match whole lines
// except for trailing whitespace, indentation, quotes, dashes and spaces beyond ASCII,
// spaces inside the line or blank lines around it, if only one place matches. New may have
// the indentation that Old lacks. Result.Notes name these differences.
func (t *Text) Apply(edits []Edit) (Result, error) {
	if err := overlap(edits, len(t.lines)); err != nil {
		return Result{}, err
	}
	s := session{draft: t.draft(), what: "old_text"}
	for i, e := range edits {
		s.index, s.name = i, ""
		if len(edits) > 1 {
			s.name = fmt.Sprintf("edit %d", i+1)
		}
		if err := s.edit(e); err != nil {
			return Result{}, s.mismatch(err)
		}
	}
	return s.result(t.bom), nil
}

// session is one Apply or Patch.
type session struct {
	*draft
	what  string // the name of the text that must match
	index int    // of the edit or chunk
	name  string // "edit 2"; "" = the only one
	notes []string
	count int
	// starts becomes Result.Starts.
	starts []int
}

func (s *session) result(bom string) Result {
	return Result{Data: s.bytes(bom), Hunks: s.hunks, Replacements: s.count, Starts: s.starts, Notes: s.notes}
}

func (s *session) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.name != "" {
		text = s.name + " " + text
	}
	if !slices.Contains(s.notes, text) {
		s.notes = append(s.notes, text)
	}
}

// mismatch turns an error into the one that callers get.
func (s *session) mismatch(err error) error {
	m, ok := errors.AsType[*Mismatch](err)
	if !ok {
		m = &Mismatch{Msg: err.Error()}
	}
	m.Edit = s.index
	if s.name != "" {
		m.Msg = s.name + ": " + m.Msg
	}
	return m
}

func (s *session) edit(e Edit) error {
	e.New = s.unixEnds(e.New)
	if e.Old == "" && e.StartLine > 0 {
		return s.lineEdit(e)
	}
	e.Old = strings.ReplaceAll(e.Old, "\r\n", "\n")
	switch {
	case e.Old == "" && s.text != "":
		return errors.New("old_text is empty; give the text to replace, or start_line to insert at a line")
	case e.Old == "" && e.New == "":
		return errors.New("changes nothing: the file is empty and so is new_text")
	case e.Old == "":
		return s.replace([]hit{{0, 0, e.New}}, e)
	case e.Old == e.New:
		return errors.New("changes nothing: old_text and new_text are equal" + s.endsOnly(e))
	}
	return s.replaceText(e)
}

// unixEnds turns the line endings of new text into line feeds; the file decides how they
// are written.
func (s *session) unixEnds(text string) string {
	if !strings.Contains(text, "\r\n") {
		return text
	}
	switch ends := s.majority(s.lines); {
	case ends == none:
		s.preferCRLF = true
	case ends == lf && !slices.ContainsFunc(s.lines, func(l line) bool { return l.end == crlf }):
		s.note("has CRLF in new_text; it was written with LF, as the file's lines end")
	}
	return strings.ReplaceAll(text, "\r\n", "\n")
}

func (s *session) endsOnly(e Edit) string {
	if len(s.lines) > 0 && strings.Contains(e.Old, "\n") {
		return " (an edit keeps the line endings of the file; to change them use a program such as dos2unix, or delete the file and write it anew)"
	}
	return ""
}
