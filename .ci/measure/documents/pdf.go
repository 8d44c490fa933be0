// Package documents has the figures of the tools that read and search documents.
//
// Start at [PDF], [Documents] and [Retrieval]. It imports the harness, and no other figures.
package documents

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"toolcrib/.ci/measure/harness"
)

// PDF reads the PDFs of three Go modules and of the manuals of this system, and compares their
// words with those that pdftotext finds.
func PDF(ctx context.Context, env harness.Environment) error {
	dir, remove, err := harness.Temporary("pdf")
	if err != nil {
		return err
	}
	defer remove()
	program := filepath.Join(dir, "convert")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", program, "./tools/internal/document/pdf/convert")
	if say, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, say)
	}
	modules, err := modulePDFs(ctx)
	if err != nil {
		return err
	}
	manuals, err := findPDFs("/usr/share/doc")
	if err != nil {
		return err
	}
	manuals = slices.DeleteFunc(manuals, func(name string) bool {
		text, err := pdftotext(ctx, name)
		return err != nil || strings.Count(text, "\f") < 10 // pages
	})
	modules = chosen(modules, env.Of(len(modules), 10))
	manuals = chosen(manuals, env.Of(len(manuals), 1))
	failed := []error{firstUse(ctx, env, dir, modules)}
	fmt.Println("| PDFs | files | with text | words F1 | none below | a page, median ms | of the CPU | a file, p99 ms | of the CPU | peak MB | pages cut | errors |\n|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, set := range []struct {
		name         string
		files        []string
		whole        bool
		least, worst float64
	}{
		{"Go modules", modules, false, .94, 0},
		{"Go modules, with headers that repeat", modules, true, .97, .2},
		{"manuals", manuals, false, .97, .2},
		{"manuals, with headers that repeat", manuals, true, .98, .2},
	} {
		if len(set.files) == 0 {
			fmt.Printf("| %s | 0 |\n", set.name)
			continue
		}
		r, err := convert(ctx, program, filepath.Join(dir, "cache"), set.whole, set.files)
		if err != nil {
			return fmt.Errorf("%s: %w", set.name, err)
		}
		if err := r.score(ctx); err != nil {
			return err
		}
		r.print(set.name)
		if err := r.judge(set.least, set.worst, env.Full()); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", set.name, err))
		}
	}
	return errors.Join(failed...)
}

// chosen takes n files that are spread over all.
func chosen(files []string, n int) []string {
	if n >= len(files) {
		return files
	}
	var some []string
	for i := range n {
		some = append(some, files[i*len(files)/n])
	}
	return some
}

