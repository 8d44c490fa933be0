package storms

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"

	"toolcrib/server"
	"toolcrib/server/run"
	"toolcrib/server/workers"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
	"toolcrib/workspace"
)

// ServeToys serves, over the production transports and pipeline, what a figure
// needs in addition to the catalog. The arguments are NAME [--http ADDR] [DIR]; NAME is
//
//	copies    the catalog, copied up to 60 tools
//	progress  a tool that reports progress, and one that waits to be cancelled
//	asking    tools that ask their user
//	changing  a tool that changes the list of tools
//	bare      one tool that gives its argument back
//	storm     tools that give back the nonce of their call, for storm
//	million   these and the catalog, with audit and traces, for million
//	idle      the same, with sessions that live for idleFor
//	principals the same, for clients that each have a token and a directory in DIR
//	plain     writes files in place, for kills
//	peer-http the same tool on mcp-go's own streamable HTTP
//
// Without --http it speaks over stdin and stdout. With it, it says on stderr
// where it listens, as toolcrib does.
func ServeToys(args []string) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	addr := flags.String("http", "", "address to listen on")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var listener net.Listener
	if *addr != "" {
		var err error
		if listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", *addr); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "listening on http://%s/mcp\n", listener.Addr())
	}
	if args[0] == "peer-http" {
		return servePeer(ctx, listener)
	}
	dir := "."
	if flags.NArg() > 0 {
		dir = flags.Arg(0)
	}
	if args[0] == "plain" {
		return servePlain(dir)
	}
	ws, err := workspace.Open([]string{dir}, workspace.Options{})
	if err != nil {
		return err
	}
	defer ws.Close()

	var s *server.Server
	var ts []tools.Tool
	var opt server.HTTP
	var hooks run.Hooks
	listed := -1 // all
	switch args[0] {
	case "copies":
		ts = copied(60)
	case "progress":
		w := new(waiting)
		ts = []tools.Tool{countUpTool(), waitTool(w), waitsTool(w)}
	case "asking":
		ts = []tools.Tool{greetTool(), orderTool(), removeTool()}
	case "changing":
		ts = []tools.Tool{growTool(func() error { return s.SetTools(ts, nil, nil, nil, nil) }), grownTool()}
		listed = 1
	case "storm":
		ts = stormToys()
	case "principals":
		ts = stormToys()
		if opt.Auth, opt.Roots, err = principalsOf(dir); err != nil {
			return err
		}
		defer opt.Roots.Close()
		hooks.Pre = append(hooks.Pre, ownFile)
	case "idle":
		ts, opt.SessionIdle = stormToys(), idleFor
	case "million":
		ts = slices.Concat(stormToys(), catalog.Tools(catalog.All(new(catalog.Services))))
	case "bare":
		ts = []tools.Tool{echoTool()}
	default:
		return fmt.Errorf("no toys are called %q", args[0])
	}
	if listed < 0 {
		listed = len(ts)
	}
	debug.SetGCPercent(400) // as the serve command does
	pool := workers.New()
	defer pool.Close()
	cfg := run.Config{Settings: run.Settings{Tools: ts, Hooks: hooks}, Go: pool.Go}
	if args[0] == "million" {
		outside, err := os.MkdirTemp("", "million")
		if err != nil {
			return err
		}
		defer os.RemoveAll(outside)
		var closeFull func() error
		if cfg, closeFull, err = controlled(ctx, outside, cfg); err != nil {
			return err
		}
		defer func() { _ = closeFull() }() // what it held goes with the process
	}
	s, err = server.New(server.Options{
		Name: "toys", Version: "0", Tools: ts[:listed], Workspace: ws,
		Runner: run.New(cfg),
	})
	if err != nil {
		return err
	}
	if listener != nil {
		return s.ServeStreamable(ctx, listener, opt)
	}
	return s.ServeStdio(ctx, os.Stdin, os.Stdout)
}

// servePlain answers calls on stdio, and writes files as most programs do: where
// they stand. It is what kills must be able to find out.
func servePlain(dir string) error {
	var mu sync.Mutex
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil // the client is gone
		}
		var m struct {
			ID     json.RawMessage
			Params struct {
				Arguments struct{ Path, Content string }
			}
		}
		if err := json.Unmarshal(line, &m); err != nil || m.ID == nil {
			continue
		}
		go func() {
			failed := false
			if args := m.Params.Arguments; args.Path != "" {
				name := filepath.Join(dir, filepath.FromSlash(args.Path))
				failed = os.MkdirAll(filepath.Dir(name), 0o755) != nil || os.WriteFile(name, []byte(args.Content), 0o644) != nil
			}
			mu.Lock()
			defer mu.Unlock()
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"isError":%t}}`+"\n", m.ID, failed)
		}()
	}
}
