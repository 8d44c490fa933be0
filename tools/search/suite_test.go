package search_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/search"
	"toolcrib/workspace"
)

func tool(t testing.TB, name string) tools.Tool {
	t.Helper()
	for _, tool := range search.Tools(search.Deps{}) {
		if tool.Name == name {
			return tool
		}
	}
	t.Fatalf("no tool %q", name)
	return tools.Tool{}
}

// answer is the result of a call.
func answer(t testing.TB, ws *workspace.Workspace, tl tools.Tool, args map[string]any) tools.Result {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	result, err := tooltest.Call(t.Context(), ws, tl, data)
	if err != nil {
		t.Fatalf("%s %s: %v", tl.Name, data, err)
	}
	return result
}

// call returns the text of a call's result.
func call(t testing.TB, ws *workspace.Workspace, name string, args map[string]any) string {
	t.Helper()
	return tooltest.Text(answer(t, ws, tool(t, name), args))
}

var (
	nextPage = regexp.MustCompile(`next: offset=(\d+)`)
	hit      = regexp.MustCompile(`^(\d+)\t`)
)

// pages calls until the last page and returns all lines but those of the status.
func pages(t testing.TB, ws *workspace.Workspace, name string, args map[string]any) []string {
	t.Helper()
	var all []string
	for {
		text := call(t, ws, name, args)
		status, rest, _ := strings.Cut(strings.TrimSuffix(text, "\n"), "\n")
		if rest != "" {
			all = append(all, strings.Split(rest, "\n")...)
		}
		next := nextPage.FindStringSubmatch(status)
		if next == nil {
			return all
		}
		offset, err := strconv.Atoi(next[1])
		if err != nil || offset <= number(args["offset"]) {
			t.Fatalf("%v: %s", args, status)
		}
		args["offset"] = offset
	}
}

func number(v any) int {
	n, _ := v.(int)
	return n
}

// hits returns "path:number" for each matching line of a content result.
func hits(lines []string) []string {
	var got []string
	path := ""
	for _, line := range lines {
		if m := hit.FindStringSubmatch(line); m != nil {
			got = append(got, path+":"+m[1])
		} else if line != "" && !strings.HasPrefix(line, "…") {
			path = line
		}
	}
	return got
}

