package files_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// hintFile names where a file goes on.
var hintFile = regexp.MustCompile(`; next: read_file offset=(\d+)$`)

// uncutFrom puts back from the content of a file what the mark at the end of a line says is
// left out.
func uncutFrom(t *testing.T, content, line string) string {
	t.Helper()
	m := hintCut.FindStringSubmatch(line)
	if m == nil {
		return line
	}
	at := number(t, m[2])
	return strings.TrimSuffix(line, m[0]) + content[at:at+number(t, m[1])]
}

func TestHintsOfReadFiles(t *testing.T) {
	tree := map[string]string{}
	for i := range 120 {
		size := 30
		switch {
		case i%10 == 3:
			size = 3000
		case i%40 == 7:
			size = 200_000
		}
		var b strings.Builder
		for n := 0; b.Len() < size; n++ {
			fmt.Fprintf(&b, "%d of %d, %s\n", n, i, strings.Repeat("text ", n%40))
		}
		tree[fmt.Sprintf("src/%03d.txt", i)] = b.String()
	}
	tree["src/long.txt"] = strings.Repeat("long ", 30_000) + "\nend\n"
	tree["src/empty.txt"] = ""
	tree["src/bin.dat"] = "\x00\x01"
	many := newCaller(t, "read_files", tree)
	got := map[string][]string{}
	args := map[string]any{"paths": []string{"src/*"}}
	for range 100 {
		text := many.call(args)
		status, rest, _ := strings.Cut(text, "\n")
		for part := range strings.SplitSeq(rest, "\n\n") {
			head, body, _ := strings.Cut(part, "\n")
			name, _, _ := strings.Cut(head, ":")
			lines := []string{}
			for line := range strings.SplitSeq(body, "\n") {
				if m := numbered.FindStringSubmatch(line); m != nil {
					lines = append(lines, uncutFrom(t, tree[name], m[2]))
				}
			}
			if m := hintFile.FindStringSubmatch(head); m != nil {
				all := strings.Split(strings.TrimSuffix(tree[name], "\n"), "\n")
				lines = append(lines, all[number(t, m[1])-1:]...)
			}
			if got[name] != nil {
				t.Errorf("%s comes twice", name)
			}
			got[name] = lines
		}
		m := hintOffset.FindStringSubmatch(status)
		if m == nil {
			break
		}
		args["offset"] = number(t, m[1])
	}
	for name, content := range tree {
		want := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
		if content == "" || strings.HasPrefix(content, "\x00") {
			want = []string{}
		}
		lines, ok := got[name]
		if !ok {
			t.Errorf("%s is not read", name)
			continue
		}
		if all := strings.Join(lines, "\n"); all != strings.Join(want, "\n") {
			t.Errorf("%s: %s", name, apart(all, strings.Join(want, "\n")))
		}
	}
}
