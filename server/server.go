// Package server speaks the Model Context Protocol: it lists tools, turns
// requests into calls of the runner, and outcomes into results.
//
// It serves the stateless revision 2026-07-28 and the revisions that open with
// initialize, both at once on one process. mcp-go does the protocol's methods;
// the transports around it are ours, since the order of messages, cancellation
// and limits are decided there. No category of tools is imported here.
//
// Start at [New]. A transport ([Server.ServeStdio] in stdio.go,
// [Server.ServeStreamable] in http.go) hands messages to a link, which is the
// client (link.go); a link makes requests of them (request.go); a request that
// calls a tool comes to call in call.go.
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
	Instructions  string         // for the model; clients cut them at 2,048 characters
	Tools         []tools.Tool   // listed, in this order
	Hidden        []tools.Tool   // can be called but are not listed
	Sources       []tools.Source // resources, read by the first source that has the URI
	Prompts       []tools.Prompt // offered where the tools they need can be called
	Native        Native
	Runner        *run.Runner
	Workspace     *workspace.Workspace
	Log           *slog.Logger // nil = discard
	// ProgressRate is how many progress notifications of one call go out in a
	// second; 0 = ProgressPerSecond, negative = all.
	ProgressRate int
	// Refused is told of the requests over HTTP that were refused for who made them
	// or how many, which become no call; it must return at once. nil = nobody is.
	Refused func(Refusal)
}

// runner carries out calls.
type runner interface {
	Run(ctx context.Context, call run.Call) run.Outcome
	View(s tools.SessionInfo) tools.SessionInfo
}

// Server is a catalog of tools behind the protocol. One Server may serve
// several connections at a time.
type Server struct {
	mcp          *mcpserver.MCPServer
	runner       runner
	workspace    *workspace.Workspace
	sources      []tools.Source
	templates    []mcp.ResourceTemplate // of the sources
	prompts      []tools.Prompt
	native       Native
	log          *slog.Logger
	progressRate int
	refused      func(Refusal)
	info         mcp.Implementation
	connections  atomic.Int64
	poller       poller
	traffic      traffic

	mu      sync.RWMutex
	listed  []mcp.Tool
	names   []string               // of everything that can be called, aliases too
	tools   map[string]*tools.Tool // by these names
	offered []mcp.Prompt
}

// New makes a Server. An error names the tool, source or prompt whose
// declaration does not stand.
func New(opt Options) (*Server, error) {
	if opt.Runner == nil {
		return nil, errors.New("server without a runner")
	}
	s := &Server{
		runner:       opt.Runner,
		workspace:    opt.Workspace,
		sources:      opt.Sources,
		prompts:      opt.Prompts,
		native:       opt.Native,
		log:          cmp.Or(opt.Log, slog.New(slog.DiscardHandler)),
		progressRate: max(cmp.Or(opt.ProgressRate, ProgressPerSecond), 0),
		refused:      opt.Refused,
		info:         mcp.Implementation{Name: opt.Name, Version: opt.Version},
	}
	hooks := &mcpserver.Hooks{}
	// mcp-go knows the native tools alone; what it would list is replaced by what
	// is to be listed, in the catalog's order.
	hooks.AddAfterListTools(func(ctx context.Context, _ any, _ *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
		s.handle(ctx, func(from *origin) error {
			result.Tools = s.listFor(from.may)
			return nil
		})
	})
	s.serveResources(hooks)
	s.servePrompts(hooks)
	s.mcp = mcpserver.NewMCPServer(opt.Name, opt.Version, append(s.capabilities(),
		mcpserver.WithInstructions(opt.Instructions),
		mcpserver.WithHooks(hooks),
	)...)
	if err := s.addSources(); err != nil {
		return nil, err
	}
	if err := s.addPrompts(); err != nil {
		return nil, err
	}
	if err := s.SetTools(opt.Tools, opt.Hidden); err != nil {
		return nil, err
	}
	return s, nil
}

// capabilities are what the server can do: no more than it has something for.
func (s *Server) capabilities() []mcpserver.ServerOption {
	can := []mcpserver.ServerOption{mcpserver.WithToolCapabilities(true), mcpserver.WithLogging()}
	resources, prompts := len(s.sources) > 0, s.hasPrompts()
	if resources {
		can = append(can, mcpserver.WithResourceCapabilities(true, false))
	}
	if prompts {
		can = append(can, mcpserver.WithPromptCapabilities(true))
	}
	if resources || prompts {
		can = append(can, mcpserver.WithCompletions(),
			mcpserver.WithPromptCompletionProvider(completer{s}), mcpserver.WithResourceCompletionProvider(completer{s}))
	}
	return can
}

