package patch

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// unwrap takes the patch out of the text that models put around it, and splits it into
// lines that keep their numbers.
func (p *parser) unwrap(text string) error {
	text, err := p.decode(strings.TrimPrefix(text, "\ufeff"))
	if err != nil {
		return err
	}
	no := 0
	text, ended := strings.CutSuffix(text, "\n")
	p.unended = !ended
	for part := range strings.SplitSeq(text, "\n") {
		no++
		part, cr := strings.CutSuffix(part, "\r")
		p.lines = append(p.lines, line{text: part, cr: cr, no: no})
	}
	if err := p.stripFence(); err != nil {
		return err
	}
	if err := p.unheredoc(); err != nil {
		return err
	}
	p.dedent()
	for _, l := range p.lines {
		if strings.TrimSpace(l.text) != "" {
			p.last = l.no
		}
	}
	return nil
}

// decode reads a patch that was sent as JSON inside of the argument: as a string, as the
// arguments of a function, as the words of a command, or with \n in place of line feeds.
func (p *parser) decode(text string) (string, error) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return "", nil
	}
	switch trimmed[0] {
	case '"', '{', '[':
		if inner := patchOf([]byte(trimmed)); inner != "" {
			p.notes.add(0, "the patch was JSON in a string; read as the text in it")
			p.whole = true
			return inner, nil
		}
	}
	if strings.Contains(trimmed, "\n") || !strings.Contains(trimmed, `\n`) || !startRule().MatchString(trimmed) {
		return text, nil
	}
	var inner string
	if json.Unmarshal([]byte(`"`+trimmed+`"`), &inner) != nil {
		return "", &Error{Line: 1, Msg: `the patch is one line with \n written out`, Hint: "send line feeds, escaped once by JSON"}
	}
	p.notes.add(0, `\n was written out; read as line feeds`)
	return inner, nil
}

// startRule is the beginning of a patch.
var startRule = expression(`^(\*{3} ?(Begin|Add|Update|Delete) |diff --git |--- )`)

// patchOf returns the text of a patch in JSON, "" if there is none.
func patchOf(data []byte) string {
	var doc any
	if json.Unmarshal(data, &doc) != nil {
		return ""
	}
	switch v := doc.(type) {
	case string:
		return v
	case map[string]any:
		for _, key := range []string{"patch", "input", "diff"} {
			if text, ok := v[key].(string); ok && len(v) == 1 {
				return text
			}
		}
	case []any: // ["apply_patch", "*** Begin Patch ..."]
		if len(v) == 2 && v[0] == "apply_patch" {
			text, _ := v[1].(string)
			return text
		}
	}
	return ""
}

var (
	fenceRule = expression("^[ \t]*(`{3,}|~{3,})[ \t]*([\\w+.-]*)[ \t]*$")
	// argumentRule is a command to which the patch is an argument in quotes.
	argumentRule = expression(`\b(?:apply_patch|applypatch)\b.*["']`)
	heredocRule  = expression(`\b(?:apply_patch|applypatch|apply|patch|cat|tee)\b.*<<-?[ \t]*(?:'([^']+)'|"([^"]+)"|\\?(\w+))`)
)

// first returns the index of the first line that begins a patch, or len(lines).
func (p *parser) first() int {
	for i := range p.lines {
		if p.starts(i) {
			return i
		}
	}
	return len(p.lines)
}

// starts reports whether a patch or one of its sections begins at a line, which may
// be indented.
func (p *parser) starts(i int) bool {
	if m, _ := markerOf(p.lines[i].text); m != notMarker {
		return true
	}
	text := strings.TrimLeft(p.lines[i].text, " \t")
	return strings.HasPrefix(text, "diff --git ") || strings.HasPrefix(text, "@@ -") ||
		strings.HasPrefix(text, "--- ") && i+1 < len(p.lines) && strings.HasPrefix(strings.TrimLeft(p.lines[i+1].text, " \t"), "+++ ")
}

// indent returns the white space that a line begins with.
func indent(text string) string { return text[:len(text)-len(strings.TrimLeft(text, " \t"))] }