// modulePDFs returns the PDFs in the modules, whose other files are not looked at.
func modulePDFs(ctx context.Context) ([]string, error) {
	dirs, err := harness.Modules(ctx, "github.com/pdfcpu/pdfcpu@v0.15.0", "github.com/ledongthuc/pdf@v0.0.0-20260907135840-6c8c28e0e8a0", "github.com/dslipak/pdf@v0.0.2")
	if err != nil {
		return nil, err
	}
	var all []string
	for _, dir := range dirs {
		found, err := findPDFs(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func findPDFs(dir string) (all []string, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && d.Type().IsRegular() && strings.EqualFold(filepath.Ext(name), ".pdf") {
			all = append(all, name)
		}
		return err
	})
	return all, err
}

func pdftotext(ctx context.Context, name string) (string, error) {
	out, err := exec.CommandContext(ctx, "pdftotext", name, "-").Output()
	return string(out), err
}

// report is a line that the converter writes; the last one has no file and its peak memory.
type report struct {
	File, Error, Markdown string
	Pages, Cut            int
	Took, Spent           time.Duration // by the clock, and of the processors
	Peak                  int           // MB
}

type reports struct {
	files  []report
	peak   int
	scores []score
	errors []string
}

type score struct {
	f1   float64
	file string
}

func convert(ctx context.Context, program, cache string, whole bool, files []string) (*reports, error) {
	args := []string{fmt.Sprintf("-whole=%v", whole), cache}
	c := exec.CommandContext(ctx, program, append(args, files...)...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, err
	}
	r := &reports{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var one report
		if err := d.Decode(&one); err != nil {
			return nil, err
		}
		if one.File == "" {
			r.peak = one.Peak
			continue
		}
		r.files = append(r.files, one)
	}
	if len(r.files) != len(files) {
		return nil, fmt.Errorf("%d of %d files have a report", len(r.files), len(files))
	}
	return r, nil
}

// score compares the files in which pdftotext finds some text.
func (r *reports) score(ctx context.Context) error {
	const least = 200 // characters
	for _, f := range r.files {
		text, err := pdftotext(ctx, f.File)
		if f.Error != "" {
			r.errors = append(r.errors, filepath.Base(f.File)+": "+f.Error)
		}
		if err != nil || len(strings.Join(strings.Fields(text), "")) < least {
			continue // it cannot be compared
		}
		r.scores = append(r.scores, score{f1(bag(plain(f.Markdown)), bag(text)), f.File})
	}
	if len(r.scores) == 0 {
		return errors.New("pdftotext finds no text: is it installed?")
	}
	slices.SortFunc(r.scores, func(a, b score) int { return cmp.Compare(a.f1, b.f1) })
	return nil
}

var marks = regexp.MustCompile(`(?m)^\[page \d+.*\]$|\]\([^)\n]*\)|<br>|\\`)

// plain takes what Markdown adds out of a text.
func plain(text string) string {
	return marks.ReplaceAllStringFunc(text, func(mark string) string {
		if mark == `\` {
			return ""
		}
		return " "
	})
}

// bag counts words without case, and characters of scripts without spaces.
func bag(text string) map[string]int {
	words := map[string]int{}
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			words[b.String()]++
			b.Reset()
		}
	}
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			end()
			words[string(r)]++
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			b.WriteRune(unicode.ToLower(r))
		default:
			end()
		}
	}
	end()
	return words
}

func f1(got, want map[string]int) float64 {
	same, all := 0, 0
	for w, n := range got {
		same += min(n, want[w])
		all += n
	}
	for _, n := range want {
		all += n
	}
	return 2 * float64(same) / float64(max(all, 1))
}

func (r *reports) mean() float64 {
	sum := 0.0
	for _, s := range r.scores {
		sum += s.f1
	}
	return sum / float64(len(r.scores))
}

// times returns milliseconds: of a page, the median, and of a file, the 99th of a hundred.
func (r *reports) times(of func(report) time.Duration) (page, file float64) {
	var pages, files []float64
	for _, f := range r.files {
		if f.Pages > 0 {
			pages = append(pages, harness.Milliseconds(of(f))/float64(f.Pages))
			files = append(files, harness.Milliseconds(of(f)))
		}
	}
	slices.Sort(files)
	return harness.Median(pages), files[(len(files)*99-1)/100]
}

func clock(r report) time.Duration { return r.Took }

func processors(r report) time.Duration { return r.Spent }

func (r *reports) cut() (pages int) {
	for _, f := range r.files {
		pages += f.Cut
	}
	return pages
}

func (r *reports) print(name string) {
	page, file := r.times(clock)
	pageCPU, fileCPU := r.times(processors)
	fmt.Printf("| %s | %d | %d | %.3f | %.3f | %.1f | %.1f | %.0f | %.0f | %d | %d | %d |\n",
		name, len(r.files), len(r.scores), r.mean(), r.scores[0].f1, page, pageCPU, file, fileCPU, r.peak, r.cut(), len(r.errors))
	for _, s := range r.scores[:min(3, len(r.scores))] {
		fmt.Printf("  %.3f %s\n", s.f1, filepath.Base(s.file))
	}
	slowest := slices.SortedFunc(slices.Values(r.files), func(a, b report) int { return cmp.Compare(b.Spent, a.Spent) })
	for _, f := range slowest[:min(3, len(slowest))] {
		fmt.Printf("  %.0f ms of the CPU: %s, %d pages\n", harness.Milliseconds(f.Spent), filepath.Base(f.File), f.Pages)
	}
	for _, e := range r.errors {
		fmt.Println("  " + e)
	}
}

// judge takes the smaller one of both times: others take the clock, and what collects memory takes
// processors.
func (r *reports) judge(least, worst float64, full bool) error {
	page, file := r.times(clock)
	pageCPU, fileCPU := r.times(processors)
	page, file = min(page, pageCPU), min(file, fileCPU)
	switch {
	case r.cut() > 0:
		return fmt.Errorf("%d pages are cut", r.cut())
	case !full:
		return nil
	case r.mean() < least || r.scores[0].f1 < worst:
		return fmt.Errorf("words F1 %.3f, the worst %.3f; want %.2f and %.1f", r.mean(), r.scores[0].f1, least, worst)
	case page > 20 || file > 10_000 || r.peak > 300:
		return fmt.Errorf("%.1f ms a page, %.0f ms a file, %d MB; want 20, 10,000 and 300", page, file, r.peak)
	}
	return nil
}

// firstUse takes the time of the first PDF of a server, without compiled code and with it, and of
// the next one.
func firstUse(ctx context.Context, env harness.Environment, dir string, files []string) error {
	const work = "work"
	names := []string{"a.pdf", "b.pdf", "c.pdf"}
	tree := map[string]string{}
	for i, name := range names {
		data, err := os.ReadFile(files[i])
		if err != nil {
			return err
		}
		tree[filepath.Join(work, name)] = string(data)
	}
	if err := harness.WriteTree(dir, tree); err != nil {
		return err
	}
	fmt.Println("| a PDF | ms | of the CPU, with the server | progress |\n|---|---|---|---|")
	var failed []error
	for _, run := range []struct {
		what  []string
		files []string
		most  time.Duration
	}{
		{[]string{"the first of all"}, names[:1], 5 * time.Second},
		{[]string{"the first of a server", "the next one"}, names[1:], 200 * time.Millisecond},
	} {
		said := 0
		c, err := harness.Dial(ctx, func(m harness.Message) {
			if m.Method == "notifications/progress" {
				said++
			}
		}, env.Binary, "--state-dir", filepath.Join(dir, "state"), filepath.Join(dir, work))
		if err != nil {
			return err
		}
		err = c.Initialize()
		var took []time.Duration
		for i, name := range run.files {
			if err != nil {
				break
			}
			start := time.Now()
			_, err = c.Call(i+1, "tools/call", map[string]any{"name": "parse_document", "arguments": map[string]any{"path": name}, "_meta": map[string]any{"progressToken": i}})
			took = append(took, time.Since(start))
		}
		if err := errors.Join(err, c.End()); err != nil {
			return err
		}
		use := c.Cmd.ProcessState
		for i, t := range took {
			fmt.Printf("| %s | %.0f | %.0f | %d |\n", run.what[i], harness.Milliseconds(t), harness.Milliseconds(use.UserTime()+use.SystemTime()), said)
			if env.Full() && t > run.most {
				failed = append(failed, fmt.Errorf("%s takes %v; want %v", run.what[i], t, run.most))
			}
		}
		if i := len(run.files); i == 1 && said == 0 {
			failed = append(failed, errors.New("the first PDF has no progress"))
		}
	}
	return errors.Join(failed...)
}
