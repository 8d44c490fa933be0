package edits

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// diffOf returns the unified diff of a result.
func diffOf(text string) string {
	if at := strings.Index("\n"+text, "\n--- "); at >= 0 {
		return text[at:]
	}
	return ""
}

// foretold applies the diff that was shown to the lines before and says where what
// comes out is not what the file has.
func (e *fuzzed) foretold(diff string, after []byte) string {
	want, _, ok := e.form.decoded(after)
	if !ok {
		return "the file is not in its encoding any more"
	}
	if e.form.told(e.data) && !e.form.kept(after) {
		return "the file has line endings of two kinds, or of another one"
	}
	if strings.Contains(diff, "\n…") {
		return "" // cut
	}
	var got []string
	next := 0
	before := shownLines(e.lines)
	for line := range strings.SplitSeq(strings.TrimSuffix(diff, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "--- ") && next == 0 && got == nil || strings.HasPrefix(line, "+++ ") && next == 0 && got == nil:
		case strings.HasPrefix(line, "@@ -"):
			number, count, _ := strings.Cut(strings.Fields(line[4:])[0], ",")
			from, err := strconv.Atoi(number)
			if err != nil {
				return "the diff has a bad head: " + line
			}
			if count != "0" {
				from--
			}
			if from > len(before) || from < next {
				return "the diff is out of order: " + line
			}
			got = append(got, before[next:from]...)
			next = from
		case strings.HasPrefix(line, "\\"):
		case strings.HasPrefix(line, "+"):
			got = append(got, line[1:])
		case strings.HasPrefix(line, " "), strings.HasPrefix(line, "-"):
			if next >= len(before) || before[next] != line[1:] {
				return fmt.Sprintf("the diff has %q as line %d", line, next+1)
			}
			if line[0] == ' ' {
				got = append(got, line[1:])
			}
			next++
		default:
			return fmt.Sprintf("the diff has the line %q", line)
		}
	}
	got = append(got, before[next:]...)
	if len(after) == len(e.form.encoding.bom) {
		want = nil
	}
	if !slices.Equal(got, shownLines(want)) {
		return fmt.Sprintf("the diff makes %.300q", got)
	}
	return ""
}

// shownLines are lines as they are shown: what nobody sees is written out.
func shownLines(lines []string) []string {
	shown := make([]string, len(lines))
	for i, line := range lines {
		shown[i] = strings.ReplaceAll(line, "\u200b", `\u{200b}`)
	}
	return shown
}

// reversedDiff is the diff that takes another one back, for a file of a name.
func reversedDiff(diff, name string) string {
	var b, minus strings.Builder // added lines follow removed ones
	flush := func() {
		b.WriteString(minus.String())
		minus.Reset()
	}
	last := ""
	for line := range strings.SplitSeq(strings.TrimSuffix(diff, "\n"), "\n") {
		switch {
		case b.Len() == 0 && strings.HasPrefix(line, "--- "):
			fmt.Fprintf(&b, "--- a/%[1]s\n+++ b/%[1]s\n", name)
		case strings.HasPrefix(line, "+++ ") && !strings.Contains(b.String(), "@@"):
		case strings.HasPrefix(line, "@@ -"):
			flush()
			fields := strings.Fields(line)
			fmt.Fprintf(&b, "@@ -%s +%s @@\n", fields[2][1:], fields[1][1:])
		case strings.HasPrefix(line, "-"):
			minus.WriteString("+" + line[1:] + "\n")
		case strings.HasPrefix(line, "+"):
			b.WriteString("-" + line[1:] + "\n")
		case strings.HasPrefix(line, "\\"):
			if strings.HasPrefix(last, "-") {
				minus.WriteString(line + "\n")
			} else {
				b.WriteString(line + "\n")
			}
		default:
			flush()
			b.WriteString(line + "\n")
		}
		last = line
	}
	flush()
	return b.String()
}

// inverse is the edit by line numbers that takes the change back, where the file
// has one ending and the end of the last line is not what changed.
func (e *fuzzed) inverse(after []byte) (map[string]any, bool) {
	lines, open, ok := e.form.decoded(after)
	if !ok || !e.form.told(after) || open != e.form.open || len(bytes.TrimPrefix(after, e.form.encoding.bom)) == 0 || slices.Equal(lines, e.lines) {
		return nil, false
	}
	head := 0
	for head < min(len(lines), len(e.lines)) && lines[head] == e.lines[head] {
		head++
	}
	tail := 0
	for tail < min(len(lines), len(e.lines))-head && lines[len(lines)-1-tail] == e.lines[len(e.lines)-1-tail] {
		tail++
	}
	if open && tail == 0 { // the lines at the end come or go with the end of the one before
		if head == 0 {
			return nil, false
		}
		head--
	}
	text := strings.Join(e.lines[head:len(e.lines)-tail], "\n")
	if head < len(e.lines)-tail && (tail > 0 || !open) {
		text += "\n"
	}
	return map[string]any{"start_line": head + 1, "end_line": len(lines) - tail, "new_text": text}, true
}
