// Package server implements the Model Context Protocol. It lists tools, turns requests
// into calls of the runner, and turns outcomes into results.
//
// One process serves both the stateless revision 2026-07-28 and the older revisions,
// which open with initialize. The package must not import a category of tools.
//
// The library mcp-go does the handshake and discovery, the lists of tools, prompts and
// resources, reading a resource, completion, log levels, subscriptions, and the few
// native tools of the conformance suite. This package does the transports, which decide
// the order of messages, cancellation and limits; tools/call, since mcp-go takes as long
// for it as a short call; the Tasks extension, which mcp-go does not have; and the
// encoding of results (package wire).
//
// A call goes from its transport to link.admit, which admits one request, then to
// link.serve, link.call and [run.Runner.Run]. Start reading with these, in call.go. The
// files in reading order:
//
//	server.go     the Server and its options
//	link.go       a client, and the questions to it
//	tools.go      tools, and results on the wire
//	resources.go  resources by their sources
//	prompts.go    prompts and completion
//	session.go    a client as mcp-go sees it, its subscriptions
//	call.go       a request from its message to its answer
//	roots.go      narrowing the workspace to the client's roots
//	tasks.go      calls that become tasks
//	stdio.go      clients over pipes, batches
//	sessions.go   the sessions of HTTP
//	http.go       streamable HTTP: access to the server
//	post.go       the messages of HTTP
package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"toolcrib/server/follow"
	"toolcrib/server/notify"
	"toolcrib/server/run"
	"toolcrib/server/tasks"
	"toolcrib/server/wire"
	"toolcrib/tools"
	"toolcrib/workspace"
)

// Options configures a Server.
type Options struct {
	Name, Version string
	Instructions  string       // for the model; clients cut them at 2,048 characters
	Tools         []tools.Tool // listed, in this order
	Hidden        []tools.Tool // can be called but are not listed
	// Tailored has the tools that are listed for particular clients instead of Tools, see
	// [tools.ForClient]. All of them are in Tools or Hidden. Instructed has the instructions
	// for these clients.
	Tailored   map[string][]tools.Tool
	Instructed map[string]string
	Off        []tools.Omission
	Sources    []tools.Source // resources, read by the first source that has the URI
	Prompts    []tools.Prompt // offered where the tools they need can be called
	Native     Native
	Runner     *run.Runner
	Workspace  *workspace.Workspace
	Log        *slog.Logger // nil = discard
	// ProgressRate is the number of progress notifications that one call may send per
	// second; 0 = ProgressPerSecond, negative = no limit.
	ProgressRate int
	// TaskAfter is the time after which a call of a tool that streams becomes a task, for
	// clients that accept tasks; 0 = TaskAfter.
	TaskAfter time.Duration
	// Refused receives the requests over HTTP that were refused because of their origin,
	// host, token or rate. They become no call. It must return at once; nil = none.
	Refused func(Refusal)
}

// runner carries out calls.
type runner interface {
	Run(ctx context.Context, call run.Call) run.Outcome
	Start(ctx context.Context, call run.Call) *run.Running
	View(s tools.SessionInfo, through ...*tools.Tool) (_ tools.SessionInfo, ok bool)
	Watch(call run.Call) (tools.SessionInfo, error)
}

// Server is a catalog of tools behind the protocol. One Server may serve
// several connections at a time.
type Server struct {
	mcp          *mcpserver.MCPServer
	runner       runner
	workspace    *workspace.Workspace
	resources    bool // it was made with sources: capabilities are announced once
	prompts      []tools.Prompt
	native       Native
	log          *slog.Logger
	progressRate int
	refused      func(Refusal)
	info         mcp.Implementation
	connections  atomic.Int64
	poller       *follow.Poller
	traffic      traffic
	tasks        *tasks.Store
	taskAfter    time.Duration

	mu        sync.RWMutex
	sources   []tools.Source
	templates []mcp.ResourceTemplate // of the sources
	listed    []mcp.Tool
	// tailored returns the list for clients of a name, made when the first of them asks.
	tailored map[string]func() ([]mcp.Tool, error)
	names    *tools.Names // of everything that can be called
	offered  []mcp.Prompt
}

