package patch

import (
	"io/fs"
	"strconv"
	"strings"
)

// headerAt reports whether two lines that name a file begin at a line, followed by a hunk
// or the end.
func (p *parser) headerAt(i int) bool {
	if i+1 >= len(p.lines) || !strings.HasPrefix(p.lines[i].text, "--- ") || !strings.HasPrefix(p.lines[i+1].text, "+++ ") {
		return false
	}
	for i += 2; i < len(p.lines); i++ {
		if text := p.lines[i].text; text != "" {
			return strings.HasPrefix(text, "@@")
		}
	}
	return true
}

// unifiedAt reports whether the section of a file in a unified diff begins at a line.
func (p *parser) unifiedAt(i int) bool {
	if strings.HasPrefix(p.lines[i].text, "diff --git ") {
		return true
	}
	return strings.HasPrefix(p.lines[i].text, "--- ") && i+1 < len(p.lines) && strings.HasPrefix(p.lines[i+1].text, "+++ ")
}

var binaryRule = expression(`^Binary files .* differ$`)

func binary(no int, text string) error {
	return &Error{Line: no, Msg: shown(text) + ": binary changes are not supported", Hint: "leave that file out of the patch and write it with another tool"}
}

// emptyRule is an index line with one blob missing and the other empty, by SHA-1 or
// SHA-256.
var emptyRule = expression(`^(?:0+\.\.(?:e69de29|473a0f4)[0-9a-f]*|(?:e69de29|473a0f4)[0-9a-f]*\.\.0+)$`)

// header is the lines before the hunks of a file.
type header struct {
	before, after      string // the names of the sides
	bare               bool   // names carry no prefix
	from, to           string // of a rename or copy
	copied             bool
	added, deleted     bool
	mode               fs.FileMode
	oldMode            fs.FileMode
	seen               bool // --- and +++ were read
	gitBefore, gitName string
	empty              bool // the index says that the existing side is empty
	changed            bool // by the index or the similarity, the content changes
	last               int  // the number of its last line
}

// unified reads the section of a file in a unified or git diff.
func (p *parser) unified(l line) error {
	if p.open {
		p.notes.add(l.no, "a unified diff in an envelope")
	}
	h, err := p.header()
	if err != nil {
		return err
	}
	f, err := h.file(l)
	if err != nil {
		return err
	}
	if err := p.hunks(&f, true); err != nil {
		return err
	}
	if len(f.Chunks) == 0 && !h.seen {
		if err := p.bare(l, h, f); err != nil {
			return err
		}
	}
	switch {
	case h.seen && len(f.Chunks) == 0:
		err = p.hunkless(l)
	case f.Kind == Add:
		err = f.fill()
	case f.Kind == Update && len(f.Chunks) == 0 && f.To == "" && f.Mode == 0:
		err = &Error{Line: l.no, Msg: "the patch has no change of " + shown(f.Path)}
	}
	p.files = append(p.files, f)
	return err
}

// hunkless is the error of a header without a hunk.
func (p *parser) hunkless(l line) error {
	if next, ok := p.more(); ok && p.nothingOf(next) {
		return foreign(next)
	}
	return &Error{Line: l.no, Msg: "no hunk follows the header of the file", Hint: "a hunk begins with @@ -LINE,COUNT +LINE,COUNT @@"}
}

// header reads the lines before the hunks.
func (p *parser) header() (h header, err error) {
	for {
		l, ok := p.more()
		if !ok {
			return h, nil
		}
		key, rest := word(l.text)
		switch key {
		case "diff --git ":
			if h.gitName != "" || h.seen {
				return h, nil
			}
			h.gitBefore, h.gitName, h.bare = gitNames(rest)
			if h.gitName == "" {
				h.gitName = rest
			}
		case "--- ":
			if h.seen || !p.unifiedAt(p.at) {
				return h, nil
			}
			next, _ := p.peek(1)
			h.before, h.after, h.seen = p.nameOf(l.no, rest), p.nameOf(next.no, next.text[len("+++ "):]), true
			p.at++
		case "rename from ", "copy from ":
			h.from, h.copied = wholeName(rest), key[0] == 'c'
		case "rename to ", "copy to ":
			h.to = wholeName(rest)
		case "old mode ":
			h.oldMode, err = modeOf(l, rest)
		case "new mode ":
			h.mode, err = modeOf(l, rest)
		case "new file mode ":
			h.added = true
			h.mode, err = modeOf(l, rest)
		case "deleted file mode ":
			h.deleted = true
			_, err = modeOf(l, rest)
		case "index ":
			blobs, mode, ok := strings.Cut(rest, " ")
			if ok {
				_, err = modeOf(l, mode)
			}
			before, after, _ := strings.Cut(blobs, "..")
			h.empty, h.changed = emptyRule().MatchString(blobs), h.changed || before != after
		case "similarity index ":
			h.changed = h.changed || strings.TrimSpace(rest) != "100%"
		case "dissimilarity index ":
		default:
			if strings.HasPrefix(l.text, "GIT binary patch") || binaryRule().MatchString(l.text) {
				return h, binary(l.no, l.text)
			}
			return h, nil
		}
		if err != nil {
			return h, err
		}
		h.last = l.no
		if h.seen {
			p.at++
			return h, nil
		}
		p.at++
	}
}

