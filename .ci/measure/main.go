// Command measure takes the figures that "toolcrib help benchmarks" shows. It drives
// the built binary and its peers from outside, side by side in one run.
//
// Usage: measure NAME [-scale F], by way of .ci/figures. A figure that is not
// reached ends with exit code 1. The figures lie in folders by subject, which share
// the packages harness and rawhttp and do not import each other; here is their list.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"

	"toolcrib/.ci/measure/agents"
	"toolcrib/.ci/measure/clients"
	"toolcrib/.ci/measure/data"
	"toolcrib/.ci/measure/documents"
	"toolcrib/.ci/measure/edits"
	"toolcrib/.ci/measure/files"
	"toolcrib/.ci/measure/harness"
	"toolcrib/.ci/measure/lasting"
	"toolcrib/.ci/measure/protocol"
	"toolcrib/.ci/measure/sandbox"
	"toolcrib/.ci/measure/search"
	"toolcrib/.ci/measure/security"
	"toolcrib/.ci/measure/state"
	"toolcrib/.ci/measure/storms"
	"toolcrib/.ci/measure/tasks"
	"toolcrib/.ci/measure/terminals"
	"toolcrib/.ci/measure/web"
)

// figure takes one figure. Scale 1 is full size; a smaller one is for a quick
// check that the figure can still be taken.
type figure func(ctx context.Context, env harness.Environment) error

var figures = map[string]figure{
	"conformance":   protocol.Conformance,
	"start":         protocol.Start,
	"calls":         protocol.Calls,
	"order":         protocol.Order,
	"garbage":       protocol.Garbage,
	"escapes":       files.Escapes,
	"vectors":       files.Vectors,
	"data":          data.Data,
	"glob":          search.Glob,
	"grep":          search.Grep,
	"hostile":       protocol.Hostile,
	"inspector":     clients.Inspector,
	"claude":        clients.Claude,
	"codex":         clients.Codex,
	"gemini":        clients.Gemini,
	"unattended":    clients.Unattended,
	"executors":     clients.Executors,
	"sdk":           clients.SDK,
	"kernel":        terminals.Kernel,
	"load":          clients.Load,
	"list":          protocol.List,
	"sessions":      storms.Sessions,
	"storm":         storms.Storm,
	"tasks":         tasks.Tasks,
	"kills":         files.Kills,
	"faults":        files.Faults,
	"contended":     files.Contended,
	"editcases":     edits.Editcases,
	"encodings":     edits.Encodings,
	"readfile":      files.Readfile,
	"writefile":     files.Writefile,
	"naughty":       files.Naughty,
	"roundtrip":     edits.Roundtrip,
	"edits":         edits.Edits,
	"pages":         files.Pages,
	"patches":       edits.Patches,
	"search":        search.Search,
	"searchfresh":   search.Fresh,
	"secrets":       security.Secrets,
	"million":       storms.Million,
	"overhead":      storms.Overhead,
	"arguments":     edits.Arguments,
	"audit":         security.Audit,
	"confirmations": security.Confirmations,
	"tokens":        security.Tokens,
	"principals":    storms.Principals,
	"searchtools":   search.Tools,
	"sandbox":       sandbox.Sandbox,
	"spawn":         sandbox.Spawn,
	"undo":          sandbox.Undo,
	"undocost":      sandbox.UndoCost,
	"undokills":     sandbox.UndoKills,
	"undoload":      sandbox.UndoLoad,
	"undoattacks":   sandbox.UndoAttacks,
	"survivors":     sandbox.Survivors,
	"detached":      sandbox.Detached,
	"floods":        sandbox.Floods,
	"terminals":     terminals.Terminals,
	"terminalpeers": terminals.TerminalPeers,
	"work":          sandbox.Work,
	"fuzzed":        protocol.Fuzzed,
	"pdf":           documents.PDF,
	"documents":     documents.Documents,
	"extraction":    web.Extraction,
	"retrieval":     documents.Retrieval,
	"web":           web.Web,
	"together":      agents.Together,
	"codemode":      agents.Codemode,
	"agents":        agents.Runs,
	"models":        agents.Models,
	"rounds":        agents.Rounds,
	"storage":       state.Storage,
	"memory":        state.Memory,
	"durable":       lasting.Durable,
	"schedules":     lasting.Schedules,
	"cron":          lasting.Cron,
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "serve" { // this program as a server with toy tools
		if err := storms.ServeToys(os.Args[2:]); err != nil {
			fail(err)
		}
		return
	}
	if len(os.Args) > 3 && os.Args[1] == "weighed" { // this program as toolcrib, which says what it holds
		fail(protocol.RunWeighed(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "fixtures" { // this program as toolcrib with what the conformance suite calls
		protocol.RunFixtures(os.Args[2:])
	}
	if len(os.Args) > 5 && os.Args[1] == "wave" { // this program as the attacker of hostile
		if err := protocol.RunWave(os.Args[2:]); err != nil {
			fail(err)
		}
		return
	}
	if len(os.Args) > 3 && os.Args[1] == "inject" { // this program as a server that faults can be injected into
		fail(files.RunInjected(os.Args[2:]))
	}
	if len(os.Args) > 4 && os.Args[1] == "audit" { // this program as one that writes an audit log
		fail(security.WriteAudit(os.Args[2:]))
	}
	if len(os.Args) > 3 && os.Args[1] == "without" { // this program in the place of one that lacks something
		fail(sandbox.RunWithout(os.Args[2], os.Args[3:]))
	}
	var env harness.Environment
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
	var err error
	if env.State, err = os.MkdirTemp("", "toolcrib-measure-state-"); err != nil {
		fail(err)
	}
	err = run(ctx, env)
	// Clients do not wait for the end of their servers, which still write into it.
	var left error
	ended := harness.Await("the end of all that writes into "+env.State, func() bool {
		left = os.RemoveAll(env.State)
		return left == nil
	})
	if err = errors.Join(err, ended, left); err != nil {
		fail(fmt.Errorf("%s: %w", flag.Arg(0), err))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
