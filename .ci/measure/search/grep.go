package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// query is one search, with the options that both programs have.
type query struct {
	pattern                       string
	fixed, word, fold, multi, any bool // any: files only
	glob, kind                    string
}

func (q query) args() map[string]any {
	args := map[string]any{"pattern": q.pattern, "limit": 1000, "case": "sensitive", "context": 0}
	if q.fold {
		args["case"] = "insensitive"
	}
	for name, on := range map[string]bool{"fixed": q.fixed, "word": q.word, "multiline": q.multi} {
		if on {
			args[name] = true
		}
	}
	if q.any {
		args["mode"] = "files"
	}
	if q.glob != "" {
		args["glob"] = []string{q.glob}
	}
	if q.kind != "" {
		args["type"] = []string{q.kind}
	}
	return args
}

func (q query) rg() []string {
	args := []string{"--no-config", "--no-unicode", "--crlf", "--hidden", "-g", "!.git", "--no-heading", "--with-filename", "--line-number", "--null", "--no-messages", "--color=never"}
	for flag, on := range map[string]bool{"-F": q.fixed, "-i": q.fold, "-U": q.multi, "-l": q.any} {
		if on {
			args = append(args, flag)
		}
	}
	if q.glob != "" {
		args = append(args, "-g", q.glob)
	}
	if q.kind != "" {
		args = append(args, "-t", q.kind)
	}
	pattern := q.pattern
	if q.word {
		pattern = `\b(?:` + pattern + `)\b`
	}
	if q.multi { // where a line ends with CR LF, \n matches both in grep
		pattern = strings.ReplaceAll(pattern, `\n`, `\r?\n`)
	}
	return append(args, "-e", pattern, ".")
}

// queries are 200 searches over all classes. None counts characters beyond
// ASCII: without Unicode, ripgrep counts bytes where RE2 counts characters.
func queries() []query {
	var qs []query
	add := func(make func(p string) query, patterns ...string) {
		for _, p := range patterns {
			qs = append(qs, make(p))
		}
	}
	plain := func(p string) query { return query{pattern: p} }
	add(func(p string) query { return query{pattern: p, fixed: true} },
		"func main()", "TODO", "a.b", "*", "[]byte{", "$", "^", "\\n", "(", "if err != nil {", "// Deprecated:", "...", "%q", "http://", "日本", "é", "\"\"", "'", "a+b", "?:")
	add(plain,
		"ErrUnexpectedEOF", "zzqxj_nothing_here", "return", "context.Context", "unsafe", "goroutine", "panic", "GOMAXPROCS", "deadline", "Copyright",
		"sync", "atomic", "mutex", "interface", "struct", "package main", "import", "error", "nil", "0x7f",
		"func Test", "select", "channel", "buffer", "prometheus", "label", "template", "shortcode", "retention", "ingester")
	add(func(p string) query { return query{pattern: p, any: true} },
		"return", "func main", "TODO", "mutex", "license", "zzqxj", "Apache", "html", "json", "test")
	add(func(p string) query { return query{pattern: p, fold: true} },
		"errunexpectedeof", "TODO", "gomaxprocs", "Content-Type", "DEADLINE", "license", "utf-?8", "get|post|put", "^package", "html$",
		"readall", "x-forwarded-for", "null", "(foo|bar)baz", "[a-z]+handler\\b")
	add(func(p string) query { return query{pattern: p, word: true} },
		"err", "main", "io", "T", "int", "x", "the", "map", "go", "[a-z]{2}", "0", "is", "Label", "id", "e\\w+r")
	add(plain,
		`func \w+\(`, `static\s+int`, `\bPM_RESUME\b`, `[A-Z]+_RESUME`, `^\s*if .*nil`, `err(or)?s?\.New`, `\d{4}-\d{2}-\d{2}`, `0x[0-9a-fA-F]{8,}`,
		`"[^"]*%[dsv][^"]*"`, `^$`, `^\s+$`, `;$`, `\}$`, `^\}`, `\w{5}\s+\w{5}\s+\w{5}\s+\w{5}`, `(TODO|FIXME|XXX|HACK)`, `(a|b|c)d(e|f)`,
		`func \(\w+ \*?\w+\) [A-Z]\w*\(`, `=>`, `\t\t\t\t\t\t`, `[^\x00-\x7F]`, `[[:graph:]]{80,}`, `^[ -~]{200,}$`, `//\s*$`, `/\*.*\*/`, `\bint(8|16|32|64)\b`,
		`https?://[^\s"']+`, `[[:upper:]]{6,}`, `[[:punct:]]{8,}`, `(?i)select .* from`, `(?i:error): `, `x*y+z?`, `a{3}`, `\.go:\d+`, `%[0-9.]*[a-z]`,
		`chan<-|<-chan`, `make\(map\[\w+\]\w+`, `\bfor\s+\w+\s*:?=\s*range\b`, `defer\s+\w+\.(Unlock|Close)\(\)`, `import\s+\(`,
		`[aeiou]{4}`, `(\w+), err := `, `return\s+nil,\s+\w+`, `^func init\(\)`, `go:(build|embed|generate|linkname)`, `\b[0-9]+(\.[0-9]+){2,}\b`,
		`^[^\t ]`, `\[\]\[\]`, `""\)$`, `[.]{3}\w`)
	add(func(p string) query { return query{pattern: p, multi: true} },
		`\{\n\s*\}`, `func \w+\(\) \{\n\treturn`, `\n\n\n`, `import \(\n(\t.*\n)*\)`, `type \w+ struct \{\n\t\w+`, `\)\n\{`, `^package \w+\n\nimport`,
		`(?s)/\*.{0,200}Deprecated`, `else \{\n\s+return`, `\bif .*\{\n\s*panic`)
	add(func(p string) query { return query{pattern: p, glob: "*.go"} }, "interface", "func Benchmark", `\bany\b`, "unsafe.Pointer", `^import "`, "goto", "iota", `_test\b`, "fallthrough", `\bmap\[`)
	add(func(p string) query { return query{pattern: p, glob: "**/testdata/**"} }, "package", "error", `^//`, "0x", "func", "true", `^\s*\{`, "test", "a", "http")
	add(func(p string) query { return query{pattern: p, glob: "!*.go"} }, "func", "version", `^#`, "name:", "TEXT", "html", `\$\{`, "md5", "GO", "default")
	add(func(p string) query { return query{pattern: p, kind: "go"} }, "sort.Slice", "reflect", `\bnew\(`, "strings.Builder", "runtime", "cgo", `%w`, "slices", "generic", "linkname")
	add(func(p string) query { return query{pattern: p, kind: "md"} }, "## ", "code", "http", "`go", "table", "install", "the", "example", `\|`, "license")
	return qs
}

