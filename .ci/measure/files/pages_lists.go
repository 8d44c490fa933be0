package files

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func (p *pager) list(args map[string]any) error {
	found := map[string]bool{}
	if err := p.listing(found, ".", args); err != nil {
		return err
	}
	want := map[string]bool{}
	for name := range p.tree {
		for ; name != "."; name = path.Dir(name) {
			want[name] = true
		}
	}
	p.compareNames("names", slices.Collect(maps.Keys(found)), slices.Collect(maps.Keys(want)))
	return nil
}

// listing lists a directory, and each below it that the listing has cut or not gone into.
func (p *pager) listing(found map[string]bool, dir string, args map[string]any) error {
	args["path"] = dir
	var above []string
	return p.follow("list_directory", args, func(body string) error {
		above = above[:0]
		for line := range strings.SplitSeq(body, "\n") {
			if m := hintDir.FindStringSubmatch(line); m != nil {
				sub, err := strconv.Unquote(m[2])
				if err != nil {
					return err
				}
				offset, _ := strconv.Atoi(m[3]) // digits
				if err := p.listing(found, sub, map[string]any{"depth": 1, "offset": offset}); err != nil {
					return err
				}
				continue
			}
			name := strings.TrimLeft(line, " ")
			depth := (len(line) - len(name)) / 2
			name, rest, _ := strings.Cut(name, " ")
			if depth > len(above) {
				return fmt.Errorf("%q is too deep", line)
			}
			above = append(above[:depth], strings.TrimSuffix(name, "/"))
			full := path.Join(append([]string{dir}, above...)...)
			found[full] = true
			if strings.HasSuffix(rest, " entries)") || rest == "(1 entry)" { // it is not gone into
				if err := p.listing(found, full, map[string]any{"depth": 1}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (p *pager) globbed(args map[string]any) error {
	var got []string
	err := p.follow("glob", args, func(body string) error {
		got = append(got, strings.Split(strings.TrimSuffix(body, "\n"), "\n")...)
		return nil
	})
	p.compareNames("names", got, slices.Collect(maps.Keys(p.tree)))
	return err
}

// grepLines searches lines and compares them with those that have the text.
func (p *pager) grepLines(args map[string]any) error {
	got := map[string]string{}
	twice := 0
	err := p.follow("grep", args, func(body string) error {
		name := ""
		for line := range strings.SplitSeq(body, "\n") {
			if m := numbered.FindStringSubmatch(line); m != nil {
				place := name + ":" + m[1]
				if _, ok := got[place]; ok {
					twice++
				}
				got[place] = m[2]
			} else if line != "" && !strings.HasPrefix(line, "… ") {
				name = line
			}
		}
		return nil
	})
	var places []string
	for name, content := range p.tree {
		for i, line := range strings.Split(asLines(content), "\n") {
			if !strings.Contains(line, args["pattern"].(string)) {
				continue
			}
			place := fmt.Sprintf("%s:%d", name, i+1)
			places = append(places, place)
			shown := cutMark.ReplaceAllString(got[place], "")
			if shown == got[place] || !strings.Contains(shown, args["pattern"].(string)) || !strings.Contains(line, shown) {
				p.compare(place, shown, line)
			}
		}
	}
	p.compareNames("matching lines", slices.Collect(maps.Keys(got)), places)
	if twice > 0 {
		p.differ = append(p.differ, fmt.Sprintf("%d lines come twice", twice))
	}
	return err
}

var cutMark = regexp.MustCompile(`…\[\+\d+ bytes\]`)

func (p *pager) grepFiles(mode string) error {
	var got, want []string
	err := p.follow("grep", map[string]any{"pattern": "0 of", "mode": mode, "limit": 30}, func(body string) error {
		got = append(got, strings.Split(strings.TrimSuffix(body, "\n"), "\n")...)
		return nil
	})
	for name, content := range p.tree {
		count := 0
		for line := range strings.Lines(content) {
			if strings.Contains(line, "0 of") {
				count++
			}
		}
		switch {
		case count > 0 && mode == "count":
			want = append(want, fmt.Sprintf("%d\t%s", count, name))
		case count > 0:
			want = append(want, name)
		}
	}
	p.compareNames("files", got, want)
	return err
}

// history makes changes and lists them.
func (p *pager) history() error {
	var got, want []string
	for n := range p.changes {
		name := fmt.Sprintf("made/%d-%s.txt", n, strings.Repeat("m", n%150))
		if _, err := p.server.Must("write_file", map[string]any{"path": name, "content": "made\n"}); err != nil {
			return err
		}
		want = append(want, name)
	}
	slices.Reverse(want)
	err := p.follow("file_history", map[string]any{"path": "made"}, func(body string) error {
		for line := range strings.SplitSeq(body, "\n") {
			if fields := strings.Fields(line); len(fields) > 4 && fields[2] == "write_file" {
				got = append(got, fields[3])
			}
		}
		return nil
	})
	p.compare("changes, newest first", strings.Join(got, "\n"), strings.Join(want, "\n"))
	p.compared += len(want) - 1
	return err
}

// change makes one change of many files and shows it.
func (p *pager) change() error {
	var patch strings.Builder
	var got, want []string
	patch.WriteString("*** Begin Patch\n")
	for n := range p.changes / 3 {
		name := fmt.Sprintf("patched/%d-%s.txt", n, strings.Repeat("p", n%150))
		fmt.Fprintf(&patch, "*** Add File: %s\n+patched\n", name)
		want = append(want, name)
	}
	patch.WriteString("*** End Patch\n")
	if _, err := p.server.Must("apply_patch", map[string]any{"patch": patch.String()}); err != nil {
		return err
	}
	_, body, err := p.call("file_history", map[string]any{"path": "patched", "limit": 1})
	if err != nil {
		return err
	}
	version, _, _ := strings.Cut(body, " ")
	err = p.follow("file_history", map[string]any{"version": version, "diff": "none"}, func(body string) error {
		for line := range strings.SplitSeq(body, "\n") {
			if at := strings.Index(line, "patched/"); at >= 0 {
				name, _, _ := strings.Cut(line[at:], " ")
				got = append(got, name)
			}
		}
		return nil
	})
	p.compareNames("files of the change", got, want)
	return err
}