// stripFence keeps the content of code fences, if the patch begins in one. A patch in
// several, one for each file, is put together.
func (p *parser) stripFence() error {
	first := p.first()
	open := -1
	for i := range first {
		switch {
		case !fenceRule().MatchString(p.lines[i].text):
		case open >= 0 && closes(p.lines[open].text, p.lines[i].text):
			open = -1
		case open < 0:
			open = i
		}
	}
	if open < 0 {
		return nil
	}
	var kept []line
	last := -1 // the end of the last code fence
	for i := open; i < len(p.lines); {
		end := i + 1
		for end < len(p.lines) && !closes(p.lines[i].text, p.lines[end].text) {
			end++
		}
		kept = append(kept, p.lines[i+1:min(end, len(p.lines))]...)
		last = end
		for i = end + 1; i < len(p.lines) && !fenceRule().MatchString(p.lines[i].text); i++ {
			if p.starts(i) {
				return &Error{Line: p.lines[i].no, Msg: "a part of the patch comes after the code fence that ends at line " +
					itoa(p.lines[last].no), Hint: "send the patch without code fences"}
			}
		}
	}
	if last >= len(p.lines) {
		p.notes.add(0, "the code fence around the patch does not end")
		p.broken = true
	} else {
		p.notes.add(0, "taken out of its code fence")
		p.whole = true
	}
	p.lines = kept
	return nil
}

// closes reports whether a line ends a code fence.
func closes(open, text string) bool {
	o, c := fenceRule().FindStringSubmatch(open), fenceRule().FindStringSubmatch(text)
	return o != nil && c != nil && c[2] == "" && c[1][0] == o[1][0] && len(c[1]) >= len(o[1]) && indent(open) == indent(text)
}

// unheredoc keeps the content of a heredoc, if the patch begins in one.
func (p *parser) unheredoc() error {
	first := p.first()
	for i := range first {
		m := heredocRule().FindStringSubmatch(p.lines[i].text)
		if m == nil {
			continue
		}
		if err := p.enterDirectory(p.lines[:i+1]); err != nil {
			return err
		}
		word := m[1] + m[2] + m[3]
		end := i + 1
		for end < len(p.lines) && !ends(p.lines[end].text, indent(p.lines[i].text), word) {
			end++
		}
		for j := end + 1; j < len(p.lines); j++ {
			if p.starts(j) {
				return &Error{Line: p.lines[j].no, Msg: "a part of the patch comes after the heredoc that ends at line " +
					itoa(p.lines[end].no), Hint: "send the patch without the command around it"}
			}
		}
		p.broken = end == len(p.lines) && !p.whole
		p.whole = p.whole || !p.broken
		p.lines = p.lines[i+1 : min(end, len(p.lines))]
		p.notes.add(0, "taken out of its heredoc")
		return nil
	}
	if first > 0 && argumentRule().MatchString(p.lines[first-1].text) {
		return p.enterDirectory(p.lines[:first])
	}
	return nil
}

// ends reports whether a line ends a heredoc; the quote or parenthesis that ends the
// command may follow.
func ends(text, indent, word string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(text, indent), word)
	return ok && strings.Trim(rest, " \t\"')") == ""
}

// dedent takes off the indentation of a patch that is indented as a whole. If only the
// markers are indented, it remembers their indentation.
func (p *parser) dedent() {
	first := p.first()
	if first == len(p.lines) {
		return
	}
	margin := indent(p.lines[first].text)
	if margin == "" {
		return
	}
	for _, l := range p.lines[first:] {
		if strings.TrimSpace(l.text) != "" && !strings.HasPrefix(l.text, margin) {
			p.padding = margin
			return
		}
	}
	for i := first; i < len(p.lines); i++ {
		p.lines[i].text = strings.TrimPrefix(p.lines[i].text, margin)
	}
	p.notes.add(0, "the whole patch was indented; read without that")
}

// expression compiles a regular expression when it is first used: no start of the program
// waits for it.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
