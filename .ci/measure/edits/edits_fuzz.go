package edits

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// fuzzedForm is how the text of a file is written.
type fuzzedForm struct {
	encoding textEncoding
	ending   string
	open     bool
}

func (f fuzzedForm) String() string {
	return fmt.Sprintf("%s, %s, open %t", f.encoding.name, f.ending, f.open)
}

func (f fuzzedForm) named() bool { return f.encoding.guessed }

// told reports whether bytes say what line ending the form has: the inverse of a
// change cannot bring back another one.
func (f fuzzedForm) told(data []byte) bool {
	text, _ := f.encoding.decode(data)
	return f.ending == "LF" || f.ending == "CRLF" && strings.Contains(text, "\r\n")
}

// kept reports whether bytes have no other line ending than the form has.
func (f fuzzedForm) kept(data []byte) bool {
	text, _ := f.encoding.decode(data)
	switch f.ending {
	case "LF":
		return !strings.Contains(text, "\r")
	case "CRLF":
		return strings.Count(text, "\r\n") == strings.Count(text, "\n")
	}
	return true
}

// fuzzed is a random file and a random edit of it.
type fuzzed struct {
	form  fuzzedForm
	lines []string
	data  []byte
	patch bool // by apply_patch
	args  []map[string]any
	text  string // of the patch, with %s where the path is
}

// The words are few, so that texts stand at several places, and hold what matching
// and showing stumble over.
var fuzzedWords = []string{
	"a", "b", "if", "x := 1", "return", "}", "{", "$1", `\1`, "%s", "é", "日本", "“q”", "- -", "—", "a b", "\t", "  ", "...", "@@", "+", "-", "*** End Patch", "\u200b", "\u00a0", "\\u{200b}", "diff --git",
}

var fuzzedEncodings = func() []textEncoding {
	return slices.DeleteFunc(textEncodings(), func(e textEncoding) bool {
		return !slices.Contains([]string{"utf-8", "utf-8 with BOM", "utf-16le with BOM", "utf-32be with BOM", "gb18030", "utf-16be"}, e.name)
	})
}

func newFuzzed(rnd *rand.Rand) *fuzzed {
	e := &fuzzed{patch: rnd.IntN(3) == 0}
	encodings := fuzzedEncodings()
	e.form = fuzzedForm{
		encoding: encodings[rnd.IntN(len(encodings))],
		ending:   []string{"LF", "LF", "CRLF", "mixed"}[rnd.IntN(4)],
		open:     rnd.IntN(4) == 0,
	}
	if e.patch && e.form.encoding.guessed { // it takes no encoding
		e.form.encoding = encodings[0]
	}
	for range 1 + rnd.IntN(12) {
		e.lines = append(e.lines, fuzzedLine(rnd))
	}
	if e.form.open && e.lines[len(e.lines)-1] == "" {
		e.lines[len(e.lines)-1] = "end"
	}
	e.data = e.form.bytes(e.lines)
	if e.patch {
		e.makePatch(rnd)
		return e
	}
	for range 1 + rnd.IntN(3) {
		e.args = append(e.args, e.randomEdit(rnd))
	}
	return e
}

func fuzzedLine(rnd *rand.Rand) string {
	var words []string
	for range rnd.IntN(4) {
		words = append(words, fuzzedWords[rnd.IntN(len(fuzzedWords))])
	}
	line := strings.Join(words, " ")
	switch rnd.IntN(5) {
	case 0:
		return "\t" + line
	case 1:
		return "    " + line
	}
	return line
}

func (f fuzzedForm) bytes(lines []string) []byte {
	text := withEnding(strings.Join(lines, "\n"), f.ending)
	if !f.open {
		text += map[string]string{"LF": "\n", "CRLF": "\r\n", "mixed": "\n"}[f.ending]
	}
	data, err := f.encoding.encode(text)
	if err != nil {
		panic(err) // every word is in every encoding
	}
	return slices.Concat(f.encoding.bom, data)
}

// decoded returns the lines of bytes, without their endings, and whether the last
// is open.
func (f fuzzedForm) decoded(data []byte) (lines []string, open, ok bool) {
	text, ok := f.encoding.decode(data)
	text = strings.ReplaceAll(text, "\r\n", "\n")
	open = !strings.HasSuffix(text, "\n")
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n"), open, ok
}

