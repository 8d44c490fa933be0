package textedit_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"toolcrib/tools/internal/text/diff"
	"toolcrib/tools/internal/text/textedit"
	"toolcrib/tools/internal/text/textfile"
)

// seeds are files with what is hard about them.
func seeds() []string {
	return []string{
		"", "a", "a\n", "a\r\nb\r\nc", "a\nb\r\n\nc\rd\n", "\ufeffa\n\tb\n    c\n", "a\xff\xe9b\n\u202e\n", "x\nx\nx\ny\nx\n",
		"func f() {\n\treturn \"a\u00a0b\"\n}\n\nfunc g() {\n\treturn 'c'\n}\n", "cafe\u0301 “a” — …\n", "\r\r\n\n\r",
	}
}

// cut returns a part of a text and what is around it.
func cut(s string, from, to uint16) (before, part, after string) {
	i, j := int(from)%(len(s)+1), int(to)%(len(s)+1)
	i, j = min(i, j), max(i, j)
	return s[:i], s[i:j], s[j:]
}

// Any edit of any bytes ends with a result or a bounded *Mismatch.
func FuzzEdit(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s), "a", "b", "x", "y\n", 1, 1, uint8(0))
		f.Add([]byte(s), "1\tb\n2\tc", `\u{202e}`, "\n", "", 2, 1, uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, old1, new1, old2, new2 string, start, end int, mode uint8) {
		form := textfile.Sniff(data, true)
		before := bytes.Clone(data)
		text, err := textedit.Parse(data, form)
		if err != nil {
			return
		}
		edits := []textedit.Edit{
			{Old: old1, New: new1, All: mode&1 > 0, Count: int(mode >> 6)},
			{Old: old2, New: new2, StartLine: start},
			{New: new1, StartLine: start, EndLine: end},
		}
		for _, edits := range [][]textedit.Edit{edits, edits[:1], edits[1:2], edits[2:]} {
			result, err := text.Apply(edits)
			if err == nil {
				checkHunks(t, string(data[form.BOM:]), textedit.Result{Data: result.Data[form.BOM:], Hunks: hunksOf(form, result)})
				continue
			}
			m, ok := errors.AsType[*textedit.Mismatch](err)
			if !ok || m.Msg == "" || len(m.Msg) > 2000 || len(m.Detail) > 5000 || !utf8.ValidString(m.Msg) || !utf8.ValidString(m.Detail) || strings.Contains(m.Msg, "\n") {
				t.Fatalf("error %#v", err)
			}
			if result.Data != nil || !bytes.Equal(data, before) {
				t.Fatal("a failed edit left something")
			}
		}
	})
}

// hunksOf leaves hunks out where the lines cannot be counted byte by byte.
func hunksOf(form textfile.Form, result textedit.Result) []textedit.Hunk {
	if form.Encoding.Unit() > 1 {
		n := bytes.Count(result.Data, []byte{'\n'}) + 1
		return []textedit.Hunk{{OldLine: 1, OldLines: 1 << 30, NewLine: 1, NewLines: n + 1<<30}}
	}
	return result.Hunks
}

// The inverse of an edit restores the bytes of a file whose lines end in one way.
func FuzzInverse(f *testing.F) {
	for i, s := range seeds() {
		f.Add(s, uint16(i), uint16(3*i), "new\ntext", i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, content string, from, to uint16, text string, dos bool) {
		content, text = strings.ReplaceAll(content, "\r", ""), strings.ReplaceAll(text, "\r", "")
		if dos {
			content = strings.ReplaceAll(content, "\n", "\r\n")
		}
		before, _, after := cut(content, from, to)
		target := before + text + after
		if dos {
			target = strings.ReplaceAll(strings.ReplaceAll(target, "\r\n", "\n"), "\n", "\r\n")
		}
		if strings.Contains(strings.ReplaceAll(target, "\r\n", ""), "\r") || target == content {
			return
		}
		there := whole(t, content, target)
		if there != target {
			t.Fatalf("%q to %q gives %q", content, target, there)
		}
		if back := whole(t, there, content); back != content {
			t.Fatalf("%q to %q and back gives %q", content, target, back)
		}
	})
}