// Grep runs 200 searches on the trees with grep and with ripgrep, and
// compares the files and lines.
func Grep(ctx context.Context, env harness.Environment) error {
	all, err := trees(ctx, env)
	if err != nil {
		return err
	}
	rg, err := env.Ripgrep()
	if err != nil {
		return err
	}
	qs := queries()
	step := max(1, int(1/env.Scale)/2)
	fmt.Printf("%d patterns\n| grep against ripgrep | patterns | lines | patterns that differ |\n|---|---|---|---|\n", len(qs))
	wrong := 0
	for _, t := range all {
		s := env.Toolcrib(t.dir)
		c, err := harness.Dial(ctx, nil, s.Args[0], s.Args[1:]...)
		if err != nil {
			return err
		}
		if err := c.Initialize(); err != nil {
			return err
		}
		lines, differ, asked := 0, 0, 0
		for i := 0; i < len(qs); i += step {
			want, err := ripgrepped(ctx, rg, t.dir, qs[i])
			if err != nil {
				return fmt.Errorf("%+v: %w", qs[i], err)
			}
			asked++
			lines += len(want)
			counts := len(want) > countedFrom && !qs[i].any
			got, err := grepped(c, qs[i], counts)
			if err != nil {
				return fmt.Errorf("%+v: %w", qs[i], err)
			}
			if counts {
				want = counted(want)
			}
			if extra, missing := difference(got, want), difference(want, got); len(extra)+len(missing) > 0 {
				differ++
				fmt.Printf("  %+v: %d only grep %q, %d only ripgrep %q\n", qs[i], len(extra), clipped(extra), len(missing), clipped(missing))
			}
		}
		fmt.Printf("| %s | %d | %d | %d |\n", t.name, asked, lines, differ)
		wrong += differ
		if err := c.Close(); err != nil {
			return err
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d searches differ", wrong)
	}
	return nil
}

// ripgrepped returns "path:line" of every matching line, or the paths.
func ripgrepped(ctx context.Context, rg, dir string, q query) ([]string, error) {
	cmd := exec.CommandContext(ctx, rg, q.rg()...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return nil, nil // no match
	}
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	if q.any {
		for name := range bytes.SplitSeq(out, []byte{0}) {
			if len(name) > 0 {
				found[strings.TrimPrefix(string(name), "./")] = true
			}
		}
		return slices.Sorted(maps.Keys(found)), nil
	}
	for line := range bytes.Lines(out) {
		name, rest, ok := bytes.Cut(line, []byte{0})
		number, _, ok2 := bytes.Cut(rest, []byte{':'})
		if ok && ok2 {
			found[strings.TrimPrefix(string(name), "./")+":"+string(number)] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// countedFrom is how many lines a search may find that is compared line by line;
// of more the number of lines in each file is compared.
const countedFrom = 5000

// counted turns "path:line" of every line into "path=lines" of every file.
func counted(lines []string) []string {
	n := map[string]int{}
	for _, line := range lines {
		n[line[:strings.LastIndexByte(line, ':')]]++
	}
	var out []string
	for path, lines := range n {
		out = append(out, fmt.Sprintf("%s=%d", path, lines))
	}
	slices.Sort(out)
	return out
}

var matchLine = regexp.MustCompile(`^(\d+)(-?)\t`)

func grepped(c *harness.Client, q query, counts bool) ([]string, error) {
	found := map[string]bool{}
	path := ""
	args := q.args()
	if counts {
		args["mode"] = "count"
	}
	err := pages(c, "grep", args, func(line string) {
		switch m := matchLine.FindStringSubmatch(line); {
		case counts:
			if n, name, ok := strings.Cut(line, "\t"); ok {
				found[name+"="+n] = true
			}
		case q.any:
			found[line] = true
		case strings.HasPrefix(line, "… "): // how many more there are in the file
		case m == nil:
			path = line
		case m[2] == "":
			found[path+":"+m[1]] = true
		}
	})
	return slices.Sorted(maps.Keys(found)), err
}
