package search_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/tooltest"
)

// Each pattern is searched for with its case, and in one of the other ways.
func TestGrepEqualsRipgrep(t *testing.T) {
	rg := rgProgram(t)
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
			if diff := cmp.Diff(counts(want), got); diff != "" {
				t.Errorf("%s %v (-rg +grep):\n%s", pattern, v.args, head(diff))
			}
			if len(want) > 1500 {
				continue // many pages, each searched from the start
			}
			v.args["offset"], v.args["context"], v.args["mode"] = 0, 0, "content"
			got = hits(pages(t, ws, "grep", v.args))
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
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
