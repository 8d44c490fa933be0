package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
)

// freshTree is a small tree that changes under a running server.
type freshTree struct {
	tree
	rg     string
	random *rand.Rand
	server *searchServer

	asked, stale, wrong int
	held                int            // answers that came from what the server holds
	by                  map[string]int // answers by what the server says of them
	samples             []string
}

// Fresh changes a tree in random ways and asks a running server at once. Each
// answer is held to a scan of all files by the same server, and to ripgrep.
func Fresh(ctx context.Context, env harness.Environment) error {
	rg, err := env.Ripgrep()
	if err != nil {
		return err
	}
	base, dir, err := env.Scratch("fresh")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	f := &freshTree{tree: tree{"changed", filepath.Join(dir, "changed")}, rg: rg, random: rand.New(rand.NewPCG(harness.NewSeed(), 0)), by: map[string]int{}}
	if err := f.plant(ctx); err != nil {
		return err
	}
	fmt.Print("| tree | changes | answers | stale or missed | not what ripgrep finds | answers by |\n|---|---|---|---|---|---|\n")
	changed := f.whileChanged(ctx, env)
	if err := f.report("changes at random", env.Of(10_000, 200)); err != nil {
		return errors.Join(changed, err)
	}
	if changed != nil {
		return changed
	}
	switched := &freshTree{tree: tree{"switched", filepath.Join(dir, "switched")}, rg: rg, random: f.random, by: map[string]int{}}
	rounds := env.Of(40, 4)
	if err := switched.releases(ctx); err != nil {
		return err
	}
	if err := switched.whileSwitched(ctx, env, rounds); err != nil {
		return err
	}
	return switched.report("git checkout between two releases of Hugo", rounds)
}

// report prints the row of the tree and judges it.
func (f *freshTree) report(what string, changes int) error {
	var by []string
	for state, n := range f.by {
		by = append(by, fmt.Sprintf("%s: %d", state, n))
	}
	slices.Sort(by)
	fmt.Printf("| %s | %d | %d | %d | %d | %s |\n", what, changes, f.asked, f.stale, f.wrong, strings.Join(by, "; "))
	for _, s := range f.samples {
		fmt.Println(s)
	}
	switch {
	case f.stale+f.wrong > 0:
		return fmt.Errorf("%s: %d stale or missed, %d not as ripgrep", what, f.stale, f.wrong)
	case f.held < f.asked*9/10:
		return fmt.Errorf("%s: only %d of %d answers came from what the server holds: nothing is proved", what, f.held, f.asked)
	}
	return nil
}

