package edits

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// Roundtrip edits one line of real files of every encoding and line ending and
// compares each byte that the edit did not name.
func Roundtrip(ctx context.Context, env harness.Environment) error {
	base, dir, err := env.Scratch("roundtrip")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	found, err := collectTexts(ctx)
	if err != nil {
		return err
	}
	files := chooseTexts(found, env.Of(500, 170))
	server, err := harness.UseTools(ctx, env.Writer(dir, "--durable=false"))
	if err != nil {
		return err
	}
	rows := map[string]*roundtripRow{}
	var wrong []string
	for i, f := range files {
		row := rows[f.encoding.name]
		if row == nil {
			row = &roundtripRow{}
			rows[f.encoding.name] = row
		}
		why, err := f.roundtrip(server, dir, i)
		if err != nil {
			return err
		}
		if row.count(f); why != "" {
			row.wrong++
			wrong = append(wrong, fmt.Sprintf("%s (%s, %s): %s", f.from, f.encoding.name, f.ending, why))
		}
	}
	fmt.Println("| round trip | files, of these converted | LF, CRLF, CR, mixed | no final newline | encoding named | bytes outside the line differ, or refused |\n|---|---|---|---|---|---|")
	all := &roundtripRow{}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		rows[name].print(name)
		all.add(rows[name])
	}
	all.print("all")
	for _, w := range wrong[:min(len(wrong), 30)] {
		fmt.Println("  " + w)
	}
	var failed error
	switch {
	case len(wrong) > 0:
		failed = fmt.Errorf("%d of %d files", len(wrong), len(files))
	case len(files) < env.Of(500, 170) || len(rows) < len(textEncodings()):
		failed = fmt.Errorf("%d files in %d encodings, want %d in %d", len(files), len(rows), env.Of(500, 170), len(textEncodings()))
	}
	return errors.Join(failed, server.Close())
}

// roundtripRow counts the files of one encoding.
type roundtripRow struct {
	files, converted, open, named, wrong int
	endings                              [4]int
}

var textEndings = []string{"LF", "CRLF", "CR", "mixed"}

func (r *roundtripRow) count(f realText) {
	r.files++
	if f.converted {
		r.converted++
	}
	if f.open {
		r.open++
	}
	if f.encoding.guessed {
		r.named++
	}
	r.endings[slices.Index(textEndings, f.ending)]++
}

func (r *roundtripRow) add(other *roundtripRow) {
	r.files += other.files
	r.converted += other.converted
	r.open += other.open
	r.named += other.named
	r.wrong += other.wrong
	for i, n := range other.endings {
		r.endings[i] += n
	}
}

func (r *roundtripRow) print(name string) {
	e := r.endings
	fmt.Printf("| %s | %d, %d | %d, %d, %d, %d | %d | %d | %d |\n", name, r.files, r.converted, e[0], e[1], e[2], e[3], r.open, r.named, r.wrong)
}

// roundtrip edits the line of a file and says what is wrong then.
func (f realText) roundtrip(server *harness.ToolUser, dir string, number int) (why string, err error) {
	path := filepath.Join(dir, fmt.Sprint(number))
	if err := os.WriteFile(path, f.data, 0o644); err != nil {
		return "", err
	}
	want := f.line[:len(f.line)/2]
	for len(want) > 0 && want[len(want)-1] >= 0x80 { // between characters, and no letter torn from its accent
		want = want[:len(want)-1]
	}
	want += "edited " + f.line[len(want):]
	args := map[string]any{"path": path, "edits": []map[string]any{{"old_text": f.line, "new_text": want}}}
	if f.encoding.guessed {
		args["encoding"] = f.encoding.name
	}
	answer, err := server.Use("edit_file", args)
	if err != nil {
		return "", fmt.Errorf("%s: %w", f.from, err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if answer.Failed {
		if !bytes.Equal(got, f.data) {
			return "refused, and yet changed", nil
		}
		return "refused: " + harness.Brief(answer.Text), nil
	}
	line, err := f.encoding.encode(want)
	if err != nil {
		return "", fmt.Errorf("%s: %w", f.from, err)
	}
	expected := slices.Concat(f.data[:f.start], line, f.data[f.end:])
	if !bytes.Equal(got, expected) {
		n := 0
		for n < min(len(got), len(expected)) && got[n] == expected[n] {
			n++
		}
		return fmt.Sprintf("byte %d of %d, want %d: %.40q, want %.40q", n, len(got), len(expected), got[n:], expected[n:]), nil
	}
	return "", os.Remove(path)
}

// withEnding returns a text with the line endings of a kind, each mixed one in turn.
func withEnding(text, ending string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteString(map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r", "mixed": []string{"\n", "\r\n", "\n"}[i%3]}[ending])
		}
		b.WriteString(line)
	}
	return b.String()
}