// SetTools replaces the tools, and with them the prompts that speak of them, and
// tells the clients that want to know. The runner must already know the new ones.
// The sources stay.
func (s *Server) SetTools(listed, hidden []tools.Tool) error {
	defs := make([]mcp.Tool, len(listed), len(listed)+len(s.native.Tools))
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
	callable := map[string]*tools.Tool{}
	for _, t := range slices.Concat(listed, hidden) {
		for _, name := range append([]string{t.Name}, t.Aliases...) {
			if callable[name] != nil {
				return fmt.Errorf("tool %q: name %q is taken by another tool", t.Name, name)
			}
			callable[name] = &t
		}
	}
	for _, src := range s.sources { // results are kept by the name of the tool
		if callable[src.Read.Name] != nil {
			return fmt.Errorf("source %q: the name of its tool %q is taken by another tool", src.Name, src.Read.Name)
		}
	}
	for _, t := range s.native.Tools {
		if callable[t.Tool.Name] != nil {
			return fmt.Errorf("tool %q: the name is taken by another tool", t.Tool.Name)
		}
		callable[t.Tool.Name] = &tools.Tool{Name: t.Tool.Name} // of no access class: for those who may call everything
		def, err := rawSchemas(t.Tool)
		if err != nil {
			return err
		}
		defs = append(defs, def)
	}
	s.mu.Lock()
	s.listed, s.names, s.tools = defs, slices.Sorted(maps.Keys(callable)), callable
	news := s.offer()
	s.mu.Unlock()
	s.mcp.SetTools(s.native.Tools...) // it tells of the change too
	if news {
		s.mcp.SendNotificationToAllClients(mcp.MethodNotificationPromptsListChanged, nil)
	}
	return nil
}

// listFor returns what a client is shown that may call some tools; nil is all.
func (s *Server) listFor(may func(*tools.Tool) bool) []mcp.Tool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if may == nil {
		return s.listed
	}
	list := []mcp.Tool{}
	for _, def := range s.listed {
		if may(s.tools[def.Name]) {
			list = append(list, def)
		}
	}
	return list
}

// tool returns the tool of that name or alias.
func (s *Server) tool(name string) (*tools.Tool, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t, ok := s.tools[name]
	return t, ok
}

// callable reports whether a tool of that name can be called. The caller holds
// mu.
func (s *Server) callable(name string) bool {
	_, ok := slices.BinarySearch(s.names, name)
	return ok
}

// refuses says why a request is refused before mcp-go sees it, nil if it is not.
func (s *Server) refuses(m *message) *fault {
	if bad := m.revision(); bad != nil {
		return bad
	}
	prompts, resources := s.hasPrompts(), len(s.sources) > 0
	switch method := mcp.MCPMethod(m.method); {
	case method == mcp.MethodToolsList,
		method == mcp.MethodPromptsList && prompts,
		method == mcp.MethodResourcesTemplatesList && resources:
		if cursor, ok := m.params.get("cursor"); ok && string(cursor) != "null" {
			return refuse(mcp.INVALID_PARAMS, "cursor %s was not given by this server: the list has one page", tools.Clip(string(cursor)))
		}
	case method == mcp.MethodToolsCall:
		raw, _ := m.params.get("name")
		if len(raw) == 0 || raw[0] != '"' {
			return refuse(mcp.INVALID_PARAMS, "params.name must be the name of a tool")
		}
		return s.unknown(unquote(raw))
	case method == mcp.MethodPromptsGet && prompts:
		return s.checkPrompt(m)
	case method == mcp.MethodCompletionComplete && (prompts || resources):
		return s.checkCompletion(m)
	case method == mcp.MethodResourcesList && resources:
		return checkCursor(m)
	case namesResource(m) && resources:
		if raw, _ := m.params.get("uri"); len(raw) == 0 || raw[0] != '"' {
			return refuse(mcp.INVALID_PARAMS, "params.uri must be the URI of a resource")
		}
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
