package textedit_test

import (
	"strings"
	"testing"
	"time"

	"toolcrib/tools/internal/text/textedit"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/internal/tooltest"
)

func benchmark(b *testing.B, content string, edits []textedit.Edit, fails bool) {
	b.Helper()
	data := []byte(content)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		text, err := textedit.Parse(data, textfile.Form{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := text.Apply(edits); (err != nil) != fails {
			b.Fatal(err)
		}
	}
}

// code is n lines that look like a program.
func code(n int) string {
	var b strings.Builder
	for i := range n / 5 {
		b.WriteString("func name" + digits(i) + "(a, b int) (int, error) {\n\tif a == " + digits(i) + " {\n\t\treturn a + b, nil\n\t}\n}\n")
	}
	return b.String()
}

func digits(i int) string {
	return string([]byte{byte('0' + i/1000%10), byte('0' + i/100%10), byte('0' + i/10%10), byte('0' + i%10)})
}

func BenchmarkOneLine(b *testing.B) {
	benchmark(b, code(10_000), edit("name1000(a, b int)", "name1000(a int)"), false)
}

func BenchmarkOneLineCRLF(b *testing.B) {
	benchmark(b, strings.ReplaceAll(code(10_000), "\n", "\r\n"), edit("name1000(a, b int)", "name1000(a int)"), false)
}

func BenchmarkTolerant(b *testing.B) {
	benchmark(b, code(10_000), edit("    if a == 1000 {\n        return a + b, nil\n", "    if a == 1000 {\n        return a - b, nil\n"), false)
}

func BenchmarkEveryLine(b *testing.B) { benchmark(b, code(10_000), all("a", "x"), false) }

func BenchmarkNotFound(b *testing.B) {
	benchmark(b, code(10_000), edit("func name1000(a, b int) (int, error) {\n\tif a == 99 {\n\t\treturn a * b, nil\n\t}\n\treturn 0, nil\n}\n", "x"), true)
}

func BenchmarkNotFoundUnicode(b *testing.B) {
	benchmark(b, strings.ReplaceAll(code(10_000), "a", "ä"), edit("func nöme1000(a, b int) (int, error) {\n\tif a == 99 {\n", "x"), true)
}

// A diagnosis takes bounded time for any file and old text.
func TestDiagnosisTime(t *testing.T) {
	tooltest.Unraced(t)
	const most = time.Minute // far above what it takes beside other work, so that only a blow-up fails
	for _, c := range []struct{ name, in, old string }{
		{"ten thousand lines", code(10_000), "func nothing() {\n\treturn 77\n}\n"},
		{"a long line", strings.Repeat("abc def ", 1<<18), "abc dex ghi"},
		{"many equal lines", strings.Repeat("\n", 1<<20), "\n\n\nx\n"},
		{"a long old text", code(10_000), strings.Replace(code(9_000), "name1000", "other", 1)},
		{"blank old text", code(1000), "\n\n\n\n"},
		{"equal lines to match", strings.Repeat("a\n", 1<<18), strings.Repeat(" a\n", 1<<10) + "b\n"},
		{"many marks", "e" + strings.Repeat("\u0301", 1<<19), "éé"},
	} {
		start := time.Now()
		if _, err := parse(t, c.in).Apply(edit(c.old, "y")); err == nil {
			t.Errorf("%s: it matches", c.name)
		}
		took := time.Since(start)
		t.Logf("%s: %v", c.name, took)
		if took > most {
			t.Errorf("%s: took %v", c.name, took)
		}
	}
}
