package audit_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/server/audit"
)

// edit changes the lines of a file.
func edit(t *testing.T, file string, change func(lines [][]byte) [][]byte) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	if err := os.WriteFile(file, bytes.Join(change(lines[:len(lines)-1]), nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tamperings is what can be done to a log without its key; want is part of the
// problem that must be told. The files have the numbers from 2 to 6.
var tamperings = []struct {
	name string
	do   func(t *testing.T, files []string)
	want string
	// live reports whether a process that goes on must notice it, too.
	live bool
}{
	{name: "a value is changed", want: "00000003.jsonl:3: record", do: func(t *testing.T, files []string) {
		edit(t, files[1], func(l [][]byte) [][]byte {
			l[2] = bytes.Replace(l[2], []byte(`"it"`), []byte(`"at"`), 1)
			return l
		})
	}},
	{name: "a hash is changed", want: "was changed", do: func(t *testing.T, files []string) {
		edit(t, files[1], func(l [][]byte) [][]byte {
			i := len(l[2]) - 10
			l[2][i] = map[bool]byte{true: '1', false: '0'}[l[2][i] == '0']
			return l
		})
	}},
	{name: "the case of a hash is changed", want: "was changed", do: func(t *testing.T, files []string) {
		edit(t, files[1], func(l [][]byte) [][]byte {
			head, hash := l[2][:len(l[2])-30], l[2][len(l[2])-30:]
			l[2] = append(head, bytes.ToUpper(hash)...)
			return l
		})
	}},
	{name: "a record is dropped", want: "are missing before this one", do: func(t *testing.T, files []string) {
		edit(t, files[1], func(l [][]byte) [][]byte { return append(l[:3:3], l[4:]...) })
	}},
	{name: "a record is doubled", want: "was inserted once more", do: func(t *testing.T, files []string) {
		edit(t, files[1], func(l [][]byte) [][]byte { return append(l[:4:4], l[3:]...) })
	}},
	{name: "two records are swapped", want: "reordered", do: func(t *testing.T, files []string) {
		edit(t, files[1], func(l [][]byte) [][]byte { l[3], l[4] = l[4], l[3]; return l })
	}},
	{name: "a line is inserted", want: "00000003.jsonl:4: a line was inserted", do: func(t *testing.T, files []string) {
		edit(t, files[1], func(l [][]byte) [][]byte { return append(l[:3:3], append([][]byte{[]byte("{}\n")}, l[3:]...)...) })
	}},
	{name: "the first record is dropped", want: "does not begin with its first record", do: func(t *testing.T, files []string) {
		edit(t, files[1], func(l [][]byte) [][]byte { return l[1:] })
	}},
	{name: "the closing record is dropped", want: "are missing", do: func(t *testing.T, files []string) {
		edit(t, files[1], func(l [][]byte) [][]byte { return l[:len(l)-1] })
	}},
	{name: "a file is removed", want: "before this file are missing", do: func(t *testing.T, files []string) { remove(t, files[1]) }},
	{name: "the oldest file is removed", want: "00000002.jsonl: the file was removed", do: func(t *testing.T, files []string) { remove(t, files[0]) }},
	{name: "two files are exchanged", want: "exchanged or copied", do: func(t *testing.T, files []string) {
		rename(t, files[1], files[1]+".x")
		rename(t, files[2], files[1])
		rename(t, files[1]+".x", files[2])
	}},
	{name: "a file is copied", want: "exchanged or copied", live: true, do: func(t *testing.T, files []string) {
		data, err := os.ReadFile(files[1])
		if err == nil {
			err = os.WriteFile(filepath.Join(filepath.Dir(files[1]), "audit-00000099.jsonl"), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}},
	{name: "a file is emptied", want: "the file was emptied", do: func(t *testing.T, files []string) {
		edit(t, files[1], func([][]byte) [][]byte { return nil })
	}},
	{name: "the last record is cut", want: "missing at the end", live: true, do: func(t *testing.T, files []string) {
		edit(t, files[4], func(l [][]byte) [][]byte { return l[:len(l)-1] })
	}},
	{name: "the last record is torn", want: "was changed", live: true, do: func(t *testing.T, files []string) {
		edit(t, files[4], func(l [][]byte) [][]byte { l[len(l)-1] = l[len(l)-1][:20]; return l })
	}},
	{name: "the last file is removed", want: "missing at the end", live: true, do: func(t *testing.T, files []string) { remove(t, files[4]) }},
	{name: "the directory is removed", want: "all files were removed", live: true, do: func(t *testing.T, files []string) {
		remove(t, filepath.Dir(files[0]))
	}},
	{name: "something is appended", want: "was changed", live: true, do: func(t *testing.T, files []string) {
		edit(t, files[4], func(l [][]byte) [][]byte { return append(l, []byte("{\"seq\":1}\n")) })
	}},
}

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.RemoveAll(name); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// longLog writes a log whose first files are gone by rotation.
func longLog(t *testing.T) logDirs {
	t.Helper()
	p := newLogDirs(t)
	p.write(t, 82, five)
	if files := p.files(t); len(files) != 5 || filepath.Base(files[0]) != "audit-00000002.jsonl" {
		t.Fatalf("the log has the files %q", files)
	}
	p.clean(t)
	return p
}

func five(o *audit.Options) { o.MaxFiles = 5 }

func TestVerifyFinds(t *testing.T) {
	for _, tt := range tamperings {
		t.Run(tt.name, func(t *testing.T) {
			p := longLog(t)
			tt.do(t, p.files(t))
			told := p.told(t)
			if !strings.Contains(told, tt.want) {
				t.Errorf("got %q, want %q", told, tt.want)
			}
			p.write(t, 2, roomy) // the next start
			again := p.verify(t)
			if len(again.Problems) == 0 {
				t.Error("after the next start nothing is told any more")
			}
			found := strings.Contains(p.told(t), "found at ")
			if tt.live && tt.name != "a file is copied" && !found {
				t.Errorf("the next start has not noticed: %q", p.told(t))
			}
		})
	}
}

// told returns all problems, a line each.
func (p logDirs) told(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, found := range p.verify(t).Problems {
		b.WriteString(found.String() + "\n")
	}
	return b.String()
}

// A log that was removed with its head is told to be gone, also once another has begun
// in its place; so is one whose head was emptied.
func TestVerifyFindsNothingLeft(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(head string) error
	}{
		{"the head is removed", os.Remove},
		{"the head is emptied", func(head string) error { return os.Truncate(head, 0) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := longLog(t)
			heads, err := filepath.Glob(filepath.Join(p.st.Path(), "audit_heads.d", "*"))
			if err != nil || len(heads) != 1 {
				t.Fatalf("heads %q, %v", heads, err)
			}
			if err := errors.Join(tt.do(heads[0]), os.RemoveAll(p.dir)); err != nil {
				t.Fatal(err)
			}
			const want = "the log that was begun here at 20"
			if told := p.told(t); !strings.Contains(told, want) || !strings.Contains(told, "was removed, and its head") {
				t.Errorf("got %q", told)
			}
			var log bytes.Buffer
			p.write(t, 2, func(o *audit.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
			if !strings.Contains(log.String(), want) {
				t.Errorf("the next start says %q", &log)
			}
			p.write(t, 2)
			if told := p.told(t); !strings.Contains(told, want) {
				t.Errorf("after another log has begun: %q", told)
			}
		})
	}
}

// A process that goes on to write notices what is done to its file meanwhile.
func TestTamperedWhileOpen(t *testing.T) {
	for _, tt := range tamperings {
		if !tt.live {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			p := longLog(t)
			l := p.open(t, roomy)
			tt.do(t, p.files(t))
			if err := l.Append(record(1), audit.Now); err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if told := p.told(t); told == "" {
				t.Error("nothing is told")
			}
		})
	}
}

// TestCrash leaves what a killed process leaves.
func TestCrash(t *testing.T) {
	for _, tt := range []struct {
		name    string
		rotates bool   // it was killed while it began a new file, and its head is that of before
		end     string // the text after the last record, or in the new file
		quiet   bool   // Verify has nothing to tell before the next start either
		note    string
	}{
		{name: "torn line", end: `{"seq":99,"ti`, quiet: true, note: "13 bytes of a torn record"},
		{name: "zeros", end: strings.Repeat("\x00", 100), quiet: true, note: "100 bytes"},
		{name: "zeros and lines", end: strings.Repeat("\x00", 100) + "\n\x00\n", note: "103 bytes"},
		{name: "the next file is empty", rotates: true},
		{name: "the next file is torn", rotates: true, end: `{"seq":9`, note: "8 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := longLog(t)
			if tt.rotates {
				p.rotate(t)
			}
			files := p.files(t)
			edit(t, files[len(files)-1], func(l [][]byte) [][]byte {
				if tt.rotates {
					l = nil
				}
				return append(l, []byte(tt.end))
			})
			if told := p.told(t); told != "" && tt.quiet {
				t.Errorf("before the next start: %s", told)
			}
			p.write(t, 3, five)
			r := p.clean(t)
			if got := p.numbers(t); got[len(got)-1] != 2 {
				t.Errorf("got %v", got)
			}
			if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, tt.note) {
				t.Errorf("notes: %q, want %q", notes, tt.note)
			}
			for range 30 { // it rotates on as ever
				p.write(t, 3, five)
			}
			p.clean(t)
		})
	}
}

// rotate writes until there is a new file and puts the head back to what it was.
func (p logDirs) rotate(t *testing.T) {
	t.Helper()
	heads, err := filepath.Glob(filepath.Join(p.st.Path(), "audit_heads.d", "*"))
	if err != nil || len(heads) != 1 {
		t.Fatalf("heads: %q, %v", heads, err)
	}
	before := len(p.files(t))
	for len(p.files(t)) == before {
		head, err := os.ReadFile(heads[0])
		if err != nil {
			t.Fatal(err)
		}
		if p.write(t, 1, roomy); len(p.files(t)) > before {
			if err := os.WriteFile(heads[0], head, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A file whose removal is on record and that a killed process has left is no problem,
// and goes.
func TestLeftOver(t *testing.T) {
	p := longLog(t)
	old := filepath.Join(p.dir, "audit-00000001.jsonl")
	if err := os.WriteFile(old, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.clean(t)
	p.write(t, 30, five)
	p.clean(t)
	if _, err := os.Stat(old); err == nil {
		t.Error("it is still there")
	}
}
