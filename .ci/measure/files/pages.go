package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// pageBudget is what a text may have: 50,000 bytes of content and the lines around.
const pageBudget = 52_000

// Pages reads results that are too long for one call by doing mechanically what
// their own text says, and compares the pages put together with the whole.
func Pages(ctx context.Context, env harness.Environment) error {
	base, dir, err := env.Scratch("pages")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	tree, err := plantPages(dir, env.Of(400, 220))
	if err != nil {
		return err
	}
	server, err := harness.UseTools(ctx, env.Writer(dir, "--durable=false"))
	if err != nil {
		return err
	}
	p := &pager{server: server, dir: dir, tree: tree, changes: env.Of(600, 60)}
	fmt.Println("| pages put together, against the whole | calls | most bytes of a page | compared | differences |\n|---|---|---|---|---|")
	var failed error
	for _, job := range []struct {
		name string
		run  func() error
	}{
		{"read_file, lines forwards", func() error { return p.readAll(map[string]any{}) }},
		{"read_file, short pages", func() error { return p.readAll(map[string]any{"limit": 37}) }},
		{"read_file, bytes", p.readBytes},
		{"read_files and the read_file that it names", p.readMany},
		{"list_directory, three levels", func() error { return p.list(map[string]any{"depth": 10, "limit": 90}) }},
		{"list_directory, as it comes", func() error { return p.list(map[string]any{"depth": 10}) }},
		{"glob", func() error { return p.globbed(map[string]any{"pattern": []string{"**"}}) }},
		{"glob, short pages", func() error { return p.globbed(map[string]any{"pattern": []string{"**"}, "limit": 17}) }},
		{"grep, lines", func() error { return p.grepLines(map[string]any{"pattern": "7 of", "limit": 1000}) }},
		{"grep, short pages", func() error { return p.grepLines(map[string]any{"pattern": "7 of", "context": 0}) }},
		{"grep, files", func() error { return p.grepFiles("files") }},
		{"grep, counts", func() error { return p.grepFiles("count") }},
		{"file_history", p.history},
		{"file_history, files of one change", p.change},
	} {
		p.calls, p.longest, p.compared, p.differ = 0, 0, 0, nil
		if err := job.run(); err != nil {
			return fmt.Errorf("%s: %w", job.name, err)
		}
		fmt.Printf("| %s | %d | %d | %d | %d |\n", job.name, p.calls, p.longest, p.compared, len(p.differ))
		for _, d := range p.differ[:min(len(p.differ), 5)] {
			fmt.Println("  " + d)
		}
		switch {
		case len(p.differ) > 0:
			failed = errors.Join(failed, fmt.Errorf("%s: %d differences", job.name, len(p.differ)))
		case p.calls < 2 || p.compared == 0:
			failed = errors.Join(failed, fmt.Errorf("%s: one page, nothing is proved", job.name))
		case p.longest > pageBudget:
			failed = errors.Join(failed, fmt.Errorf("%s: a page of %d bytes", job.name, p.longest))
		}
	}
	return errors.Join(failed, server.Close())
}

// plantPages makes files of many kinds and returns the contents by path.
func plantPages(dir string, count int) (map[string]string, error) {
	tree := map[string]string{"long/lines.txt": strings.Repeat("word ", 30_000) + "\n" + strings.Repeat("x", 2001) + "\nend\n"}
	var wide strings.Builder
	for n := range 900 {
		fmt.Fprintf(&wide, "%d of wide, %s\n", n, strings.Repeat("日本 ", n%150))
	}
	tree["made/first.txt"] = "made before any change\n"
	tree["long/wide.txt"] = wide.String()
	tree["long/open.txt"] = strings.Repeat("open end\n", 3000) + "last"
	for i := range count {
		size := []int{30, 30, 3000, 30, 30, 900, 30, 30, 30, 70_000}[i%10]
		var b strings.Builder
		for n := 0; b.Len() < size; n++ {
			fmt.Fprintf(&b, "%d of %d, %s\n", n, i, strings.Repeat("text ", n%40))
		}
		tree[fmt.Sprintf("src/%02d/%03d-%s.txt", i%7, i, strings.Repeat("n", i%120))] = b.String()
		tree[fmt.Sprintf("wide/%03d-%s", i, strings.Repeat("w", 150))] = ""
		tree[fmt.Sprintf("dirs/%03d/f", i)] = "f\n"
	}
	return tree, harness.WriteTree(dir, tree)
}

// pager follows hints.
type pager struct {
	server  *harness.ToolUser
	dir     string
	tree    map[string]string
	changes int // how many changes the history gets

	calls, longest, compared int
	differ                   []string
}

func (p *pager) call(tool string, args map[string]any) (status, body string, err error) {
	text, err := p.server.Must(tool, args)
	p.calls++
	p.longest = max(p.longest, len(text))
	status, body, _ = strings.Cut(text, "\n")
	return status, body, err
}

var (
	hintNext = regexp.MustCompile(`; next: (\w+)=(-?\d+)$`)
	hintCut  = regexp.MustCompile(`…\[\+(\d+) bytes: byte_offset=(\d+) byte_limit=(\d+)\]$`)
	hintRest = regexp.MustCompile(`; next: read_file offset=(\d+)$`)
	hintDir  = regexp.MustCompile(`^ *… (\d+) more: path=(".*") depth=1 offset=(\d+)$`)
	numbered = regexp.MustCompile(`^(-?\d+)\t(.*)$`)
)

// follow makes the call and those that its results name, and hands each body to take.
func (p *pager) follow(tool string, args map[string]any, take func(body string) error) error {
	for range 100_000 {
		status, body, err := p.call(tool, args)
		if err == nil {
			err = take(body)
		}
		if err != nil {
			return err
		}
		next := hintNext.FindStringSubmatch(status)
		if next == nil {
			return nil
		}
		n, err := strconv.Atoi(next[2])
		if err != nil {
			return err
		}
		if args[next[1]] == n {
			return fmt.Errorf("%s: %s leads to itself", tool, next[0])
		}
		args[next[1]] = n
	}
	return fmt.Errorf("%s: the hints do not end", tool)
}

// compare notes a difference.
func (p *pager) compare(what, got, want string) {
	p.compared++
	if got == want {
		return
	}
	n := 0
	for n < min(len(got), len(want)) && got[n] == want[n] {
		n++
	}
	p.differ = append(p.differ, fmt.Sprintf("%s: %d bytes, want %d; at %d %.60q, want %.60q", what, len(got), len(want), n, got[n:], want[n:]))
}

func (p *pager) compareNames(what string, got, want []string) {
	slices.Sort(got)
	slices.Sort(want)
	p.compare(what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	p.compared += len(want) - 1
}