// whileChanged makes the changes, a few at a time, and asks after each few.
func (f *freshTree) whileChanged(ctx context.Context, env harness.Environment) error {
	if err := f.serve(ctx, env); err != nil {
		return err
	}
	for made, n := 0, env.Of(10_000, 200); made < n; {
		var done []string
		for range 1 + f.random.IntN(3)*f.random.IntN(3) {
			what, err := f.change(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			done = append(done, what)
			made++
		}
		if f.random.IntN(8) == 0 { // so that the server is met at each point of its own work
			time.Sleep(time.Duration(f.random.IntN(20_000)) * time.Microsecond)
		}
		if err := f.ask(ctx, f.query(), strings.Join(done, ", ")); err != nil {
			return err
		}
	}
	return f.server.Close()
}

// whileSwitched goes from one release to the other and asks several things each time.
func (f *freshTree) whileSwitched(ctx context.Context, env harness.Environment, rounds int) error {
	if err := f.serve(ctx, env); err != nil {
		return err
	}
	for i := range rounds {
		if _, err := git(ctx, f.dir, "checkout", "-q", []string{"old", "new"}[i%2]); err != nil {
			return err
		}
		for _, q := range []searchQuery{
			{pattern: "CurrentVersion"}, {pattern: "deprecat", fold: true, form: filesForm}, {pattern: `func \w+Template\w*\(`},
			{pattern: `\bimages\b`}, {pattern: "**", form: listForm}, {pattern: "**/*_test.go", form: listForm},
		} {
			if err := f.ask(ctx, q, "git checkout"); err != nil {
				return err
			}
		}
	}
	return f.server.Close()
}

// serve starts the server and lets it build what it holds.
func (f *freshTree) serve(ctx context.Context, env harness.Environment) error {
	p := env.Toolcrib(f.dir)
	s, err := serveSearch(exec.CommandContext(ctx, p.Args[0], p.Args[1:]...))
	if err != nil {
		return err
	}
	f.server = s
	if _, err := s.page(searchQuery{pattern: "return"}.call()); err != nil {
		return err
	}
	_, err = s.settle(ctx)
	return err
}

// ask makes one search and compares what is found, text and all.
func (f *freshTree) ask(ctx context.Context, q searchQuery, after string) error {
	got, state, err := f.body(q)
	if err != nil {
		return fmt.Errorf("%+v: %w", q, err)
	}
	f.asked++
	f.by[state.String()]++
	if state.ready() {
		f.held++
	}
	scanned := q
	scanned.fresh = true
	want, state, err := f.body(scanned)
	if err != nil {
		return fmt.Errorf("%+v: %w", scanned, err)
	}
	if state.ready() {
		return fmt.Errorf("an answer that is to be a scan is by %s", state)
	}
	if got != want {
		f.stale++
		held, scanned := sortedLines(got), sortedLines(want)
		f.sample("after %s, %+v: the server alone has %q, a scan alone %q", after, q, clipped(difference(held, scanned)), clipped(difference(scanned, held)))
	}
	found := q.found("\n" + got)
	peer, err := f.ripgrepped(ctx, q)
	if err != nil {
		return err
	}
	slices.Sort(found)
	if extra, missing := difference(found, peer), difference(peer, found); len(extra)+len(missing) > 0 {
		f.wrong++
		f.sample("after %s, %+v: ripgrep lacks %q and also has %q", after, q, clipped(extra), clipped(missing))
	}
	return nil
}

func sortedLines(text string) []string { return slices.Sorted(strings.SplitSeq(text, "\n")) }

// ripgrepped is what ripgrep finds. Its globs bring back what rules ignore: of a list
// it is asked for all files, and the names are chosen here.
func (f *freshTree) ripgrepped(ctx context.Context, q searchQuery) ([]string, error) {
	asked := q
	if q.form == listForm {
		asked.pattern = "**"
	}
	var out bytes.Buffer
	if _, err := ripgrep(ctx, f.rg, f.tree, asked, &out); err != nil {
		return nil, err
	}
	found := asked.foundByRipgrep(out.Bytes())
	if q.form != listForm {
		return found, nil
	}
	return slices.DeleteFunc(found, func(name string) bool {
		matched, err := path.Match(strings.TrimPrefix(q.pattern, "**/"), path.Base(name))
		return err != nil || !matched
	}), nil
}

// body is what a search finds, all pages, without their status lines.
func (f *freshTree) body(q searchQuery) (string, searchState, error) {
	var b strings.Builder
	state, err := f.server.pages(q, func(page string) {
		_, body, _ := strings.Cut(page, "\n")
		b.WriteString(body)
	})
	return b.String(), state, err
}

func (f *freshTree) sample(format string, args ...any) {
	if len(f.samples) < 10 {
		f.samples = append(f.samples, "- "+fmt.Sprintf(format, args...))
	}
}

// query is a search at random. Most are for a word that few files have.
func (f *freshTree) query() searchQuery {
	word := freshWord(f.random)
	switch f.random.IntN(10) {
	case 0:
		return searchQuery{pattern: "**", form: listForm}
	case 1:
		return searchQuery{pattern: "**/*.go", form: listForm}
	case 2:
		return searchQuery{pattern: word, form: filesForm}
	case 3:
		return searchQuery{pattern: strings.ToUpper(word), fold: true}
	case 4:
		return searchQuery{pattern: word + `\s+` + freshWord(f.random)[:3]}
	case 5:
		return searchQuery{pattern: word + "|" + freshWord(f.random)}
	case 6:
		return searchQuery{pattern: "func Test", form: filesForm}
	case 7:
		return searchQuery{pattern: word + `.*\n.*` + freshWord(f.random)[:2], multi: true}
	default:
		return searchQuery{pattern: word}
	}
}