// corpus is some of the standard library, and files that are awkward to search.
func corpus(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{
		"awkward/crlf.txt":          "foo\r\nbar foo\r\n\r\n  \r\nreturn x\r\nif err != nil {\r\n",
		"awkward/no final line end": "first\nreturn foo",
		"awkward/empty.go":          "",
		"awkward/line feeds":        "\n\n\n",
		"awkward/binary.go":         "return\x00return\n",
		"awkward/latin1.txt":        "caf\xe9 foo\nreturn \xff\xfe\n",
		"awkward/long.js":           strings.Repeat("var x = 1; ", 9000) + "return foo;" + strings.Repeat("y();", 30_000) + "\nfoo\n",
		"awkward/utf16.txt":         "\xff\xfef\x00o\x00o\x00\r\x00\n\x00b\x00a\x00r\x00\n\x00",
		"awkward/bom.txt":           "\ufefffoo\nbar\n",
		"awkward/.hidden/a.go":      "return foo\n",
		"awkward/ignored/a.go":      "return foo\n",
		"awkward/big.log":           strings.Repeat("some line of a log with a number 12345 in it\n", 7_000) + "ERROR foo\n" + strings.Repeat("x\n", 2_000) + "return foo",
		".ignore":                   "ignored/\n",
	}
	src := filepath.Join(goroot(t), "src")
	for _, dir := range []string{"net/http", "regexp", "strconv", "go/types", "text/template", "encoding/json", "strings"} {
		list, err := filepath.Glob(filepath.Join(src, filepath.FromSlash(dir), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range list {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files["go/"+dir+"/"+filepath.Base(name)] = string(data)
		}
	}
	if len(files) < 200 {
		t.Skip("needs: the source of the standard library")
	}
	return files
}

// Each pattern is searched for with its case, and in one of the other ways.
func TestGrepEqualsRipgrep(t *testing.T) {
	rg := cmp.Or(os.Getenv("RG"), "rg")
	if _, err := exec.LookPath(rg); err != nil {
		t.Skip("needs: rg: on PATH or named by RG")
	}
	ws, dir := tooltest.Tree(t, corpus(t))
	patterns := []string{
		`foo`, `return`, `func`, `nothing_of_the_kind`, `ServeHTTP`, `x`, `err != nil`, `http.Request`, `http\.Request`, `\(`, `\}`, `# `, `TODO`, `a b`, `"`,
		`^func`, `^package \w+$`, `\{$`, `^$`, `^\s*$`, `^\s+$`, `foo$`, `\s$`, `^\t\treturn`, `^//`, `nil\)$`,
		`\bfoo\b`, `\bRequest\b`, `\Berr\b`, `\bi\b`, `\w+Error\b`,
		`static|return|func`, `foo|bar|baz`, `Reader|Writer|Closer|Seeker|Scanner`, `(Read|Write)(er|All)`, `err|nil`, `a|b|c`, `TODO|FIXME|XXX|HACK`,
		`[A-Z]+_[A-Z]+`, `\w{12,}`, `[0-9]+\.[0-9]+`, `[^a-z]foo`, `[^ ]+ [^ ]+ [^ ]+`, `.`, `.*`, `x*`, `\d{3}`, `0x[0-9a-fA-F]{2,}`, `[[:digit:]]{4}`, `\S+@\S+`,
		`func \(\w+ \*?\w+\) \w+\(`, `if .*NULL`, `if .*nil.*\{`, `return\s+\w+,\s*err`, `for\s+\w+\s*:=\s*range`, `\s+\w+\s+=\s+`, `(\w+)\.(\w+)\.(\w+)\(`,
		`colou?r`, `(foo|)bar`, `(ab)*c`, `s?kip`, `task`, `class`, `"[^"]*"`, `'[^']+'`, `//.*\bthe\b.*\bof\b`, `e[a-z ]{3}e`,
	}
	for i, pattern := range patterns {
		for way, v := range []struct {
			args  map[string]any
			flags []string
		}{
			{map[string]any{"case": "sensitive"}, []string{"--case-sensitive"}},
			{map[string]any{"case": "insensitive"}, []string{"--ignore-case"}},
			{map[string]any{"fixed": true}, []string{"--fixed-strings", "--smart-case"}},
			{map[string]any{"multiline": true, "case": "sensitive"}, []string{"--multiline", "--case-sensitive"}},
			{map[string]any{"type": []string{"go"}, "glob": []string{"!*_test.go"}, "exclude": []string{"http/"}}, []string{"--smart-case", "--glob=*.go", "--glob=!*_test.go", "--glob=!http/"}},
			{map[string]any{"glob": []string{"go/net/**/*.go", "awkward/*"}, "hidden": false, "case": "sensitive"}, []string{"--no-hidden", "--glob=/go/net/**/*.go", "--glob=/awkward/*"}},
		} {
			if way > 0 && way != 1+i%5 || testing.Short() && i%7 > 0 {
				continue
			}
			want := ripgrep(t, rg, dir, append(v.flags, "--line-number", "--regexp="+pattern))
			v.args["pattern"], v.args["limit"], v.args["mode"] = pattern, 1000, "count"
			got := pages(t, ws, "grep", v.args)
			slices.Sort(got)
			if diff := gocmp.Diff(counts(want), got); diff != "" {
				t.Errorf("%s %v (-rg +grep):\n%s", pattern, v.args, head(diff))
			}
			if len(want) > 1500 {
				continue // many pages, each searched from the start
			}
			v.args["offset"], v.args["context"], v.args["mode"] = 0, 0, "content"
			got = hits(pages(t, ws, "grep", v.args))
			slices.Sort(got)
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("%s %v (-rg +grep):\n%s", pattern, v.args, head(diff))
			}
		}
	}
}

// ripgrep returns "path:number" for each line that rg prints, sorted.
func ripgrep(t *testing.T, rg, dir string, flags []string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), rg, slices.Concat(
		[]string{"--no-config", "--no-unicode", "--crlf", "--hidden", "--no-heading", "--with-filename", "--color=never"}, flags, []string{"--glob=!.git"})...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if e, ok := err.(*exec.ExitError); ok && e.ExitCode() == 1 {
		err = nil
	}
	if err != nil {
		t.Fatalf("rg %q: %v", flags, err)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) == 3 {
			lines = append(lines, strings.TrimPrefix(parts[0], "./")+":"+parts[1])
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// counts turns "path:number" lines into sorted "count<TAB>path" lines.
func counts(hits []string) []string {
	n := map[string]int{}
	for _, h := range hits {
		n[h[:strings.LastIndexByte(h, ':')]]++
	}
	var lines []string
	for path, n := range n {
		lines = append(lines, fmt.Sprintf("%d\t%s", n, path))
	}
	slices.Sort(lines)
	return lines
}

func head(s string) string {
	lines := strings.SplitAfterN(s, "\n", 30)
	return strings.Join(lines[:min(len(lines), 25)], "")
}

// What rg lists is what glob finds.
func TestGlobEqualsRipgrep(t *testing.T) {
	rg := cmp.Or(os.Getenv("RG"), "rg")
	if _, err := exec.LookPath(rg); err != nil {
		t.Skip("needs: rg: on PATH or named by RG")
	}
	ws, dir := tooltest.Tree(t, corpus(t))
	for pattern, flag := range map[string]string{"**": "", "*.go": "*.go", "**/*_test.go": "*_test.go", "go/{regexp,strconv}/*.go": "/go/{regexp,strconv}/*.go", "[a-m]*": "[a-m]*"} {
		cmd := exec.CommandContext(t.Context(), rg, "--no-config", "--files")
		if flag != "" { // which beats ignore files
			cmd.Args = append(cmd.Args, "--glob="+flag, "--glob=!ignored/")
		}
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		slices.Sort(want)
		got := pages(t, ws, "glob", map[string]any{"pattern": pattern, "limit": 70})
		slices.Sort(got)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-rg +glob):\n%s", pattern, head(diff))
		}
	}
}