// whole replaces all of a text by another.
func whole(t *testing.T, before, after string) string {
	t.Helper()
	text, err := textedit.Parse([]byte(before), textfile.Form{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := text.Apply([]textedit.Edit{{Old: before, New: after}})
	if err != nil {
		t.Fatalf("%q to %q: %v", before, after, err)
	}
	return string(result.Data)
}

// A unique exact edit of mixed line endings and bad bytes changes the text as a
// replacement in it would, and no byte of other lines.
func FuzzOutside(f *testing.F) {
	for i, s := range seeds() {
		f.Add(s, uint16(i), uint16(4*i), "x\ny")
	}
	f.Add("\ufeff\na\ufeff\n", uint16(0), uint16(5), "\n") // the second mark begins a line now
	f.Fuzz(func(t *testing.T, content string, from, to uint16, replacement string) {
		before, part, after := cut(content, from, to)
		plain := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
		if part == "" || strings.HasSuffix(before, "\r") || strings.HasPrefix(after, "\n") && strings.HasSuffix(part+replacement, "\r") ||
			strings.HasSuffix(part, "\r") || strings.HasSuffix(replacement, "\r") || strings.Contains(plain(replacement), "\r\n") || plain(part) == plain(replacement) {
			return // what a CR belongs to is not told by its bytes, or nothing changes
		}
		text, err := textedit.Parse([]byte(content), textfile.Form{})
		if err != nil {
			t.Fatal(err)
		}
		result, err := text.Apply([]textedit.Edit{{Old: part, New: replacement}})
		if err != nil {
			if strings.Count(plain(content), plain(part)) == 1 && !strings.Contains(plain(part)[1:]+plain(part), plain(part)) {
				t.Fatalf("%q in %q: %v", part, content, err)
			}
			return
		}
		if len(result.Notes) == 0 && plain(string(result.Data)) != plain(before)+plain(replacement)+plain(after) {
			t.Fatalf("%q to %q in %q gives %q", part, replacement, content, result.Data)
		}
		checkHunks(t, content, result)
	})
}

// Every encoding writes back what it read, and changes only the line it is asked to.
func FuzzEncodings(f *testing.F) {
	names := textfile.Names()
	for i := range names {
		f.Add([]byte("a\x83\x5c\xd6\xd0b\nneedle \xe9\x00\n\x1b$BF|\n"), uint8(i), "é日я")
		f.Add([]byte("\x00\xd8\x00n\x00e\x00\n\x00needle\n\n\x00\x00\x00"), uint8(i), "x")
	}
	f.Add([]byte("\f\f\f\f\f\x02d\x13"), uint8(30), "\f\f\f\f\f\x02d") // is indented already
	f.Fuzz(func(t *testing.T, data []byte, which uint8, replacement string) {
		enc := lookup(t, names[int(which)%len(names)])
		needle, err := enc.Encode("needle")
		if err != nil || strings.ContainsAny(replacement, "\r\n") || replacement == "needle" {
			return
		}
		at := len(data) / 2 / 4 * 4
		data = append(append(bytes.Clone(data[:at]), needle...), data[at:]...)
		text, err := textedit.Parse(data, textfile.Form{Encoding: enc})
		if err != nil {
			t.Fatal(err)
		}
		result, err := text.Apply([]textedit.Edit{{Old: "needle", New: replacement}})
		if err != nil {
			return
		}
		before, after := storedLines(enc, data), storedLines(enc, result.Data)
		if len(result.Data) == 0 && len(before) == 1 {
			return // the only line is gone
		}
		if len(before) != len(after) || len(result.Hunks) != 1 {
			t.Fatalf("%s: %q became %q, hunks %v", enc.Name(), data, result.Data, result.Hunks)
		}
		for i := range before {
			if i != result.Hunks[0].OldLine-1 {
				if !bytes.Equal(before[i], after[i]) {
					t.Fatalf("%s: line %d was %q and is %q", enc.Name(), i+1, before[i], after[i])
				}
				continue
			}
			was, is := string(enc.Decode(before[i])), string(enc.Decode(after[i]))
			asGiven := strings.Replace(was, "needle", replacement, 1) == is
			mended := len(result.Notes) > 0 && onceIndented(was, replacement) == is
			if !asGiven && !mended {
				t.Fatalf("%s: line %d was %q and is %q", enc.Name(), i+1, was, is)
			}
		}
	})
}

// onceIndented replaces needle in a line by a text that has the indentation of the line
// already; the result has it but once.
func onceIndented(line, replacement string) string {
	indent, _, _ := strings.Cut(line, "needle")
	if strings.TrimSpace(indent) != "" {
		return line
	}
	return strings.Replace(line, "needle", strings.TrimPrefix(replacement, indent), 1)
}

func storedLines(enc textfile.Encoding, data []byte) [][]byte {
	var all [][]byte
	for len(data) > 0 {
		n := enc.IndexLF(data)
		if n < 0 {
			return append(all, data)
		}
		all = append(all, data[:n])
		data = data[n+enc.Unit():]
	}
	return all
}

// The chunks of a diff between two texts, with context and line numbers, lead from
// one to the other.
func FuzzPatch(f *testing.F) {
	for i, s := range seeds() {
		f.Add(s, seeds()[(i+1)%len(seeds())], uint8(i%4))
	}
	f.Fuzz(func(t *testing.T, a, b string, context uint8) {
		if a == b || strings.Contains(a+b, "\r") {
			return
		}
		text, err := textedit.Parse([]byte(a), textfile.Form{})
		if err != nil {
			t.Fatal(err)
		}
		result, err := text.Patch(diffChunks(a, b, int(context%4)))
		if err != nil {
			t.Fatalf("%q to %q: %v", a, b, err)
		}
		if string(result.Data) != b {
			t.Fatalf("%q to %q gives %q", a, b, result.Data)
		}
		checkHunks(t, a, result)
	})
}

func diffChunks(a, b string, context int) []textedit.Chunk {
	before, after := splitLines(a), splitLines(b)
	changes := diff.Lines(before, after)
	var all []textedit.Chunk
	add := func(c *textedit.Chunk, op byte, line string) {
		c.Lines = append(c.Lines, textedit.ChunkLine{Op: op, Text: strings.TrimSuffix(line, "\n")})
	}
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].A0-changes[n-1].A1 <= 2*context {
			n++
		}
		at := max(changes[0].A0-context, 0)
		c := textedit.Chunk{Line: at + 1}
		for _, change := range changes[:n] {
			for ; at < change.A0; at++ {
				add(&c, ' ', before[at])
			}
			for ; at < change.A1; at++ {
				add(&c, '-', before[at])
			}
			for _, line := range after[change.B0:change.B1] {
				add(&c, '+', line)
			}
		}
		for end := min(at+context, len(before)); at < end; at++ {
			add(&c, ' ', before[at])
		}
		if changes[n-1].A1+context >= len(before) {
			unended := b != "" && !strings.HasSuffix(b, "\n")
			c.NoFinalNewline = &unended
		}
		all = append(all, c)
		changes = changes[n:]
	}
	return all
}