// randomEdit takes some of the file's own lines or a part of one, and spoils it at
// times.
func (e *fuzzed) randomEdit(rnd *rand.Rand) map[string]any {
	from := rnd.IntN(len(e.lines))
	to := min(from+rnd.IntN(3), len(e.lines)-1)
	var replaced []string
	for range rnd.IntN(3) {
		replaced = append(replaced, fuzzedLine(rnd))
	}
	text := strings.Join(replaced, "\n")
	if rnd.IntN(4) == 0 { // lines by number
		edit := map[string]any{"start_line": from + 1, "end_line": to + 1 - rnd.IntN(2)*rnd.IntN(2), "new_text": text}
		if rnd.IntN(8) == 0 {
			edit["start_line"] = len(e.lines) + rnd.IntN(3)
		}
		return edit
	}
	old := strings.Join(e.lines[from:to+1], "\n")
	switch rnd.IntN(8) {
	case 0: // a part of a line
		if runes := []rune(old); len(runes) > 1 {
			begin := rnd.IntN(len(runes) - 1)
			old = string(runes[begin : begin+1+rnd.IntN(len(runes)-begin-1)])
		}
	case 1:
		old = strings.ReplaceAll(old, "\t", "    ")
	case 2:
		old += " "
	case 3:
		old = strings.ReplaceAll(old, "“", `"`)
	case 4:
		old, text = old+"\n", text+"\n"
	case 5:
		old = fuzzedLine(rnd)
	}
	edit := map[string]any{"old_text": old, "new_text": text}
	switch rnd.IntN(6) {
	case 0:
		edit["replace_all"] = true
	case 1:
		edit["expected_count"] = 1 + rnd.IntN(2)
	case 2:
		edit["start_line"] = from + 1
	}
	return edit
}

// makePatch writes a patch in one of the two formats that changes some lines, and
// spoils it at times.
func (e *fuzzed) makePatch(rnd *rand.Rand) {
	at := rnd.IntN(len(e.lines))
	gone := min(rnd.IntN(3), len(e.lines)-at)
	first, last := max(at-rnd.IntN(4), 0), min(at+gone+rnd.IntN(4), len(e.lines))
	var b strings.Builder
	unified := rnd.IntN(2) == 0
	var come []string
	for range rnd.IntN(3) {
		come = append(come, fuzzedLine(rnd))
	}
	if unified {
		fmt.Fprintf(&b, "--- a/%%[1]s\n+++ b/%%[1]s\n@@ -%d,%d +%d,%d @@\n", first+1, last-first, first+1, last-first-gone+len(come))
	} else {
		b.WriteString("*** Begin Patch\n*** Update File: %[1]s\n@@\n")
	}
	for i := first; i < last; i++ {
		sign := " "
		if i >= at && i < at+gone {
			sign = "-"
		}
		line := e.lines[i]
		if rnd.IntN(20) == 0 {
			line += " spoilt"
		}
		b.WriteString(sign + escapePercent(line) + "\n")
		if i == at+gone-1 || gone == 0 && i == at {
			for _, line := range come {
				b.WriteString("+" + escapePercent(line) + "\n")
			}
		}
		if unified && e.form.open && i == len(e.lines)-1 && i >= at+gone {
			b.WriteString("\\ No newline at end of file\n")
		}
	}
	if !unified {
		b.WriteString("*** End Patch\n")
	}
	e.text = b.String()
}

func escapePercent(line string) string { return strings.ReplaceAll(line, "%", "%%") }

func (e *fuzzed) tool() string {
	if e.patch {
		return "apply_patch"
	}
	return "edit_file"
}

func (e *fuzzed) arguments(name string) map[string]any {
	if e.patch {
		args := map[string]any{"patch": fmt.Sprintf(e.text, name)}
		e.args = []map[string]any{args}
		return map[string]any{"patch": args["patch"]}
	}
	args := map[string]any{"path": name, "edits": e.args}
	if e.form.named() {
		args["encoding"] = e.form.encoding.name
	}
	return args
}
