package search

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// sameFound makes a search in all three ways and says in which they differ:
// "yes", or what is found in one alone. Of lines it compares "path:line".
func (b *searchBench) sameFound(ctx context.Context, k searchClass, s *searchServer) (string, error) {
	q := k.on(b.tree)
	var out bytes.Buffer
	if _, err := ripgrep(ctx, b.rg, b.tree, q, &out); err != nil {
		return "", err
	}
	want := q.foundByRipgrep(out.Bytes())
	var warm []string
	if _, err := s.pages(q, func(page string) { warm = append(warm, q.found(page)...) }); err != nil {
		return harness.Brief(err.Error()), nil
	}
	ways := map[string][]string{"warm": warm}
	if !k.stat {
		out.Reset()
		if _, err := coldly(ctx, b.env, b.tree, q, &out); err != nil {
			return harness.Brief(err.Error()), nil
		}
		ways["cold"] = q.found(out.String())
	}
	var wrong []string
	compared := 0
	for _, way := range slices.Sorted(maps.Keys(ways)) {
		got := ways[way]
		twice := len(got)
		slices.Sort(got)
		got = slices.Compact(got)
		twice -= len(got)
		want := want
		if q.form == firstForm {
			files := 0
			if want, files = amongFiles(want, got); files < 100 {
				wrong = append(wrong, fmt.Sprintf("%s: only %d files", way, files))
			}
		}
		compared = len(want)
		extra, missing := difference(got, want), difference(want, got)
		if len(extra)+len(missing)+twice > 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %d not of ripgrep %q, %d missing %q, %d twice", way, len(extra), clipped(extra), len(missing), clipped(missing), twice))
		}
	}
	if wrong != nil {
		return strings.Join(wrong, "; "), nil
	}
	return fmt.Sprintf("yes, %d", compared), nil
}

// amongFiles returns the lines of want in files that got has lines of, but those
// of the last such file that got lacks: a page may end there.
func amongFiles(want, got []string) (among []string, files int) {
	pathOf := func(line string) string { return line[:strings.LastIndexByte(line, ':')] }
	shown := map[string]int{}
	for _, line := range got {
		shown[pathOf(line)]++
	}
	cut := ""
	for path := range shown {
		if cut == "" || slices.Compare(strings.Split(path, "/"), strings.Split(cut, "/")) > 0 {
			cut = path
		}
	}
	for _, line := range want {
		path := pathOf(line)
		_, has := slices.BinarySearch(got, line)
		if shown[path] > 0 && (has || path != cut) {
			among = append(among, line)
		}
	}
	return among, len(shown)
}

// foundByRipgrep returns the sorted paths, or "path:line" of each matching line,
// in what ripgrep has printed.
func (q searchQuery) foundByRipgrep(out []byte) []string {
	var found []string
	for line := range bytes.Lines(out) {
		text := strings.TrimPrefix(strings.TrimSuffix(string(line), "\n"), "./")
		if q.form == listForm || q.form == filesForm {
			found = append(found, text)
			continue
		}
		if path, rest, ok := strings.Cut(text, "\x00"); ok {
			number, _, _ := strings.Cut(rest, ":")
			found = append(found, path+":"+number)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// pageStatus is the first line of a page that is not the first.
var pageStatus = regexp.MustCompile(`^((files|matches) )?\d+(-\d+)?( of \d+ (files|matches)|, more follow)`)

// found returns the paths, or "path:line" of each matching line, on a page or on
// several that stand one after the other.
func (q searchQuery) found(text string) []string {
	_, text, _ = strings.Cut(text, "\n")
	var found []string
	path := ""
	for line := range strings.SplitSeq(text, "\n") {
		switch m := matchLine.FindStringSubmatch(line); {
		case line == "" || strings.HasPrefix(line, "… ") || pageStatus.MatchString(line):
		case q.form == listForm || q.form == filesForm:
			found = append(found, line)
		case m == nil:
			path = line
		default:
			found = append(found, path+":"+m[1])
		}
	}
	return found
}
