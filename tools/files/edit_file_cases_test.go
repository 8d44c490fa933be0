package files_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"toolcrib/tools/files"
	"toolcrib/tools/internal/tooltest"

	"toolcrib/tools/files/internal/view"
)

// editCase is a file of testdata/edits: an edit of one file, which other editors can
// be given too. Its sections are
//
//	before     the bytes of the file, each line a Go string literal, "N * " before
//	           it for N such lines
//	call.json  the arguments of edit_file without the path
//	after      the bytes that the file is to have, or
//	error      how the edit is refused, the bytes being as before
//	result     how our tool answers, where that is told too
//
// In error and result "…" matches any text in a line, a line "..." any lines.
type editCase struct {
	before, after string
	args          map[string]any
	reply         string // "" = any
	refused       bool
}

func readEditCase(data []byte) (editCase, error) {
	var c editCase
	var err error
	for _, f := range txtar.Parse(data).Files {
		switch f.Name {
		case "before":
			c.before, err = unquoted(f.Data)
		case "after":
			c.after, err = unquoted(f.Data)
		case "call.json":
			err = json.Unmarshal(f.Data, &c.args)
		case "error":
			c.refused, c.after, c.reply = true, c.before, string(f.Data)
		case "result":
			c.reply = string(f.Data)
		default:
			err = fmt.Errorf("no section is called %q", f.Name)
		}
		if err != nil {
			return c, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return c, nil
}

// unquoted reads bytes that stand as string literals.
func unquoted(data []byte) (string, error) {
	var b strings.Builder
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		times := 1
		if n, literal, ok := strings.Cut(line, " * "); ok && n != "" && n[0] != '"' {
			var err error
			if times, err = strconv.Atoi(n); err != nil {
				return "", err
			}
			line = literal
		}
		text, err := strconv.Unquote(line)
		if err != nil {
			return "", fmt.Errorf("%s: %w", line, err)
		}
		b.WriteString(strings.Repeat(text, times))
	}
	return b.String(), nil
}

func TestEditCases(t *testing.T) {
	names, err := filepath.Glob("../../testdata/edits/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 60 {
		t.Fatalf("%d cases", len(names))
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			c, err := readEditCase(data)
			if err != nil {
				t.Fatal(err)
			}
			c.run(t)
		})
	}
}

func (c editCase) run(t *testing.T) {
	w := newWriter(t, files.Deps{Seen: view.NewSeen(1 << 20)}, "edit_file", map[string]string{"f": c.before})
	c.args["path"] = "f"
	dry := maps.Clone(c.args)
	dry["dry_run"] = true
	foretold := w.try(dry)
	if got := w.content("f"); got != c.before {
		t.Fatalf("a dry run changed the file to %.200q", got)
	}
	reply := w.try(c.args)
	if refused := strings.HasPrefix(reply, "error: "); refused != c.refused {
		t.Errorf("answers %.1000s", reply)
	}
	if c.reply != "" {
		if diff := tooltest.Match(c.reply, noUndo(reply)); diff != "" {
			t.Error(diff)
		}
	}
	if got := w.content("f"); got != c.after {
		t.Errorf("the file is %.300q, want %.300q", got, c.after)
	}
	_, dryDiff, _ := strings.Cut(foretold, "\n")
	_, diff, _ := strings.Cut(reply, "\n")
	if dryDiff != diff {
		t.Errorf("a dry run foretells\n%s\nthe real one says\n%s", dryDiff, diff)
	}
}
