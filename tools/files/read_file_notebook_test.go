package files_test

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"toolcrib/tools/internal/tooltest"
)

func TestReadFileNotebook(t *testing.T) {
	tooltest.Unraced(t)
	picture := base64.StdEncoding.EncodeToString([]byte(encoded(t, "png", quarters(64, 32))))
	large := base64.StdEncoding.EncodeToString([]byte(encoded(t, "png", quarters(2000, 1000))))
	show := func(data map[string]any) map[string]any {
		return map[string]any{"output_type": "display_data", "data": data}
	}
	tree := map[string]string{
		"a.ipynb": book(t,
			map[string]any{"cell_type": "markdown", "source": []string{"# Title\n", "text"}},
			code([]string{"import x\n", "x.run()\n"},
				map[string]any{"output_type": "stream", "name": "stdout", "text": "\x1b[32mgreen\x1b[0m\n10%\r100%\n"},
				map[string]any{"output_type": "execute_result", "data": map[string]any{"text/html": "<table>", "text/plain": []string{"   a\n", "0  1"}}},
				map[string]any{"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": []string{"\x1b[0;31mTraceback\x1b[0m", "ValueError: bad"}},
				show(map[string]any{"image/png": picture + "\n", "text/plain": "<Figure>"}),
				show(map[string]any{"image/png": large}),
				show(map[string]any{"image/png": "no base64!"}),
				show(map[string]any{"application/json": map[string]any{"k": 1}}),
				show(map[string]any{"application/x-widget": "w"}),
			),
			map[string]any{"cell_type": "raw", "source": "zero\u200bwidth"},
		),
		"empty.ipynb":  book(t),
		"other.json":   `{"cells": 3, "nbformat": 4}` + "\n",
		"old.ipynb":    `{"worksheets": [], "nbformat": 3, "metadata": {}}` + "\n",
		"broken.ipynb": `{"cells": [], "nbformat": 4` + "\n",
		"name.txt":     book(t, code("1")),
	}
	r := newCaller(t, "read_file", tree)
	const edits = "; edits are of the raw JSON, which encoding=utf-8 or byte_offset shows"
	for _, c := range []struct {
		args  map[string]any
		want  string
		media int
	}{
		{map[string]any{"path": "a.ipynb"}, "a.ipynb: notebook, nbformat 4.5, python, 3 cells; lines 1-28 of 28 as rendered, … kB, hash …; shown as escapes: 1 U+200B" + edits + `
--- cell 1, markdown ---
# Title
text
--- cell 2, code, run 7 ---
import x
x.run()
--- output, stdout ---
green
100%
--- output ---
   a
0  1
--- output, error ---
Traceback
ValueError: bad
--- output ---
[image/png, 64x32: image 1 of this result]
<Figure>
--- output ---
[image/png, 2000x1000: image 2 of this result, shown scaled to 1568x784, image/png]
--- output ---
[image/png, not shown: it is not base64]
--- output ---
{"k":1}
--- output ---
[not shown: application/x-widget]
--- cell 3, raw ---
zero\u{200b}width`, 2},
		{map[string]any{"path": "a.ipynb", "offset": 4, "limit": 2}, "a.ipynb: notebook, …; lines 4-5 of …; next: offset=6\n--- cell 2, code, run 7 ---\nimport x", 0},
		{map[string]any{"path": "a.ipynb", "offset": -1}, "a.ipynb: notebook, …\nzero…", 0},
		{map[string]any{"path": "a.ipynb", "offset": 99}, "a.ipynb: offset=99 is past the end: …", 0},
		{map[string]any{"path": "a.ipynb", "encoding": "utf-8", "limit": 1}, "a.ipynb: line 1 of …; utf-8, LF, …; next: offset=2\n1\t{", 0},
		{map[string]any{"path": "a.ipynb", "byte_offset": 0, "byte_limit": 2}, "a.ipynb: bytes 0-1 of …; next: byte_offset=2\n{\n", 0},
		{map[string]any{"path": "empty.ipynb"}, "empty.ipynb: notebook, nbformat 4.5, python, 0 cells; …" + edits, 0},
		{map[string]any{"path": "other.json"}, "other.json: line 1 of 1; …\n1\t{…", 0},
		{map[string]any{"path": "old.ipynb"}, "old.ipynb: line 1 of 1; …\n1\t{…", 0},
		{map[string]any{"path": "broken.ipynb"}, "broken.ipynb: line 1 of 1; …\n1\t{…", 0},
		{map[string]any{"path": "name.txt"}, "name.txt: notebook, …1 cell; lines 1-2 of 2 as rendered, …\n--- cell 1, code, run 7 ---\n1", 0},
	} {
		text, blocks := r.blocks(c.args)
		if diff := tooltest.Match(c.want, text); diff != "" {
			t.Errorf("%v: %s", c.args, diff)
		}
		if len(blocks) != c.media {
			t.Errorf("%v: %d images, want %d", c.args, len(blocks), c.media)
		}
	}
}

// Of many images four come with a result, and the line of each other one says how
// to get it. All pages put together have every line.
func TestReadFileNotebookPages(t *testing.T) {
	picture := base64.StdEncoding.EncodeToString([]byte(encoded(t, "png", quarters(64, 32))))
	var cells []map[string]any
	var want []string
	for i := range 12 {
		text := fmt.Sprintf("cell %d %s", i, strings.Repeat("long ", 300*i))
		cells = append(cells, code(text+"\nend", map[string]any{"output_type": "display_data", "data": map[string]any{"image/png": picture}}))
		want = append(want, text, "end")
	}
	r := newCaller(t, "read_file", map[string]string{"b.ipynb": book(t, cells...)})
	elsewhere := regexp.MustCompile(`^\[image/png, not shown here: offset=(\d+) limit=1 shows it\]$`)
	var got []string
	images := 0
	args := map[string]any{"path": "b.ipynb", "limit": 40}
	for {
		text, blocks := r.blocks(args)
		if images += len(blocks); len(blocks) > 4 {
			t.Errorf("%d images in a result", len(blocks))
		}
		status, body, _ := strings.Cut(text, "\n")
		rest := ""
		for line := range strings.SplitSeq(body, "\n") {
			if m := elsewhere.FindStringSubmatch(line); m != nil {
				_, one := r.blocks(map[string]any{"path": "b.ipynb", "offset": number(t, m[1]), "limit": 1})
				images += len(one)
			}
			if strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "[") {
				continue
			}
			if head, cut := strings.CutSuffix(line, "…"); cut {
				rest += head
				continue
			}
			got = append(got, rest+line)
			rest = ""
		}
		m := hintOffset.FindStringSubmatch(status)
		if m == nil {
			break
		}
		args["offset"] = number(t, m[1])
	}
	if images != 12 {
		t.Errorf("%d images in all, want 12", images)
	}
	if all := strings.Join(got, "\n"); all != strings.Join(want, "\n") {
		t.Error(apart(all, strings.Join(want, "\n")))
	}
}
