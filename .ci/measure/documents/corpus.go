package documents

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
)

//go:embed corpus.py
var corpusScript string

// wanted is what a reader must find in a file.
type wanted struct {
	Words     string     `json:"words"`
	Rows      [][]string `json:"rows"`
	Order     []string   `json:"order"`
	Forbidden []string   `json:"forbidden"`
}

// found is what a reader has found in files.
type found struct {
	files, failed        int
	words, allWords      int
	rows, lines, allRows int
	order, allOrder      int
	forbidden            int
	took                 []float64 // ms
}

// peer reads a file. An error that is errCannot says that it does not know the format.
type peer struct {
	name string
	read func(ctx context.Context, file string) (string, error)
}

var errCannot = errors.New("it does not read this format")

// Documents reads files of all formats, made by LibreOffice, pandoc, python-docx and openpyxl
// and by hand, and compares what is found in them with what is there, beside other programs.
func Documents(ctx context.Context, env harness.Environment) error {
	dir, remove, err := harness.Temporary("documents")
	if err != nil {
		return err
	}
	defer remove()
	files := filepath.Join(dir, "files")
	script := exec.CommandContext(ctx, "/usr/bin/python3", "-", files, fmt.Sprint(env.Of(8, 1)))
	script.Stdin = strings.NewReader(corpusScript)
	if say, err := script.CombinedOutput(); err != nil {
		return fmt.Errorf("making the files: %w: %s", err, say)
	}
	text, err := os.ReadFile(filepath.Join(files, "expected.json"))
	if err != nil {
		return err
	}
	expected := map[string]wanted{}
	if err := json.Unmarshal(text, &expected); err != nil {
		return err
	}
	peers := []peer{
		{"toolcrib", func(ctx context.Context, file string) (string, error) { return parse(ctx, env, dir, file) }},
		{"anydoc", func(ctx context.Context, file string) (string, error) {
			if slices.Contains([]string{".html", ".ipynb", ".eml", ".rss", ".zip", ".tsv"}, filepath.Ext(file)) {
				return "", errCannot
			}
			return env.Node(ctx, files, nil, env.NPM("@firecrawl/anydoc/cli.js"), file)
		}},
		{"pandoc, poppler, catdoc", others},
	}
	fmt.Println("| format | program | files | failed | words | rows as Markdown | rows on a line | order | forbidden | median ms |\n|---|---|---|---|---|---|---|---|---|---|")
	sum := map[string]*found{}
	var missed []error
	for _, format := range formats(expected) {
		for _, p := range peers {
			f := &found{}
			for _, name := range slices.Sorted(maps.Keys(expected)) {
				if filepath.Ext(name) != format {
					continue
				}
				start := time.Now()
				text, err := p.read(ctx, filepath.Join(files, name))
				took := harness.Milliseconds(time.Since(start))
				switch {
				case errors.Is(err, errCannot):
				case err != nil:
					fmt.Printf("  %s: %s: %.200v\n", p.name, name, err)
					f.failed++
					f.judge("", expected[name], took)
				default:
					f.judge(text, expected[name], took)
				}
			}
			if f.files > 0 {
				f.print(format[1:], p.name)
			}
			if sum[p.name] == nil {
				sum[p.name] = &found{}
			}
			sum[p.name].add(f)
			if p.name == "toolcrib" {
				missed = append(missed, f.check(format))
			}
		}
	}
	for _, p := range peers {
		sum[p.name].print("all that it reads", p.name)
	}
	ours := sum["toolcrib"]
	if ours.failed > 0 || share(ours.words, ours.allWords) < .98 {
		missed = append(missed, fmt.Errorf("%d files failed, words %.3f; want 0 and .98", ours.failed, share(ours.words, ours.allWords)))
	}
	for _, p := range peers[1:] {
		if theirs := sum[p.name]; share(theirs.words, theirs.allWords)+share(theirs.rows, theirs.allRows) > share(ours.words, ours.allWords)+share(ours.rows, ours.allRows) {
			missed = append(missed, fmt.Errorf("%s is ahead in words and rows", p.name))
		}
	}
	return errors.Join(missed...)
}

