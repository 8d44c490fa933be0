package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
)

func TestReadFiles(t *testing.T) {
	tree := map[string]string{
		"a.go": "package a\n", "a_test.go": "package a\n\nvar x = 1\n", "sub/b.go": "package b\n", "sub/deep/c.go": "package c\n",
		".hidden.go": "package h\n", ".gitignore": "out/\n", ".git/HEAD": "x\n", "out/o.go": "package o\n",
		"app/[id]/page.tsx": "page\n", "bin": "\x00\x01", "pic.png": encoded(t, "png", quarters(8, 8)), "empty": "",
		"book.ipynb": book(t, code("1+1")), "link": "-> a.go", "away": "-> ../../outside", "odd\nname": "x\n",
	}
	r := newCaller(t, "read_files", tree)
	for _, c := range []struct {
		name  string
		paths []string
		want  string
	}{
		{"one", []string{"a.go"}, "1 file\na.go: line 1 of 1; utf-8, LF, 10 B, hash …\n1\tpackage a"},
		{"order", []string{"sub/b.go", "a.go"}, "2 files\nsub/b.go: line 1 of 1; …\n1\tpackage b\n\na.go: …\n1\tpackage a"},
		{"once", []string{"a.go", "./a.go", filepath.Join(r.dir, "a.go"), "a*.go"}, "2 files\na.go: …\n1\tpackage a\n\na_test.go: lines 1-3 of 3; …\n1\tpackage a\n2\t\n3\tvar x = 1"},
		{"any depth", []string{"c.go"}, "1 file, 1 not read\nc.go: not_found: …"},
		{"glob at any depth", []string{"[c].go"}, "1 file\nsub/deep/c.go: …\n1\tpackage c"},
		{"glob in a directory", []string{"sub/*.go"}, "1 file\nsub/b.go: …\n1\tpackage b"},
		{"absolute glob", []string{filepath.Join(r.dir, "sub/**/*.go")}, "2 files\nsub/b.go: …\n1\tpackage b\n\nsub/deep/c.go: …\n1\tpackage c"},
		{"hidden and ignored", []string{"**/*.go", ".h*"}, "5 files\na.go: …\n...\n.hidden.go: …\n1\tpackage h"},
		{"a name that looks like a glob", []string{"app/[id]/page.tsx"}, "1 file\napp/[id]/page.tsx: …\n1\tpage"},
		{"nothing", []string{"*.rs"}, "1 file, 1 not read\n*.rs: not_found: no file matches; left out: … hidden, 1 ignored (glob finds files; …)"},
		{"bad glob", []string{"[a", "a.go"}, "2 files, 1 not read\n[a: invalid_argument: …\n\na.go: …\n1\tpackage a"},
		{"upwards", []string{"../*"}, "1 file, 1 not read\n../*: invalid_argument: pattern: … leads upwards …"},
		{"outside", []string{"../secret", "away", "a.go"}, "3 files, 2 not read\n../secret: denied: …\n\naway: denied: …\n\na.go: …\n1\tpackage a"},
		{"directory", []string{"sub"}, "1 file, 1 not read\nsub: invalid_argument: … (list_directory lists it)"},
		{"kinds", []string{"bin", "empty", "book.ipynb", "link"}, "4 files\nbin: binary, not shown; application/octet-stream, 2 B, hash …; next: read_file byte_offset=0 for a hex dump, or file_info\n\n" +
			"empty: empty file; hash …\n\nbook.ipynb: notebook, …\n--- cell 1, code, run 7 ---\n1+1\n\nlink: line 1 of 1; …\n1\tpackage a"},
		{"image", []string{"pic.png"}, "1 file\npic.png: image/png, … B, hash …; read_file shows it"},
		{"name that breaks a line", []string{"odd\nname"}, "1 file\n\"odd\\u000aname\": line 1 of 1; …\n1\tx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := tooltest.Match(c.want, r.try(map[string]any{"paths": c.paths})); diff != "" {
				t.Error(diff)
			}
		})
	}
	if diff := tooltest.Match("2 files\na.go: …\npackage a\n\nempty: …", r.call(map[string]any{"paths": []string{"a.go", "empty"}, "line_numbers": false})); diff != "" {
		t.Error(diff)
	}
	if diff := tooltest.Match("offset=2 is past the end: 2 files; the last is offset=1", r.call(map[string]any{"paths": []string{"a.go", "empty"}, "offset": 2})); diff != "" {
		t.Error(diff)
	}
}

// Small files are whole, the large ones have equal shares and the most of the room.
func TestReadFilesShares(t *testing.T) {
	tree := map[string]string{}
	var paths []string
	for i := range 30 {
		name := fmt.Sprintf("%02d.txt", i)
		lines := 5
		if i%10 == 4 {
			lines = 5000 * (1 + i)
		}
		tree[name] = strings.Repeat("a line of text\n", lines)
		paths = append(paths, name)
	}
	r := newCaller(t, "read_files", tree)
	text := r.call(map[string]any{"paths": paths})
	if len(text) < tools.MaxText*9/10 {
		t.Errorf("%d bytes of %d are used", len(text), tools.MaxText)
	}
	lines := regexp.MustCompile(`(?m)^(\d\d)\.txt: lines 1-(\d+) of (\d+);.*?(; next: read_file offset=\d+)?$`)
	found := lines.FindAllStringSubmatch(text, -1)
	if len(found) != 30 {
		t.Fatalf("%d files", len(found))
	}
	share := 0
	for _, m := range found {
		shown, total := number(t, m[2]), number(t, m[3])
		switch cut := m[4] != ""; {
		case cut != (shown < total), cut != (number(t, m[1])%10 == 4):
			t.Error(m[0])
		case cut && share == 0:
			share = shown
		case cut && (shown < share-5 || shown > share+5):
			t.Errorf("shares of %d and %d lines", share, shown)
		}
	}
	if share < 500 {
		t.Errorf("a share of %d lines", share)
	}
}

// However long paths and lines are, results are within the limit and get on.
func TestReadFilesTight(t *testing.T) {
	tree := map[string]string{}
	deep := strings.Repeat(strings.Repeat("\u202e", 60)+"/", 20)
	for i := range 40 {
		tree[fmt.Sprintf("%s%d.txt", deep, i)] = strings.Repeat("\x01", 3000) + "\nend\n"
	}
	r := newCaller(t, "read_files", tree)
	args := map[string]any{"paths": []string{"**/*.txt"}}
	files := 0
	for range 50 {
		status, rest, _ := strings.Cut(r.call(args), "\n")
		files += strings.Count(rest, ".txt\": line")
		m := hintOffset.FindStringSubmatch(status)
		if m == nil {
			break
		}
		args["offset"] = number(t, m[1])
	}
	if files != 40 {
		t.Errorf("%d files, want 40", files)
	}
}

// A file that cannot be read fails alone.
func TestReadFilesUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("needs: a user whom permissions bind")
	}
	r := newCaller(t, "read_files", map[string]string{"a": "A\n", "b": "B\n"})
	if err := os.Chmod(filepath.Join(r.dir, "a"), 0); err != nil {
		t.Fatal(err)
	}
	if diff := tooltest.Match("2 files, 1 not read\na: denied: …\n\nb: line 1 of 1; …\n1\tB", r.call(map[string]any{"paths": []string{"a", "b"}})); diff != "" {
		t.Error(diff)
	}
}

func TestReadFilesNextPage(t *testing.T) {
	nextPages(t, "read_files", map[string]int{`{"paths": ["d/*"]}`: 1})
}