// word splits a header line after its key, "" if it has none.
func word(text string) (key, rest string) {
	for _, key := range []string{
		"diff --git ", "--- ", "rename from ", "rename to ", "copy from ", "copy to ", "old mode ", "new mode ",
		"new file mode ", "deleted file mode ", "index ", "similarity index ", "dissimilarity index ",
	} {
		if rest, ok := strings.CutPrefix(text, key); ok {
			return key, rest
		}
	}
	return "", ""
}

// modeOf reads a mode as git writes it.
func modeOf(l line, text string) (fs.FileMode, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 8, 32)
	switch {
	case err != nil:
		return 0, &Error{Line: l.no, Msg: shown(l.text) + " has no mode such as 100644"}
	case n&0o170000 == 0o120000:
		return 0, &Error{Line: l.no, Msg: "a patch cannot change a symlink", Hint: "leave it out of the patch"}
	case n&0o170000 == 0o160000:
		return 0, &Error{Line: l.no, Msg: "a patch cannot change a submodule", Hint: "leave it out of the patch"}
	}
	return fs.FileMode(n & 0o777), nil
}

// file turns the header into a value.
func (h header) file(l line) (File, error) {
	f := File{Kind: Update, Line: l.no, Mode: h.mode}
	before, after := h.before, h.after
	switch {
	case !h.seen:
		before, after = h.gitBefore, h.gitName
	case h.gitName != "" && !h.bare:
		before, after = plain(before), plain(after)
	case !h.bare:
		before, after = strip(before, after)
	}
	if before == nowhere && after == nowhere {
		return f, &Error{Line: l.no, Msg: "both sides are " + nowhere}
	}
	f.Path = after
	switch {
	case h.from != "" || h.to != "":
		if h.from == "" || h.to == "" {
			return f, &Error{Line: l.no, Msg: "a rename or copy needs both names", Hint: "write rename from OLD and rename to NEW"}
		}
		f.Path, f.To = h.from, h.to
		if h.copied {
			f.Kind = Copy
		}
	case before == nowhere || h.added:
		f.Kind = Add
	case after == nowhere || h.deleted:
		f.Kind, f.Path = Delete, before
	case before != after && !backup(before, after):
		return f, &Error{
			Line: l.no, Msg: "the sides name two files, " + shown(before) + " and " + shown(after),
			Hint: "name the same file in both; for a move write rename from OLD and rename to NEW, or *** Move to: NEW",
		}
	}
	if f.Path == "" || f.Path == nowhere {
		return f, &Error{Line: l.no, Msg: "the header names no file"}
	}
	return f, nil
}

// plain takes the first component off a name of a git diff whose names carry one.
func plain(name string) string {
	if _, rest, ok := strings.Cut(name, "/"); ok && name != nowhere {
		return rest
	}
	return name
}

// backup reports whether before is the name of an older copy of after.
func backup(before, after string) bool {
	for _, end := range []string{".orig", ".old", ".bak", "~"} {
		if before == after+end {
			return true
		}
	}
	return false
}

// fill gives an added file the lines of its hunks.
func (f *File) fill() error {
	var b strings.Builder
	for _, c := range f.Chunks {
		for _, l := range c.Lines {
			if l.Op != '+' {
				return &Error{Line: f.Line, Msg: "the file " + shown(f.Path) + " is new in the patch, but a hunk has old lines",
					Hint: "every line of a new file begins with +"}
			}
			b.WriteString(l.Text + "\n")
		}
	}
	f.Content = b.String()
	if n := len(f.Chunks); n > 0 {
		if open := f.Chunks[n-1].NoFinalNewline; open != nil && *open {
			f.Content = strings.TrimSuffix(f.Content, "\n")
		}
	}
	f.Chunks, f.At = nil, nil
	return nil
}
