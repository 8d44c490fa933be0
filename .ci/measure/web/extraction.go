// Package web has the figures of the tools that read the web.
//
// Start at [Web] and [Extraction]. It imports the harness, and no other figures.
package web

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"toolcrib/.ci/measure/harness"
)

// page is a page with what toolcrib makes of it.
type page struct {
	Set     string // one of the constants, or a kind of the own set
	Name    string
	HTML    string // as toolcrib decodes it, so that all extract from the same characters
	Gold    string // of the own set
	Text    string // Markdown
	Seconds float64
}

// extractor is one that is compared.
type extractor struct {
	name    string
	texts   map[string]string // by name of the page
	seconds float64
}

// openSet is the directory of scrapinghub/article-extraction-benchmark below the cache.
const openSet = "sets/article-extraction-benchmark"

// What must be reached: the F1 on the open set, how far above go-readability on pages of
// other kinds, and the share of its time.
const (
	leastOpen  = 0.972
	leastAbove = 0.03
	mostTime   = 0.7
)

// Extraction scores the main text of pages beside go-readability and, at full size,
// readability.js.
func Extraction(ctx context.Context, env harness.Environment) error {
	dir, remove, err := harness.Temporary("extraction")
	if err != nil {
		return err
	}
	defer remove()
	pages, err := ownPages(ctx, env, dir)
	if err != nil {
		return err
	}
	gold, err := goldOf(env, pages)
	if err != nil {
		return err
	}
	own := extractor{name: "toolcrib", texts: map[string]string{}}
	empty := 0
	for _, p := range pages {
		own.texts[p.Name] = withoutMarks(p.Text)
		own.seconds += p.Seconds
		if strings.TrimSpace(p.Text) == "" {
			fmt.Println("empty:", p.Set, p.Name)
			empty++
		}
	}
	peer, err := goReadability(ctx, dir, pages)
	if err != nil {
		return err
	}
	all := []extractor{own, peer}
	if env.Full() {
		js, err := readabilityJS(ctx, env, dir, pages)
		if err != nil {
			return err
		}
		all = append(all, js)
	}
	scores := printScores(all, pages, gold)
	share := own.seconds / peer.seconds
	fmt.Printf("%d pages, %d empty; time after parsing %.2f of go-readability's\n", len(pages), empty, share)
	var errs []error
	if empty > 0 {
		errs = append(errs, fmt.Errorf("%d pages are empty", empty))
	}
	if open, ok := scores["toolcrib"][openPages]; ok && open < leastOpen {
		errs = append(errs, fmt.Errorf("F1 on the open set is %.4f, below %.3f", open, leastOpen))
	}
	if above := scores["toolcrib"]["other"] - scores["go-readability"]["other"]; above < leastAbove {
		errs = append(errs, fmt.Errorf("F1 on other kinds is %.3f above go-readability's, not %.2f", above, leastAbove))
	}
	if env.Full() && share > mostTime {
		errs = append(errs, fmt.Errorf("time is %.2f of go-readability's, above %.1f", share, mostTime))
	}
	return errors.Join(errs...)
}

// ownPages has toolcrib extract both sets. The open one may be missing in a quick run.
func ownPages(ctx context.Context, env harness.Environment, dir string) ([]page, error) {
	vars := []string{"TOOLCRIB_EXTRACTED=" + filepath.Join(dir, "pages.json")}
	open := filepath.Join(env.Cache, openSet, "html")
	if _, err := os.Stat(open); err == nil {
		vars = append(vars, "TOOLCRIB_EXTRACTION="+open)
	} else if env.Full() {
		return nil, fmt.Errorf("%s of scrapinghub/article-extraction-benchmark is missing", open)
	} else {
		fmt.Println("the open set is missing: only the own set is taken")
	}
	held := heldOut()
	vars = append(vars, "TOOLCRIB_HELD_OUT="+strings.Join(slices.Sorted(maps.Keys(held)), string(filepath.ListSeparator)))
	if err := harness.Suite(ctx, vars, "./tools/web/internal/page", "^TestExtraction$", regexp.MustCompile(`extracted`)); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(dir, "pages.json"))
	if err != nil {
		return nil, err
	}
	var pages []page
	if err := json.Unmarshal(data, &pages); err != nil {
		return nil, err
	}
	for i, p := range pages {
		if p.Set != heldOutSet {
			continue
		}
		if pages[i].Gold, err = held[p.Name].of(p.HTML); err != nil {
			fmt.Printf("left out: %s: %v\n", p.Name, err)
		}
	}
	return slices.DeleteFunc(pages, func(p page) bool { return p.Set == heldOutSet && p.Gold == "" }), nil
}

