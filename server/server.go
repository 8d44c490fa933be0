// Package server speaks the Model Context Protocol: it lists tools, turns
// requests into calls of the runner, and outcomes into results.
//
// It serves the stateless revision 2026-07-28 and the revisions that open with
// initialize, both at once on one process. mcp-go does the protocol's methods;
// the transport around it is ours, since the order of messages, cancellation
// and limits are decided there. This is the only package that imports mcp-go;
// no category of tools is imported here.
//
// Start at [New], then [Server.ServeStdio], then call in bind.go.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"toolcrib/schema"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/workspace"
)

// Options makes a Server.
type Options struct {
	Name, Version string
	Instructions  string       // for the model; clients cut them at 2,048 characters
	Tools         []tools.Tool // listed, in this order
	Hidden        []tools.Tool // can be called but are not listed
	Sources       []tools.Source
	Prompts       []tools.Prompt
	Native        Native
	Runner        *run.Runner
	Workspace     *workspace.Workspace
	Log           *slog.Logger // nil = discard
	// ProgressRate is how many progress notifications of one call go out in a
	// second; 0 = ProgressPerSecond, negative = all.
	ProgressRate int
}

// Native holds definitions that speak the protocol themselves, past the contract
// of package tools. Only the fixtures of the conformance suite need that.
type Native struct {
	Tools   []mcpserver.ServerTool
	Prompts []mcpserver.ServerPrompt
}

// runner carries out calls.
type runner interface {
	Run(ctx context.Context, call run.Call) run.Outcome
}

// Server is a catalog of tools behind the protocol. One Server may serve
// several connections at a time.
type Server struct {
	mcp          *mcpserver.MCPServer
	runner       runner
	workspace    *workspace.Workspace
	log          *slog.Logger
	progressRate int
	connections  atomic.Int64

	mu     sync.RWMutex
	listed []mcp.Tool
	names  []string // of everything that can be called, aliases too
}

// New makes a Server. An error names the tool whose declaration does not stand.
func New(opt Options) (*Server, error) {
	if opt.Runner == nil {
		return nil, errors.New("server without a runner")
	}
	s := &Server{
		runner:       opt.Runner,
		workspace:    opt.Workspace,
		log:          cmp.Or(opt.Log, slog.New(slog.DiscardHandler)),
		progressRate: max(cmp.Or(opt.ProgressRate, ProgressPerSecond), 0),
	}
	hooks := &mcpserver.Hooks{}
	// mcp-go knows every name that can be called, without schemas; what it
	// would list is replaced by what is to be listed, in the catalog's order.
	hooks.AddAfterListTools(func(_ context.Context, _ any, _ *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
		s.mu.RLock()
		defer s.mu.RUnlock()
		result.Tools = s.listed
	})
	s.mcp = mcpserver.NewMCPServer(opt.Name, opt.Version,
		mcpserver.WithInstructions(opt.Instructions),
		mcpserver.WithToolCapabilities(true),
		mcpserver.WithLogging(), // so that logging/setLevel is answered; nothing is logged to clients
		mcpserver.WithHooks(hooks),
	)
	if err := s.SetTools(opt.Tools, opt.Hidden); err != nil {
		return nil, err
	}
	return s, nil
}

// SetTools replaces the tools and tells the clients that want to know. The
// runner must already know the new ones.
func (s *Server) SetTools(listed, hidden []tools.Tool) error {
	defs := make([]mcp.Tool, len(listed))
	g, _ := tools.NewGroup(context.Background(), runtime.GOMAXPROCS(0)) // reflection is most of a start
	for i, t := range listed {
		g.Go(func() (err error) {
			defs[i], err = define(t)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	callable := map[string]mcpserver.ServerTool{}
	for _, t := range slices.Concat(listed, hidden) {
		for _, name := range append([]string{t.Name}, t.Aliases...) {
			if _, taken := callable[name]; taken {
				return fmt.Errorf("tool %q: name %q is taken by another tool", t.Name, name)
			}
			callable[name] = mcpserver.ServerTool{
				Tool:    mcp.Tool{Name: name, RawInputSchema: []byte(`{"type":"object"}`)},
				Handler: s.call,
			}
		}
	}
	s.mu.Lock()
	s.listed, s.names = defs, slices.Sorted(maps.Keys(callable))
	s.mu.Unlock()
	s.mcp.SetTools(slices.Collect(maps.Values(callable))...)
	return nil
}

// refuses says why a request is refused before mcp-go sees it, nil if it is not.
func (s *Server) refuses(m *message) *fault {
	if bad := m.revision(); bad != nil {
		return bad
	}
	switch m.method {
	case string(mcp.MethodToolsList):
		if cursor, ok := m.params.get("cursor"); ok && string(cursor) != "null" {
			return refuse(mcp.INVALID_PARAMS, "cursor %s was not given by this server: the list has one page", cursor)
		}
	case string(mcp.MethodToolsCall):
		raw, _ := m.params.get("name")
		if len(raw) == 0 || raw[0] != '"' {
			return refuse(mcp.INVALID_PARAMS, "params.name must be the name of a tool")
		}
		return s.unknown(unquote(raw))
	}
	return nil
}

func (s *Server) unknown(name string) *fault {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if _, ok := slices.BinarySearch(s.names, name); ok {
		return nil
	}
	if near := schema.Nearest(name, s.names); near != "" {
		return refuse(mcp.INVALID_PARAMS, "no tool is called %q; did you mean %q", name, near)
	}
	return refuse(mcp.INVALID_PARAMS, "no tool is called %q; tools/list names them", name)
}