// looser writes text as a model may who does not see tabs, trailing whitespace and
// typography.
var looser = strings.NewReplacer("\t", "    ", "\u00a0", " ", "\u2003", " ", "“", `"`, "”", `"`, "’", "'", "–", "-", "…", "...", "e\u0301", "é", " \n", "\n")

// A tolerant match changes what the edit changes and nothing else.
func FuzzTolerant(f *testing.F) {
	for i, s := range seeds() {
		f.Add(s, uint8(i), uint8(2))
	}
	f.Add("\tif “a” {\n\t\tb\u00a0…  \n\t}\nend\n", uint8(0), uint8(3))
	f.Fuzz(func(t *testing.T, content string, from, n uint8) {
		if strings.Contains(content, "\r") || !utf8.ValidString(content) {
			return
		}
		all := splitLines(content)
		i := min(int(from), len(all))
		j := min(i+int(n), len(all))
		if i == j || !strings.HasSuffix(all[j-1], "\n") {
			return
		}
		given := looser.Replace(strings.Join(all[i:j], ""))
		text, err := textedit.Parse([]byte(content), textfile.Form{})
		if err != nil {
			t.Fatal(err)
		}
		result, err := text.Apply([]textedit.Edit{{Old: given, New: strings.TrimSuffix(given, "\n") + "Z\n"}})
		if err != nil || len(result.Notes) == 0 {
			return
		}
		checkHunks(t, content, result)
		changed := splitLines(string(result.Data))
		if len(changed) != len(all) || len(result.Hunks) != 1 || result.Hunks[0].OldLines != 1 {
			t.Fatalf("%q in %q gives %q, hunks %v", given, content, result.Data, result.Hunks)
		}
		at := result.Hunks[0].OldLine - 1
		want := strings.TrimRight(looser.Replace(all[at]), " \n") + "Z"
		if got := strings.TrimRight(looser.Replace(changed[at]), " \n"); strings.Join(strings.Fields(got), "") != strings.Join(strings.Fields(want), "") {
			t.Fatalf("line %d was %q and is %q, want %q", at+1, all[at], changed[at], want)
		}
	})
}
