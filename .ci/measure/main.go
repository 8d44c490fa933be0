// Command measure takes the figures that the README shows. It drives the built
// binary and its peers from outside, side by side in one run.
//
// Usage: measure NAME [-scale F], by way of .ci/figures. A figure that is not
// reached ends with exit code 1.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// figure takes one figure. Scale 1 is full size; a smaller one is for a quick
// check that the figure can still be taken.
type figure func(ctx context.Context, env environment) error

// environment is where the programs are.
type environment struct {
	Binary string  // toolcrib
	Cache  string  // peers and trees, made by .ci/install
	Scale  float64 // 1 = full size
	Seed   uint64  // of a figure that is to be done again, where it takes one; 0 = a new one
}

// of scales a count, at least to low.
func (e environment) of(full, low int) int { return max(int(float64(full)*e.Scale), low) }

// full reports whether speed and memory are judged: a quick run is too short.
func (e environment) full() bool { return e.Scale >= 1 }

// newSeed is a seed of what is random in a figure, printed so that it can be done again.
func newSeed() uint64 {
	seed := uint64(time.Now().UnixNano())
	fmt.Printf("seed %d\n", seed)
	return seed
}

var figures = map[string]figure{
	"conformance":   conformance,
	"start":         start,
	"calls":         calls,
	"order":         order,
	"garbage":       garbage,
	"escapes":       escapes,
	"vectors":       vectors,
	"glob":          globFigure,
	"grep":          grepFigure,
	"hostile":       hostile,
	"inspector":     inspector,
	"claude":        claude,
	"codex":         codex,
	"gemini":        gemini,
	"sdk":           sdk,
	"kernel":        kernelFigure,
	"load":          load,
	"list":          list,
	"sessions":      sessions,
	"storm":         storm,
	"kills":         kills,
	"faults":        faults,
	"contended":     contended,
	"editcases":     editcases,
	"encodings":     encodingsFigure,
	"readfile":      readfile,
	"writefile":     writefile,
	"naughty":       naughty,
	"roundtrip":     roundtrip,
	"edits":         edits,
	"pages":         pagesFigure,
	"patches":       patches,
	"search":        search,
	"searchfresh":   searchFresh,
	"secrets":       secretsFigure,
	"million":       million,
	"overhead":      overhead,
	"arguments":     arguments,
	"audit":         auditFigure,
	"confirmations": confirmations,
	"tokens":        tokens,
	"principals":    principals,
	"searchtools":   searchTools,
	"sandbox":       sandboxFigure,
	"spawn":         spawnFigure,
	"survivors":     survivors,
	"detached":      detached,
	"floods":        floods,
	"terminals":     terminals,
	"terminalpeers": terminalPeers,
	"work":          work,
	"fuzzed":        fuzzedFigure,
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "serve" { // this program as a server with toy tools
		if err := serveToys(os.Args[2:]); err != nil {
			fail(err)
		}
		return
	}
	if len(os.Args) > 3 && os.Args[1] == "weighed" { // this program as toolcrib, which says what it holds
		fail(runWeighed(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "fixtures" { // this program as toolcrib with what the conformance suite calls
		runFixtures(os.Args[2:])
	}
	if len(os.Args) > 5 && os.Args[1] == "wave" { // this program as the attacker of hostile
		if err := runWave(os.Args[2:]); err != nil {
			fail(err)
		}
		return
	}
	if len(os.Args) > 3 && os.Args[1] == "inject" { // this program as a server that faults can be injected into
		fail(runInjected(os.Args[2:]))
	}
	if len(os.Args) > 4 && os.Args[1] == "audit" { // this program as one that writes an audit log
		fail(writeAudit(os.Args[2:]))
	}
	if len(os.Args) > 3 && os.Args[1] == "without" { // this program in the place of one that lacks something
		fail(runWithout(os.Args[2], os.Args[3:]))
	}
	var env environment
	flag.StringVar(&env.Binary, "binary", "", "the toolcrib to measure")
	flag.StringVar(&env.Cache, "cache", "", "directory of peers and trees")
	flag.Float64Var(&env.Scale, "scale", 1, "size, 1 = full")
	flag.Uint64Var(&env.Seed, "seed", 0, "of fuzzed, to do it again")
	flag.Parse()
	run, ok := figures[flag.Arg(0)]
	if !ok {
		fail(fmt.Errorf("usage: figures NAME, one of %s", strings.Join(slices.Sorted(maps.Keys(figures)), ", ")))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, env); err != nil {
		fail(fmt.Errorf("%s: %w", flag.Arg(0), err))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
