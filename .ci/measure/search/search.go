// Package search has the figures of search: against ripgrep and git, with and without an
// index, and while files change.
//
// Start at [Search]. It imports the harness, and no other figures.
package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"toolcrib/.ci/measure/harness"
)

// searchBench measures the searches of one tree.
type searchBench struct {
	env    harness.Environment
	rg     string // ripgrep
	tree   tree
	missed []string // what was wanted and is not so
}

// Search measures every class of search against ripgrep, each round a run of
// ripgrep, one of the binary and one of a server that runs already, and compares
// what they find.
func Search(ctx context.Context, env harness.Environment) error {
	all, err := searchTrees(ctx, env)
	if err != nil {
		return err
	}
	rg, err := env.Ripgrep()
	if err != nil {
		return err
	}
	var benches []*searchBench
	for _, t := range all {
		b := &searchBench{env: env, rg: rg, tree: t}
		if err := b.coldMemory(ctx); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		benches = append(benches, b)
	}
	var missed []string
	for _, b := range benches {
		if err := b.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", b.tree.name, err)
		}
		missed = append(missed, b.missed...)
	}
	for _, m := range missed {
		fmt.Println("missed:", m)
	}
	if len(missed) > 0 {
		return fmt.Errorf("%d demands are missed", len(missed))
	}
	return nil
}

// want notes a demand that is not met. Those of speed and memory hold at full
// size only.
func (b *searchBench) want(met bool, format string, args ...any) {
	if !met && b.env.Full() {
		b.missed = append(b.missed, b.tree.name+": "+fmt.Sprintf(format, args...))
	}
}

// touched is a file of the tree that is touched before each warm search, so that the
// server has to search again and cannot give the same answer once more.
func (b *searchBench) touched() string { return filepath.Join(b.tree.dir, "measure-touched") }

func (b *searchBench) touch() error {
	now := time.Now()
	return os.Chtimes(b.touched(), now, now)
}

func (b *searchBench) run(ctx context.Context) (err error) {
	if err := os.WriteFile(b.touched(), nil, 0o644); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(b.touched())) }()
	watching, err := b.watching(ctx)
	if err != nil {
		return err
	}
	validating, why := b.validating(ctx)
	fmt.Println("| search | tree | rounds | rg CPU, wall ms | cold CPU to rg (quartiles) | wanted | cold wall | warm CPU to rg (quartiles) | wanted | warm wall | warm by | same found |\n|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, k := range searchClasses() {
		server := watching
		if k.stat {
			if server = validating; server == nil {
				fmt.Printf("| %s | %s | 0 | | | | | | %.2f | | %s | |\n", k.name, b.tree.name, k.warm, why)
				b.want(false, "%s: %s", k.name, why)
				continue
			}
		}
		if err := b.class(ctx, k, server); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	peak, err := harness.PeakResident(watching.Cmd.Process.Pid)
	if err != nil {
		return err
	}
	fmt.Printf("%s: the warm server had at most %.0f MB resident\n", b.tree.name, peak)
	b.want(peak < 256, "the warm server had %.0f MB resident, want less than 256", peak)
	if validating != nil {
		err = validating.Close()
	}
	return errors.Join(err, watching.Close())
}

// class measures one class and prints its row.
func (b *searchBench) class(ctx context.Context, k searchClass, s *searchServer) error {
	// A class that takes very long is cut short, and its row says so.
	const patience = 4 * time.Minute
	q := k.on(b.tree)
	var peer, cold, warm []cost
	var state searchState
	var failed error // of the server: shown in its place
	for begin := time.Now(); len(peer) < b.env.Of(15, 2) && (len(peer) < 2 || time.Since(begin) < patience); {
		c, err := ripgrep(ctx, b.rg, b.tree, q, io.Discard)
		if err != nil {
			return err
		}
		peer = append(peer, c)
		if !k.stat {
			if c, err = coldly(ctx, b.env, b.tree, q, io.Discard); err != nil {
				return err
			}
			cold = append(cold, c)
		}
		if failed == nil {
			if c, state, failed = s.warmly(q, b.touch); failed == nil {
				warm = append(warm, c)
			}
		}
	}
	same, err := b.sameFound(ctx, k, s)
	if err != nil {
		return err
	}
	coldCPU, warmCPU := ratiosOf(cold, peer, cpuOf), ratiosOf(warm, peer, cpuOf)
	warmBy := state.String()
	if failed != nil {
		warmBy = harness.Brief(failed.Error())
	}
	fmt.Printf("| %s | %s | %d | %.0f, %.0f | %s | %s | %s | %s | %s | %s | %s | %s |\n", k.name, b.tree.name, len(peer),
		harness.Milliseconds(harness.Median(valuesOf(peer, cpuOf))), harness.Milliseconds(harness.Median(valuesOf(peer, wallOf))),
		coldCPU, wantedRatio(k.cold[b.tree.name]), ratiosOf(cold, peer, wallOf).middle(),
		warmCPU, wantedRatio(k.warm), ratiosOf(warm, peer, wallOf).middle(), warmBy, same)
	if len(same) < 3 || same[:3] != "yes" {
		b.missed = append(b.missed, fmt.Sprintf("%s: %s: %s", b.tree.name, k.name, same))
	}
	if !k.stat {
		b.want(coldCPU.within(k.cold[b.tree.name]), "%s: cold CPU is %s of ripgrep's, want %.2f", k.name, coldCPU.middle(), k.cold[b.tree.name])
	}
	b.want(warmCPU.within(k.warm), "%s: warm CPU is %s of ripgrep's, want %.2f", k.name, warmCPU.middle(), k.warm)
	b.want(!k.stat || state.Freshness == "stat", "%s: the server answers by %s", k.name, state)
	if k.name == "rare literal" {
		wall := ratiosOf(warm, peer, wallOf)
		b.want(wall.within(1.0/50), "%s: the warm answer takes %s of ripgrep's time, want 1/50", k.name, wall.middle())
	}
	return nil
}

func cpuOf(c cost) time.Duration  { return c.cpu }
func wallOf(c cost) time.Duration { return c.wall }

func valuesOf(costs []cost, of func(cost) time.Duration) []time.Duration {
	var values []time.Duration
	for _, c := range costs {
		values = append(values, of(c))
	}
	return values
}

// ratios are those of the rounds, sorted.
type ratios []float64

// ratiosOf divides round by round, so that what slows the machine slows both.
func ratiosOf(ours, peer []cost, of func(cost) time.Duration) ratios {
	var r ratios
	for i := range ours {
		r = append(r, float64(of(ours[i]))/float64(of(peer[i])))
	}
	slices.Sort(r)
	return r
}

func (r ratios) within(wanted float64) bool { return len(r) > 0 && harness.Median(r) <= wanted }

// middle is the median.
func (r ratios) middle() string {
	if len(r) == 0 {
		return ""
	}
	return ratio(harness.Median(r))
}

func (r ratios) String() string {
	if len(r) == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%s-%s)", r.middle(), ratio(r[len(r)/4]), ratio(r[3*len(r)/4]))
}

// ratio shows two digits that count.
func ratio(r float64) string {
	switch {
	case r >= 0.1:
		return fmt.Sprintf("%.2f", r)
	case r >= 0.01:
		return fmt.Sprintf("%.3f", r)
	default:
		return fmt.Sprintf("%.5f", r)
	}
}

func wantedRatio(r float64) string {
	if r == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", r)
}