func TestPagesTogetherAreTheWhole(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("d%d/f.txt", i)] = strings.Repeat("some needle here\nnothing\n\n\n\n\n", i%7) + strings.Repeat("x", i*100) + "needle"
	}
	ws, _ := tooltest.Tree(t, files)
	for _, args := range []map[string]any{
		{"context": 0}, {"context": 1}, {"before": 3, "after": 2}, {"max_per_file": 2}, {"mode": "files"}, {"mode": "count"}, {"mode": "files", "sort": "newest"},
	} {
		args["pattern"], args["limit"] = "needle", 1000
		whole := pages(t, ws, "grep", args)
		for _, limit := range []int{1, 3, 7, 50} {
			args["limit"], args["offset"] = limit, 0
			got := pages(t, ws, "grep", args)
			if diff := gocmp.Diff(body(whole), body(got)); diff != "" {
				t.Errorf("limit %d of %v: %s", limit, args, head(diff))
			}
		}
	}
}

// body is the lines without what a page adds: headers that are repeated,
// separators, and how many matches of a file are not shown.
func body(lines []string) []string {
	var got []string
	path := ""
	for _, line := range lines {
		switch {
		case line == "" || line == "--" || strings.HasPrefix(line, "…"):
		case line == path:
		default:
			if !strings.Contains(line, "\t") {
				path = line
			}
			got = append(got, line)
		}
	}
	return got
}

// goroot is the directory of the Go tree, whose source is searched.
func goroot(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("needs: the go command: %v", err)
	}
	return strings.TrimSpace(string(out))
}
