package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

func TestListDirectory(t *testing.T) {
	tree := map[string]string{
		".git/config":       "[core]\n",
		".gitignore":        "*.o\n",
		"a.go":              "package a\n",
		"a.o":               "object",
		"big.txt":           strings.Repeat("x", 1500),
		"cmd/main.go":       "package main\n",
		"cmd/sub/deep/x.go": "package x\n",
		"cmd/sub/y.txt":     "y",
		"docs/":             "",
		"in":                "-> cmd/main.go",
		"out":               "-> ../../etc",
		"r\u202et":          "",
	}
	l := newCaller(t, "list_directory", tree)
	for i, name := range []string{"a.go", "docs", "big.txt", "cmd", "r\u202et"} {
		when := time.Date(2026, 1, 10-i, 12, 0, 0, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(l.dir, name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	const top = "a.go 10 B\nbig.txt 1.5 kB\n"
	for _, c := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"default", nil, ".: 2 directories, 5 files; left out: 1 hidden, 1 ignored\n" + top +
			"cmd/ (2 entries)\ndocs/ (0 entries)\nin -> cmd/main.go\nout -> ../../etc (outside or missing)\n\"r\\u202et\" 0 B"},
		{"hidden", map[string]any{"hidden": true, "limit": 1}, ".: 2 directories, 6 files; entries 1-1; left out: 1 ignored; next: offset=1\n.gitignore 4 B"},
		{"ignored", map[string]any{"include_ignored": true, "limit": 2}, ".: 2 directories, 6 files; entries 1-2; left out: …hidden; next: offset=2\na.go 10 B\na.o 6 B"},
		{"deep", map[string]any{"depth": 2, "path": "cmd"}, "cmd: 2 directories, 2 files\nmain.go 13 B\nsub/\n  deep/ (1 entry)\n  y.txt 1 B"},
		{"pattern on names", map[string]any{"depth": 5, "pattern": "*.go"}, ".: 3 directories, 3 files; …\na.go 10 B\ncmd/\n  main.go 13 B\n  sub/\n    deep/\n      x.go 10 B"},
		{"pattern on paths", map[string]any{"depth": 5, "pattern": "cmd/**/deep"}, ".: 3 directories, 0 files; …\ncmd/\n  sub/\n    deep/ (1 entry)"},
		{"pattern without match", map[string]any{"depth": 2, "pattern": "*.rs"}, ".: nothing matches *.rs in 3 directories; left out: …"},
		{"no pattern", map[string]any{"pattern": "[a"}, `error: invalid_argument: pattern: pattern "[a" has a [ at byte 1 without ] (…)`},
		{"pattern that leads upwards", map[string]any{"pattern": "../*.go"}, `error: invalid_argument: pattern: pattern "../*.go" leads upwards (…)`},
		{"pattern that leaves out", map[string]any{"pattern": "!*.t[xm]t", "depth": 2}, ".: 3 directories, 5 files; …\na.go 10 B\ncmd/\n  main.go 13 B\n  sub/ (2 entries)\ndocs/ (0 entries)\nin -> …\nout -> …\n\"r\\u202et\" 0 B"},
		{"pattern that leaves out a directory", map[string]any{"pattern": "!cmd", "depth": 3, "limit": 3}, ".: 1 directory, 5 files; entries 1-3; …; next: offset=3\na.go 10 B\nbig.txt 1.5 kB\ndocs/ (0 entries)"},
		{"pattern of a directory", map[string]any{"pattern": "./cmd/sub/", "depth": 5}, ".: 3 directories, 2 files; …\ncmd/\n  sub/\n    deep/\n      x.go 10 B\n    y.txt 1 B"},
		{"pattern that names a dot", map[string]any{"pattern": ".git*"}, ".: 0 directories, 1 file; …\n.gitignore 4 B"},
		{"past the end of nothing", map[string]any{"pattern": "*.rs", "offset": 5}, ".: nothing matches *.rs in 1 directory; …"},
		{"empty", map[string]any{"path": "docs"}, "docs: empty"},
		{"by size", map[string]any{"sort": "size", "limit": 2}, ".: …; next: offset=2\nbig.txt 1.5 kB\na.go 10 B"},
		{"by time", map[string]any{"sort": "newest", "pattern": "[abd]*"}, ".: 1 directory, 2 files; …\na.go 10 B 2026-01-10T12:00:00Z\ndocs/ (0 entries) 2026-01-09T12:00:00Z\nbig.txt 1.5 kB 2026-01-08T12:00:00Z"},
		{"page inside a directory", map[string]any{"depth": 4, "offset": 6, "limit": 2}, ".: 4 directories, 8 files; entries 7-8; …; next: offset=8\ncmd/\n  sub/\n    deep/\n      x.go 10 B\n    y.txt 1 B"},
		{"past the end", map[string]any{"offset": 7}, ".: offset=7 is past the end: 7 entries; the last is offset=6"},
		{"file", map[string]any{"path": "a.go"}, "error: invalid_argument: … (read_file or file_info take a file)"},
		{"missing", map[string]any{"path": "doc"}, "error: not_found: …"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.args == nil {
				c.args = map[string]any{}
			}
			if diff := tooltest.Match(c.want, l.try(c.args)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestListDirectoryCaps(t *testing.T) {
	tree := map[string]string{"z.txt": ""}
	for i := range 230 {
		tree[fmt.Sprintf("many/f%03d", i)] = ""
	}
	l := newCaller(t, "list_directory", tree)
	got := l.call(map[string]any{"depth": 2})
	want := "  f199 0 B\n  … 30 more: path=\"many\" depth=1 offset=200\nz.txt 0 B"
	if !strings.HasPrefix(got, ".: 1 directory, 231 files") || !strings.HasSuffix(got, want) {
		t.Errorf("got %s", got)
	}
	rest := l.call(map[string]any{"path": "many", "depth": 1, "offset": 200})
	if lines := strings.Split(rest, "\n"); len(lines) != 31 || lines[1] != "f200 0 B" || lines[30] != "f229 0 B" {
		t.Errorf("the rest is %s", rest)
	}
}

func TestListDirectoryAliases(t *testing.T) {
	l := newCaller(t, "list_directory", map[string]string{".git/HEAD": "ref: x\n", ".gitignore": "*.o\n", "a.o": ""})
	for _, name := range []string{"include_ignored", "ignored", "no_ignore"} {
		if diff := tooltest.Match(".: 0 directories, 1 file; left out: …hidden\na.o 0 B", l.call(map[string]any{name: true})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestListDirectoryTargets(t *testing.T) {
	l := newCaller(t, "list_directory", map[string]string{"link": "-> a\nforged 1 B"})
	if diff := tooltest.Match(".: 0 directories, 1 file\nlink -> \"a\\u000aforged 1 B\" (outside or missing)", l.call(map[string]any{})); diff != "" {
		t.Error(diff)
	}
}

func TestListDirectoryDeniedTarget(t *testing.T) {
	l := newCaller(t, "list_directory", map[string]string{"s/k": "x", "d/link": "-> ../s/k"})
	l.ws = l.ws.Denying(func(p workspace.Path) string {
		if strings.HasPrefix(p.String(), "s") {
			return "no-s"
		}
		return ""
	})
	if got := l.call(map[string]any{"path": "d"}); !strings.HasSuffix(strings.TrimSpace(got), "\nlink (denied)") {
		t.Errorf("got %s", got)
	}
}

func TestListDirectoryUnreadable(t *testing.T) {
	l := newCaller(t, "list_directory", map[string]string{".git/HEAD": "ref: x\n", "a\nb/.gitignore": "", "a\nb/c": ""})
	if err := os.Truncate(filepath.Join(l.dir, "a\nb/.gitignore"), 9<<20); err != nil { // more than is read of rules
		t.Fatal(err)
	}
	want := "…: 1 directory, 1 file; left out: 1 hidden\n\"a\\u000ab/\"\n  c 0 B\n1 path could not be read: \"a\\u000ab/.gitignore\""
	if diff := tooltest.Match(want, l.call(map[string]any{"depth": 2})); diff != "" {
		t.Error(diff)
	}
}

func TestListDirectoryBarred(t *testing.T) {
	l := newCaller(t, "list_directory", map[string]string{"locked/a": "", "b": ""})
	if os.Geteuid() == 0 {
		t.Skip("needs: a user whom permissions bind")
	}
	if err := os.Chmod(filepath.Join(l.dir, "locked"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(l.dir, "locked"), 0o700) })
	want := "…: 1 directory, 1 file\nb 0 B\nlocked/ (unreadable)\n1 path could not be read (permission denied): locked"
	if diff := tooltest.Match(want, l.call(map[string]any{"depth": 2})); diff != "" {
		t.Error(diff)
	}
}

func TestListDirectoryPages(t *testing.T) {
	tree := map[string]string{}
	long := strings.Repeat("n", 100)
	for i := range 30 {
		for j := range 30 {
			tree[fmt.Sprintf("d%02d/%s%02d", i, long, j)] = ""
		}
	}
	l := newCaller(t, "list_directory", tree)
	whole := map[string]bool{}
	for _, limit := range []int{40, 2000} {
		got, pages := l.follow(map[string]any{"depth": 2, "limit": limit}, nextLine, "offset")
		if pages < 3 {
			t.Errorf("limit %d: %d pages", limit, pages)
		}
		clear(whole)
		dir := ""
		for line := range strings.SplitSeq(got, "\n") {
			if name, ok := strings.CutPrefix(line, "  "); ok {
				name = dir + strings.TrimSuffix(name, " 0 B")
				if whole[name] {
					t.Errorf("%s is shown twice", name)
				}
				whole[name] = true
				continue
			}
			dir = line
		}
		for name := range tree {
			if !whole[name] {
				t.Errorf("limit %d: %s is missing", limit, name)
			}
		}
	}
}

func TestListDirectoryNextPage(t *testing.T) {
	nextPages(t, "list_directory", map[string]int{`{"path": "d", "limit": 2}`: 2})
}