// goldOf returns the text that is wanted of each page.
func goldOf(env harness.Environment, pages []page) (map[string]string, error) {
	gold := map[string]string{}
	var open map[string]struct {
		ArticleBody string `json:"articleBody"`
	}
	for _, p := range pages {
		if p.Set != openPages {
			gold[p.Name] = p.Gold
			continue
		}
		if open == nil {
			data, err := os.ReadFile(filepath.Join(env.Cache, openSet, "ground-truth.json"))
			if err != nil {
				return nil, err
			}
			if err := json.Unmarshal(data, &open); err != nil {
				return nil, err
			}
		}
		truth, ok := open[p.Name]
		if !ok {
			return nil, fmt.Errorf("no truth about %s", p.Name)
		}
		gold[p.Name] = truth.ArticleBody
	}
	return gold, nil
}

// goReadability builds the peer, a module of its own.
func goReadability(ctx context.Context, dir string, pages []page) (extractor, error) {
	program := filepath.Join(dir, "goreadability")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", program, ".")
	build.Dir = filepath.Join(".ci", "measure", "web", "goreadability")
	if out, err := build.CombinedOutput(); err != nil {
		return extractor{}, fmt.Errorf("%w: %s", err, out)
	}
	out, err := exec.CommandContext(ctx, program, filepath.Join(dir, "pages.json")).Output()
	if err != nil {
		return extractor{}, err
	}
	return peerOf("go-readability", out, pages)
}

// peerOf reads what a peer has printed.
func peerOf(name string, out []byte, pages []page) (extractor, error) {
	e := extractor{name: name, texts: map[string]string{}}
	var results map[string]struct {
		HTML    string
		Seconds float64
	}
	if err := json.Unmarshal(out, &results); err != nil {
		return e, err
	}
	for _, p := range pages {
		doc, err := html.Parse(strings.NewReader(results[p.Name].HTML))
		if err != nil {
			return e, err
		}
		e.texts[p.Name] = textOf(doc)
		e.seconds += results[p.Name].Seconds
	}
	return e, nil
}

// textOf returns the text below a node, with elements of block level on lines of their own.
func textOf(root *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
			return
		}
		inline := false
		switch n.DataAtom {
		case atom.Script, atom.Style, atom.Noscript, atom.Template:
			return
		case atom.A, atom.Abbr, atom.B, atom.Code, atom.Em, atom.Font, atom.I, atom.Mark, atom.Q, atom.S, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.U, atom.Wbr:
			inline = true
		}
		if !inline {
			b.WriteByte('\n')
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
		if !inline {
			b.WriteByte('\n')
		}
	}
	walk(root)
	return b.String()
}

//go:embed readability.mjs
var readabilityScript []byte

func readabilityJS(ctx context.Context, env harness.Environment, dir string, pages []page) (extractor, error) {
	scripts, err := os.MkdirTemp(filepath.Join(env.Cache, "npm"), "scripts") // where node finds the packages
	if err != nil {
		return extractor{}, err
	}
	defer os.RemoveAll(scripts)
	script := filepath.Join(scripts, "readability.mjs")
	if err := os.WriteFile(script, readabilityScript, 0o600); err != nil {
		return extractor{}, err
	}
	out, err := env.Node(ctx, dir, nil, script, filepath.Join(dir, "pages.json"))
	if err != nil {
		return extractor{}, err
	}
	return peerOf("readability.js", []byte(out), pages)
}

// printScores prints a line for each set, and returns the F1 by extractor and set. The set
// other is the own one.
func printScores(all []extractor, pages []page, gold map[string]string) map[string]map[string]float64 {
	scores := map[string]map[string]float64{}
	sets := map[string][]page{}
	for _, p := range pages {
		sets[p.Set] = append(sets[p.Set], p)
		if p.Set != openPages && p.Set != heldOutSet && p.Set != writtenSet {
			sets["other"] = append(sets["other"], p)
		}
	}
	for _, e := range all {
		scores[e.name] = map[string]float64{}
		for set, of := range sets {
			var precision, recall float64
			for _, p := range of {
				pr, rc := match(gold[p.Name], e.texts[p.Name])
				precision, recall = precision+pr/float64(len(of)), recall+rc/float64(len(of))
			}
			scores[e.name][set] = 2 * precision * recall / max(precision+recall, 1e-9)
		}
	}
	fmt.Printf("| set | pages |")
	for _, e := range all {
		fmt.Printf(" %s |", e.name)
	}
	fmt.Printf("\n|---|---|%s\n", strings.Repeat("---|", len(all)))
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		fmt.Printf("| %s | %d |", set, len(sets[set]))
		for _, e := range all {
			fmt.Printf(" %.4f |", scores[e.name][set])
		}
		fmt.Println()
	}
	fmt.Printf("| seconds after parsing | |")
	for _, e := range all {
		fmt.Printf(" %.3f |", e.seconds)
	}
	fmt.Println()
	return scores
}
