package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// Glob compares the files that glob finds with those that git lists, and
// runs random trees and ignore files against git check-ignore.
func Glob(ctx context.Context, env harness.Environment) error {
	all, err := trees(ctx, env)
	if err != nil {
		return err
	}
	fmt.Println("| glob against git ls-files | files | only glob | only git |\n|---|---|---|---|")
	wrong := 0
	for _, t := range all {
		want, err := listed(ctx, t.dir)
		if err != nil {
			return err
		}
		got, err := globbed(ctx, env, t.dir)
		if err != nil {
			return err
		}
		extra, missing := difference(got, want), difference(want, got)
		fmt.Printf("| %s | %d | %d | %d |\n", t.name, len(want), len(extra), len(missing))
		for _, name := range slices.Concat(clipped(extra), clipped(missing)) {
			fmt.Println("  differs:", name)
		}
		wrong += len(extra) + len(missing)
	}
	if wrong > 0 {
		return fmt.Errorf("%d files differ", wrong)
	}
	n := env.Of(1000, 20)
	fmt.Println("random trees and ignore files against git check-ignore:")
	return harness.Suite(ctx, []string{fmt.Sprintf("TOOLCRIB_IGNORE_TREES=%d", n)}, "./workspace/...", "Git", regexp.MustCompile(`\d+ trees,`))
}

// listed is git ls-files -co --exclude-standard, less what git tracks though it
// would ignore it, and less links.
func listed(ctx context.Context, dir string) ([]string, error) {
	out, err := git(ctx, dir, "ls-files", "-coz", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	ignored, err := git(ctx, dir, "ls-files", "-ciz", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	skip := map[string]bool{}
	for name := range strings.SplitSeq(ignored, "\x00") {
		skip[name] = true
	}
	var names []string
	for name := range strings.SplitSeq(out, "\x00") {
		if name == "" || skip[name] {
			continue
		}
		info, err := os.Lstat(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// globbed pages through glob as a client would.
func globbed(ctx context.Context, env harness.Environment, dir string) ([]string, error) {
	s := env.Toolcrib(dir)
	c, err := harness.Dial(ctx, nil, s.Args[0], s.Args[1:]...)
	if err != nil {
		return nil, err
	}
	if err := c.Initialize(); err != nil {
		return nil, err
	}
	var names []string
	err = pages(c, "glob", map[string]any{"pattern": []string{"**"}, "hidden": true, "limit": 1000}, func(line string) {
		names = append(names, line)
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	return names, c.Close()
}

var nextOffset = regexp.MustCompile(`next: offset=(\d+)`)

// pages follows the result's own hint from page to page and hands over every
// line below the status.
func pages(c *harness.Client, tool string, args map[string]any, each func(line string)) error {
	for id := 1; ; id++ {
		text, err := callText(c, id, tool, args)
		if err != nil {
			return err
		}
		status, rest, _ := strings.Cut(text, "\n")
		for line := range strings.SplitSeq(rest, "\n") {
			if line != "" {
				each(line)
			}
		}
		next := nextOffset.FindStringSubmatch(status)
		if next == nil {
			return nil
		}
		args["offset"] = json.Number(next[1])
	}
}

// text makes a call and returns its text; a tool's error is an error.
func callText(c *harness.Client, id int, tool string, args map[string]any) (string, error) {
	m, err := c.Call(id, "tools/call", map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return "", err
	}
	var r struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		return "", err
	}
	var texts []string
	for _, b := range r.Content {
		texts = append(texts, b.Text)
	}
	text := strings.Join(texts, "\n")
	if r.IsError {
		return text, errors.New(text)
	}
	return text, nil
}

func difference(a, b []string) []string {
	var out []string
	for _, s := range a {
		if _, found := slices.BinarySearch(b, s); !found {
			out = append(out, s)
		}
	}
	return out
}

func clipped(s []string) []string { return s[:min(len(s), 10)] }