func formats(expected map[string]wanted) []string {
	seen := map[string]bool{}
	for name := range expected {
		seen[filepath.Ext(name)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

var nextPart = regexp.MustCompile(`; next: offset=(\d+)`)

// parse reads a file by parse_document, part by part.
func parse(ctx context.Context, env harness.Environment, dir, file string) (string, error) {
	var all strings.Builder
	for offset := "0"; ; {
		args := []string{"call", "--state-dir", filepath.Join(dir, "state"), "parse_document", "path=" + filepath.Base(file), "offset=" + offset, "limit=45000", filepath.Dir(file)}
		out, err := exec.CommandContext(ctx, env.Binary, args...).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
		head, body, _ := strings.Cut(string(out), "\n\n")
		all.WriteString(body)
		m := nextPart.FindStringSubmatch(head)
		if m == nil {
			return all.String(), nil
		}
		offset = m[1]
	}
}

// others reads a file by the program of the system that knows its format.
func others(ctx context.Context, file string) (string, error) {
	var args []string
	switch filepath.Ext(file) {
	case ".docx", ".odt", ".epub", ".rtf", ".html", ".ipynb", ".csv":
		args = []string{"pandoc", "-t", "gfm", "--wrap=none", file}
	case ".pdf":
		args = []string{"pdftotext", "-layout", file, "-"}
	case ".doc":
		args = []string{"catdoc", "-w", "-d", "utf-8", file}
	case ".xls":
		args = []string{"xls2csv", "-d", "utf-8", file}
	case ".ppt":
		args = []string{"catppt", "-d", "utf-8", file}
	default:
		return "", errCannot
	}
	out, err := exec.CommandContext(ctx, args[0], args[1:]...).Output()
	return string(out), err
}

// judge compares the text of a file with what is in it.
func (f *found) judge(text string, want wanted, took float64) {
	f.files++
	f.took = append(f.took, took)
	text = html.UnescapeString(text)
	got := bag(plain(text))
	for word, n := range bag(want.Words) {
		f.words += min(n, got[word])
		f.allWords += n
	}
	markdown, lines := map[string]int{}, strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = clean(line)
		if cells, ok := strings.CutPrefix(strings.TrimSpace(line), "|"); ok {
			markdown[row(strings.Split(strings.TrimSuffix(strings.TrimSpace(cells), "|"), "|"))]++
		}
	}
	for _, r := range want.Rows {
		f.allRows++
		if key := row(r); markdown[key] > 0 {
			markdown[key]--
			f.rows++
		}
		if slices.ContainsFunc(lines, func(line string) bool { return inOrder(line, r) }) {
			f.lines++
		}
	}
	whole, at := strings.Join(lines, " "), 0
	for _, mark := range want.Order {
		f.allOrder++
		if i := strings.Index(whole[at:], clean(mark)); i >= 0 {
			f.order++
			at += i
		}
	}
	for _, bad := range want.Forbidden {
		if strings.Contains(text, bad) {
			f.forbidden++
		}
	}
}

var between = regexp.MustCompile(`[^\pL\pN\pM]+`)

// clean leaves the words of a line, with one space between.
func clean(line string) string {
	return strings.TrimSpace(between.ReplaceAllString(line, " "))
}

// row is a row of a table without empty cells at its end.
func row(cells []string) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString(clean(c) + "|")
	}
	return strings.TrimRight(b.String(), "|")
}

// inOrder reports whether a line has the cells one after the other.
func inOrder(line string, cells []string) bool {
	for _, c := range cells {
		i := strings.Index(line, clean(c))
		if i < 0 {
			return false
		}
		line = line[i+len(clean(c)):]
	}
	return true
}

func (f *found) add(g *found) {
	f.files, f.failed = f.files+g.files, f.failed+g.failed
	f.words, f.allWords = f.words+g.words, f.allWords+g.allWords
	f.rows, f.lines, f.allRows = f.rows+g.rows, f.lines+g.lines, f.allRows+g.allRows
	f.order, f.allOrder, f.forbidden = f.order+g.order, f.allOrder+g.allOrder, f.forbidden+g.forbidden
	f.took = append(f.took, g.took...)
}

func share(n, all int) float64 {
	if all == 0 {
		return 1
	}
	return float64(n) / float64(all)
}

func (f *found) print(format, program string) {
	fmt.Printf("| %s | %s | %d | %d | %.3f | %.2f | %.2f | %.2f | %d | %.0f |\n", format, program, f.files, f.failed,
		share(f.words, f.allWords), share(f.rows, f.allRows), share(f.lines, f.allRows), share(f.order, f.allOrder), f.forbidden, harness.Median(f.took))
}

// check says which figure of a format is missed.
func (f *found) check(format string) error {
	least := 1.0
	switch format {
	case ".pdf":
		least = .9
	case ".doc", ".xls", ".ppt", ".rtf", ".zip", ".ipynb":
		least = 0 // as far as text goes
	}
	if f.forbidden > 0 {
		return fmt.Errorf("%s: %d forbidden texts", format[1:], f.forbidden)
	}
	if rows := share(f.rows, f.allRows); rows < least {
		return fmt.Errorf("%s: %.2f of the rows are rows of Markdown; want %.2f", format[1:], rows, least)
	}
	if lines := share(f.lines, f.allRows); lines < .97 {
		return fmt.Errorf("%s: %.2f of the rows are whole on a line; want .97", format[1:], lines)
	}
	return nil
}
