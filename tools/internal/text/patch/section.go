package patch

import (
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// marker is the kind of a line of an envelope.
type marker uint8

const (
	notMarker marker = iota
	beginPatch
	endPatch
	addFile
	updateFile
	deleteFile
	moveTo
	endOfFile
	environment
)

// markerNamed returns the marker with the words, in lower case.
func markerNamed(words string) marker {
	switch strings.ToLower(words) {
	case "begin patch":
		return beginPatch
	case "end patch":
		return endPatch
	case "end of file":
		return endOfFile
	case "add file":
		return addFile
	case "update file":
		return updateFile
	case "delete file":
		return deleteFile
	case "move to":
		return moveTo
	}
	return environment
}

// markerOf reads a line as a marker, with its path. Case and blanks do not matter, nor do
// stars at the end, nor quotes and brackets of a command or of JSON after the end. It uses
// no regular expression, which would take many times as long for every line of a patch.
func markerOf(text string) (m marker, path string) {
	const blank = " \t"
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, blank), "***")
	if !ok {
		return notMarker, ""
	}
	rest = strings.TrimLeft(rest, blank)
	for _, words := range [...]string{"begin patch", "end patch", "end of file"} {
		if after, ok := cutWords(rest, words); ok {
			after = strings.TrimPrefix(strings.TrimLeft(after, blank), "***")
			if strings.TrimLeft(strings.TrimLeft(after, `"')]}`), blank) != "" {
				return notMarker, ""
			}
			return markerNamed(words), ""
		}
	}
	for _, words := range [...]string{"add file", "update file", "delete file", "move to", "environment id"} {
		if after, ok := cutWords(rest, words); ok {
			if after, ok = strings.CutPrefix(strings.TrimLeft(after, blank), ":"); !ok {
				return notMarker, ""
			}
			path = strings.Trim(after, blank)
			if before, ok := strings.CutSuffix(path, "***"); ok && strings.TrimRight(before, blank) != before {
				path = strings.TrimRight(before, blank)
			}
			return markerNamed(words), unquote(path)
		}
	}
	return notMarker, ""
}

// cutWords takes words, in any case, off the front of a text.
func cutWords(text, words string) (after string, ok bool) {
	if len(text) < len(words) || !strings.EqualFold(text[:len(words)], words) {
		return "", false
	}
	return text[len(words):], true
}

// markers lists what an envelope may hold, for messages.
const markers = "*** Add File: PATH, *** Update File: PATH, *** Delete File: PATH, *** Move to: PATH, *** End of File, *** End Patch"

// section reads the section that begins at the current line.
func (p *parser) section() error {
	l := p.lines[p.at]
	if strings.TrimSpace(l.text) == "" {
		p.at++
		p.apart = true
		return nil
	}
	m, path := markerOf(l.text)
	switch m {
	case notMarker:
		if p.unifiedAt(p.at) {
			return p.enter(l, p.unified)
		}
		return p.other(l)
	case beginPatch:
		if p.began {
			p.notes.add(l.no, "*** Begin Patch is repeated; read as one patch")
		}
		p.began, p.open = true, true
	case endPatch:
		p.open, p.sealed = false, true
		p.began = true
		p.apart = true
	case environment:
		p.notes.add(l.no, "the environment line has no meaning here")
	case addFile, updateFile, deleteFile:
		if path == "" {
			return &Error{Line: l.no, Msg: shown(l.text) + " names no file"}
		}
		if !p.began {
			p.notes.add(l.no, "*** Begin Patch is missing")
			p.began, p.open = true, true
		} else if !p.open {
			p.notes.add(l.no, "comes after *** End Patch; read as part of the patch")
			p.open = true
		}
		return p.enter(l, func(l line) error { return p.envelope(l, m, path) })
	default:
		return &Error{Line: l.no, Msg: shown(l.text) + " is not below an *** Update File line"}
	}
	p.at++
	return nil
}

