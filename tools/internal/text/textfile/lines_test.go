package textfile_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/internal/tooltest"
)

// file returns text in an encoding, and its form.
func file(t *testing.T, name, text string, bom bool) ([]byte, textfile.Form) {
	t.Helper()
	enc, ok := textfile.Lookup(name)
	if !ok {
		t.Fatalf("no encoding %s", name)
	}
	var data []byte
	form := textfile.Form{Encoding: enc}
	for _, r := range "\ufeff" + text {
		if r == '\ufeff' && !bom {
			continue
		}
		switch name {
		case "utf-8":
			data = append(data, string(r)...)
		case "utf-16le":
			data = append(data, byte(r), byte(r>>8))
		case "utf-32be":
			data = append(data, byte(r>>24), byte(r>>16), byte(r>>8), byte(r))
		}
		if r == '\ufeff' {
			form.BOM = len(data)
		}
	}
	return data, form
}

func TestLines(t *testing.T) {
	tooltest.Unraced(t)
	texts := map[string]string{
		"empty":           "",
		"one":             "one",
		"one ended":       "one\n",
		"blank":           "\n",
		"blanks":          "\n\n\n",
		"two":             "one\ntwo",
		"LF in high byte": "\u0a00\u0a0a\n\u0a0a\u000a\u0a00x\n",
		"blocks":          strings.Repeat(strings.Repeat("x", 99)+"\n", 9000),
		"long":            "a\n" + strings.Repeat("long ", 200_000) + "\nz\n",
	}
	for name, text := range texts {
		for _, enc := range []string{"utf-8", "utf-16le", "utf-32be"} {
			for _, bom := range []bool{false, true} {
				data, form := file(t, enc, text, bom)
				t.Run(name+" "+enc, func(t *testing.T) {
					want := strings.SplitAfter(text, "\n")
					if want[len(want)-1] == "" {
						want = want[:len(want)-1]
					}
					checkLines(t, data, form, want)
				})
			}
		}
	}
}

func checkLines(t *testing.T, data []byte, form textfile.Form, want []string) {
	t.Helper()
	checkLinesOf(t, textfile.NewLines(bytes.NewReader(data), int64(len(data)), form), data, form, want)
	checkLinesOf(t, textfile.LinesOf(data, form), data, form, want)
}

func checkLinesOf(t *testing.T, l *textfile.Lines, data []byte, form textfile.Form, want []string) {
	t.Helper()
	starts := []int64{}
	var got []string
	for pos := l.Start().Pos; pos < int64(len(data)); {
		line, err := l.Line(t.Context(), pos, len(data))
		if err != nil {
			t.Fatal(err)
		}
		starts = append(starts, pos)
		text := string(form.Encoding.Decode(line.Raw))
		if line.Ended {
			text += "\n"
		}
		got = append(got, text)
		pos = line.Next
	}
	if diff := cmp.Diff(want, got); len(want) > 0 && diff != "" {
		t.Fatalf("lines (-want +got):\n%.500s", diff)
	}
	starts = append(starts, int64(len(data)))
	count := len(starts) - 1
	for _, n := range []int{0, 1, 2, count / 2, count - 1, count, count + 1, count + 100} {
		if n < 0 {
			continue
		}
		in := min(n, count)
		wantPos := starts[in]
		if count == 0 {
			wantPos = l.Start().Pos
		}
		for from := range 2 {
			from = min(from, n, max(count-1, 0)) // a line begins there
			at := l.Start()
			if from > 0 {
				at = textfile.Position{Line: int64(from), Pos: starts[from]}
			}
			l.Passed = func(p textfile.Position) {
				if starts[p.Line] != p.Pos {
					t.Errorf("skip %d from %d: passed line %d at %d, want %d", n, from, p.Line, p.Pos, starts[p.Line])
				}
			}
			if got, err := l.Skip(t.Context(), at, int64(n)); err != nil || got.Pos != wantPos || got.Line != int64(in) {
				t.Errorf("skip %d from %d: %+v, %v; want %d, %d", n, from, got, err, wantPos, in)
			}
		}
		wantPos = starts[count-in]
		if pos, found, err := l.Tail(t.Context(), int64(n)); err != nil || found != int64(in) || pos != wantPos && count > 0 {
			t.Errorf("tail %d: position %d, %d lines, %v; want %d, %d", n, pos, found, err, wantPos, in)
		}
	}
}

func TestLineKeep(t *testing.T) {
	text := strings.Repeat("0123456789", 60_000) + "\nnext\n"
	l := textfile.NewLines(strings.NewReader(text), int64(len(text)), textfile.Form{})
	for _, keep := range []int{0, 1, 300_000, 700_000} {
		line, err := l.Line(t.Context(), 0, keep)
		if err != nil {
			t.Fatal(err)
		}
		if want := text[:min(keep, 600_000)]; string(line.Raw) != want {
			t.Errorf("keep %d: kept %d bytes", keep, len(line.Raw))
		}
		if line.Len != 600_000 || line.Next != 600_001 || !line.Ended {
			t.Errorf("keep %d: %d bytes, next %d, ended %v", keep, line.Len, line.Next, line.Ended)
		}
	}
}

func TestLinesErrors(t *testing.T) {
	short := textfile.NewLines(strings.NewReader("one\ntwo\n"), 100, textfile.Form{})
	if _, err := short.Skip(t.Context(), short.Start(), 5); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("skip in a file that shrank: %v", err)
	}
	if _, _, err := short.Tail(t.Context(), 5); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("tail of a file that shrank: %v", err)
	}
	if _, err := short.Line(t.Context(), 0, 10); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("line of a file that shrank: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := textfile.NewLines(strings.NewReader("one\n"), 4, textfile.Form{})
	if _, err := l.Skip(ctx, l.Start(), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A sparse file of 10 GB has text at both ends only.
func TestLinesSparse(t *testing.T) {
	const size = 10 << 30
	name := filepath.Join(t.TempDir(), "big.log")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tail := "\nlast but one\nlast\n"
	if _, err := f.WriteString("first\nsecond\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(tail), size-int64(len(tail))); err != nil {
		t.Skip("needs: a file system with sparse files of 10 GB: " + err.Error())
	}
	l := textfile.NewLines(f, size, textfile.Form{})
	if at, err := l.Skip(t.Context(), l.Start(), 1); err != nil || at.Pos != 6 || at.Line != 1 {
		t.Errorf("skip: %+v, %v", at, err)
	}
	pos, found, err := l.Tail(t.Context(), 2)
	if err != nil || found != 2 || pos != size-int64(len(tail))+1 {
		t.Errorf("tail: %d, %d, %v", pos, found, err)
	}
	line, err := l.Line(t.Context(), pos, 100)
	if err != nil || string(line.Raw) != "last but one" {
		t.Errorf("line: %q, %v", line.Raw, err)
	}
}

func BenchmarkSkip(b *testing.B) {
	text := strings.Repeat("a line of plain text, as most are\n", 300_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		l := textfile.NewLines(strings.NewReader(text), int64(len(text)), textfile.Form{})
		if _, err := l.Skip(b.Context(), l.Start(), 299_999); err != nil {
			b.Fatal(err)
		}
	}
}