// New makes a Server. An error names the tool, source or prompt that is declared wrongly.
func New(opt Options) (*Server, error) {
	if opt.Runner == nil {
		return nil, errors.New("server without a runner")
	}
	s := &Server{
		runner:       opt.Runner,
		workspace:    opt.Workspace,
		resources:    len(opt.Sources) > 0,
		prompts:      opt.Prompts,
		native:       opt.Native,
		log:          cmp.Or(opt.Log, slog.New(slog.DiscardHandler)),
		progressRate: max(cmp.Or(opt.ProgressRate, notify.ProgressPerSecond), 0),
		refused:      opt.Refused,
		taskAfter:    cmp.Or(opt.TaskAfter, TaskAfter),
		info:         mcp.Implementation{Name: opt.Name, Version: opt.Version},
	}
	s.poller = follow.NewPoller(s.version)
	s.tasks = tasks.New(s.meta())
	hooks := &mcpserver.Hooks{}
	// mcp-go knows only the native tools. Its list is replaced by the whole list, in the
	// catalog's order.
	hooks.AddAfterListTools(func(ctx context.Context, _ any, _ *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
		s.handle(ctx, func(from *origin) (err error) {
			result.Tools, err = s.listFor(from)
			return err
		})
	})
	hooks.AddAfterDiscover(func(ctx context.Context, _ any, _ *mcp.DiscoverRequest, result *mcp.DiscoverResult) {
		result.Capabilities.Extensions = map[string]any{string(tools.Tasks): struct{}{}}
		if from, ok := ctx.Value(originKey{}).(*origin); ok {
			if text, tailored := tools.ForClient(opt.Instructed, from.client.Name); tailored {
				result.Instructions = text
			}
		}
	})
	hooks.AddAfterInitialize(func(_ context.Context, _ any, req *mcp.InitializeRequest, result *mcp.InitializeResult) {
		if text, tailored := tools.ForClient(opt.Instructed, req.Params.ClientInfo.Name); tailored {
			result.Instructions = text
		}
	})
	s.serveResources(hooks)
	s.servePrompts(hooks)
	s.mcp = mcpserver.NewMCPServer(opt.Name, opt.Version, append(s.capabilities(),
		mcpserver.WithInstructions(opt.Instructions),
		mcpserver.WithHooks(hooks),
	)...)
	if s.resources {
		s.mcp.AddResource(mcp.NewResource(everyResource, "resource"), s.readResource)
	}
	if err := s.addPrompts(); err != nil {
		return nil, err
	}
	if err := s.SetTools(opt.Tools, opt.Hidden, opt.Tailored, opt.Off, opt.Sources); err != nil {
		return nil, err
	}
	return s, nil
}

// capabilities returns the capabilities to announce. The server announces resources and
// prompts only if it has some.
func (s *Server) capabilities() []mcpserver.ServerOption {
	can := []mcpserver.ServerOption{mcpserver.WithToolCapabilities(true), mcpserver.WithLogging()}
	resources, prompts := s.resources, s.hasPrompts()
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

// tool returns the tool that a call by that name means.
func (s *Server) tool(name string, args json.RawMessage) (*tools.Tool, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t, err := s.names.Find(name, args)
	return &t, err == nil
}

// refuses returns the reason to refuse a request before mcp-go sees it, or nil.
func (s *Server) refuses(m *wire.Message) *wire.Fault {
	if bad := m.CheckRevision(); bad != nil {
		return bad
	}
	prompts, resources := s.hasPrompts(), s.resources
	switch method := mcp.MCPMethod(m.Method); {
	case method == mcp.MethodToolsList,
		method == mcp.MethodPromptsList && prompts,
		method == mcp.MethodResourcesTemplatesList && resources:
		if cursor, ok := m.Params.Get("cursor"); ok && string(cursor) != "null" {
			return wire.Refuse(mcp.INVALID_PARAMS, "cursor %s was not given by this server: the list has one page", tools.Clip(string(cursor)))
		}
	case method == mcp.MethodToolsCall:
		raw, _ := m.Params.Get("name")
		if len(raw) == 0 || raw[0] != '"' {
			return wire.Refuse(mcp.INVALID_PARAMS, "params.name must be the name of a tool")
		}
		args, _ := m.Params.Get("arguments")
		return s.unknown(wire.Unquote(raw), json.RawMessage(args))
	case method == mcp.MethodPromptsGet && prompts:
		return s.checkPrompt(m)
	case method == mcp.MethodCompletionComplete && (prompts || resources):
		return s.checkCompletion(m)
	case method == mcp.MethodResourcesList && resources:
		return checkCursor(m)
	case namesResource(m) && resources:
		if raw, _ := m.Params.Get("uri"); len(raw) == 0 || raw[0] != '"' {
			return wire.Refuse(mcp.INVALID_PARAMS, "params.uri must be the URI of a resource")
		}
	}
	return nil
}

func (s *Server) unknown(name string, args json.RawMessage) *wire.Fault {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.names.Has(name) {
		return nil
	}
	if why := s.names.Off(name, args); why != "" {
		return wire.Refuse(mcp.INVALID_PARAMS, "%s", why)
	}
	if near := s.names.Near(name); near != "" {
		return wire.Refuse(mcp.INVALID_PARAMS, "no tool is called %q; did you mean %q", name, near)
	}
	return wire.Refuse(mcp.INVALID_PARAMS, "no tool is called %q; tools/list names them", name)
}