// enter reads a file's section.
func (p *parser) enter(l line, read func(line) error) error {
	p.flush()
	p.apart, p.sealed = false, false
	return read(l)
}

// flush discloses the prose that was left out.
func (p *parser) flush() {
	if len(p.prose) == 0 {
		return
	}
	first, last := p.prose[0], p.prose[len(p.prose)-1]
	if first.no == last.no {
		p.notes.add(0, "line %d of the patch is left out as prose: %s", first.no, shown(first.text))
	} else {
		p.notes.add(0, "lines %d-%d of the patch are left out as prose: %s", first.no, last.no, shown(first.text))
	}
	p.prose = nil
}

// ended handles the end of the text, which settles what was open.
func (p *parser) ended() error {
	p.flush()
	if p.open {
		if !p.whole {
			return p.cut(0, "*** End Patch is missing")
		}
		p.notes.add(0, "*** End Patch is missing")
	}
	if p.broken && !p.sealed {
		return p.cut(0, "the code fence or heredoc around the patch does not end")
	}
	return p.torn()
}

// other skips a line that begins no section, if it can be no part of the patch.
func (p *parser) other(l line) error {
	switch {
	case headline(l.text):
		p.at++
		if len(p.files) > 0 && p.ends() {
			return p.cut(l.no, "%s begins a file that does not follow", shown(l.text))
		}
		return nil
	case strings.HasPrefix(l.text, "@@@"):
		return foreign(l)
	case strings.HasPrefix(l.text, "@@"):
		return &Error{Line: l.no, Msg: "the hunk belongs to no file", Hint: "begin with *** Update File: PATH, or with --- a/PATH and +++ b/PATH"}
	case strings.HasPrefix(l.text, "GIT binary patch"), binaryRule().MatchString(l.text):
		return binary(l.no, l.text)
	case strings.HasPrefix(l.text, "***"):
		return p.strange(l)
	}
	if !p.open && (len(p.files) == 0 || p.apart || signature(l.text) || fenceRule().MatchString(l.text)) {
		p.at++
		p.apart = true
		p.prose = append(p.prose, l)
		return nil
	}
	return p.stray(l)
}

// strange is the error of a line of stars that is no marker.
func (p *parser) strange(l line) error {
	next, _ := p.peek(1)
	if strings.HasPrefix(next.text, "--- ") || strings.HasPrefix(l.text, "****") {
		return &Error{Line: l.no, Msg: "context diffs are not supported", Hint: "give a unified diff (diff -u) or an envelope:\n" + Example}
	}
	return &Error{Line: l.no, Msg: shown(l.text) + " is not a marker", Hint: "use one of: " + markers}
}

// stray is the error of a line that belongs to nothing.
func (p *parser) stray(l line) error {
	if len(p.files) == 0 {
		return &Error{Line: l.no, Msg: shown(l.text) + " belongs to no file", Hint: "begin each file with one of: " + markers}
	}
	f := p.files[len(p.files)-1]
	switch {
	case f.Kind == Add:
		return &Error{Line: l.no, Msg: shown(l.text) + ": every line of an added file begins with +"}
	case f.Kind == Delete && len(f.Chunks) == 0:
		return &Error{Line: l.no, Msg: shown(l.text) + ": nothing follows a deleted file but the next marker"}
	}
	return &Error{
		Line: l.no, Msg: shown(l.text) + " does not begin with a space, - or +",
		Hint: "a context line begins with one space before its text; put a blank line between the patch and prose after it",
	}
}

// headline reports whether programs print this line before a file without adding to its
// header.
func headline(text string) bool {
	return strings.HasPrefix(text, "Index: ") || strings.HasPrefix(text, "diff ") && !strings.HasPrefix(text, "diff --") ||
		strings.HasPrefix(text, "=====") && strings.Trim(text, "=") == ""
}

// signature reports whether git writes this line below a mailed patch.
func signature(text string) bool { return text == "-- " || text == "--" }
