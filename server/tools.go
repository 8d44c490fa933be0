package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"toolcrib/server/notify"
	"toolcrib/server/run"
	"toolcrib/server/wire"
	"toolcrib/tools"
	"toolcrib/workspace"
)

// metaCode is the key of an error's code in _meta.
const metaCode = "toolcrib/code"

// define returns a tool as tools/list shows it.
func define(t tools.Tool) (mcp.Tool, error) {
	in, err := t.Input()
	if err != nil {
		return mcp.Tool{}, fmt.Errorf("tool %q: arguments: %w", t.Name, err)
	}
	out, err := t.Output()
	if err != nil {
		return mcp.Tool{}, fmt.Errorf("tool %q: result: %w", t.Name, err)
	}
	description, err := t.Description()
	if err != nil {
		return mcp.Tool{}, fmt.Errorf("tool %q: %w", t.Name, err)
	}
	hints := t.Annotations()
	def := mcp.Tool{
		Name: t.Name, Title: t.Title, Description: description,
		RawInputSchema: in.JSON(),
		Annotations: mcp.ToolAnnotation{
			Title:           t.Title,
			ReadOnlyHint:    &hints.ReadOnly,
			DestructiveHint: &hints.Destructive,
			IdempotentHint:  &hints.Idempotent,
			OpenWorldHint:   &hints.OpenWorld,
		},
	}
	if out != nil {
		def.RawOutputSchema = out.JSON()
	}
	return def, nil
}

// origin describes a request beyond its text: its principal, client, workspace and more.
type origin struct {
	principal string
	client    tools.Client
	workspace *workspace.Workspace
	may       func(*tools.Tool) bool // be called; nil: every tool
	progress  *notify.Reporter       // nil: the client wants none; the transport closes it before the answer
	log       *slog.Logger           // nil: the client wants no log
	trace     run.Trace
	// fault, if set, ends the request instead of the answer of mcp-go: a handler has no
	// other way to return such an error.
	fault *wire.Fault
}

type originKey struct{}

func withOrigin(ctx context.Context, o *origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// info returns the principal, client and workspace of the request for the runner.
func (from *origin) info() tools.SessionInfo {
	return tools.SessionInfo{Principal: from.principal, Client: from.client, Workspace: from.workspace, May: from.may}
}

// session returns ctx with the session of a request that lists or completes without a
// call. Its workspace hides paths that the policy denies to every reader. ok is false if
// the client may not call the tools that it lists for. This is the only filter of lists
// and completions.
func (s *Server) session(ctx context.Context, from *origin, through ...*tools.Tool) (_ context.Context, ok bool) {
	info, ok := s.runner.View(from.info(), through...)
	return tools.WithSession(ctx, &info), ok
}

// logger returns the logger of a call, or nil if the client wants no log.
func (from *origin) logger(tool string) *slog.Logger {
	if from.log == nil {
		return nil
	}
	return from.log.With(notify.LoggerKey, tool)
}

// handle runs f for a request that mcp-go answers. An error of f ends the request: a
// fault is sent as it is, any other error as its text.
func (s *Server) handle(ctx context.Context, f func(from *origin) error) {
	from, ok := ctx.Value(originKey{}).(*origin)
	if !ok {
		panic("a request without an origin")
	}
	switch err := f(from).(type) {
	case nil:
	case *wire.Fault:
		from.fault = err
	default:
		e := tools.AsError(err)
		if e.Code == tools.Internal {
			s.log.Error("internal error", "error", err)
		}
		from.fault = wire.Refuse(errorCode(e.Code), "%s", tools.Clip(e.Error()))
	}
}

// result maps an outcome to the wire. Nothing else does.
func (s *Server) result(call run.Call, out run.Outcome) *mcp.CallToolResult {
	switch {
	case out.Err != nil:
		return errorResult(out.Err)
	case out.Ask != nil && call.Session.Client.Forms:
		return askResult(out.Ask, call.Session.Client.Protocol)
	case out.Ask != nil:
		return errorResult(tools.Errorf(tools.Unavailable, "%s has to ask the user, and this client cannot", call.Tool))
	}
	res := &mcp.CallToolResult{Content: make([]mcp.Content, len(out.Result.Content))}
	for i, block := range out.Result.Content {
		res.Content[i] = content(block, call.Session.Client.Protocol)
	}
	if len(out.Result.Structured) > 0 {
		var b bytes.Buffer // one line, and proof that it is JSON
		if err := json.Compact(&b, out.Result.Structured); err != nil {
			s.log.Error("structured result is not JSON", "tool", call.Tool, "error", err)
			return errorResult(tools.Errorf(tools.Internal, "the result of %s is not JSON", call.Tool))
		}
		res.RawStructuredContent = bytes.ToValidUTF8(b.Bytes(), []byte("\uFFFD"))
	}
	if len(out.Result.Meta) > 0 {
		// A copy: more is added to it, and the outcome may be shared with other calls.
		res.Meta = &mcp.Meta{AdditionalFields: maps.Clone(out.Result.Meta)}
	}
	return res
}

func errorResult(err *tools.Error) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		Result:  mcp.Result{Meta: mcp.NewMetaFromMap(map[string]any{metaCode: string(err.Code)})},
		Content: []mcp.Content{mcp.NewTextContent(tools.Clip(err.Error()))},
		IsError: true,
	}
}

// content turns a block into a kind that clients of the revision know: audio came
// with 2025-03-26, links with 2025-06-18.
func content(b tools.Block, revision string) mcp.Content {
	switch {
	case b.Kind == tools.ImageBlock:
		return mcp.NewImageContent(base64.StdEncoding.EncodeToString(b.Data), b.MIME)
	case b.Kind == tools.AudioBlock && revision >= mcp.ProtocolVersion20250326:
		return mcp.NewAudioContent(base64.StdEncoding.EncodeToString(b.Data), b.MIME)
	case b.Kind == tools.AudioBlock:
		return mcp.NewTextContent(fmt.Sprintf("[%s, %d bytes: this client takes no audio]", b.MIME, len(b.Data)))
	case b.Kind == tools.LinkBlock && revision >= mcp.ProtocolVersion20250618:
		return mcp.NewResourceLink(b.URI, b.Name, "", b.MIME)
	case b.Kind == tools.LinkBlock:
		return mcp.NewTextContent(b.Name + " " + b.URI)
	case b.Kind == tools.ResourceBlock:
		return mcp.NewEmbeddedResource(resourceContents(b.URI, b))
	default:
		return mcp.NewTextContent(b.Text)
	}
}

// SetTools replaces the tools, the prompts that mention them and the resources, and
// notifies the clients that want to know. The runner must already know the new tools. A
// server that was made without sources stays without.
func (s *Server) SetTools(listed, hidden []tools.Tool, tailored map[string][]tools.Tool, off []tools.Omission, sources []tools.Source) error {
	defs, err := defineAll(listed)
	if err != nil {
		return err
	}
	callable := slices.Concat(listed, hidden)
	if !s.resources {
		sources = nil
	}
	templates, err := templatesOf(sources)
	if err != nil {
		return err
	}
	for _, src := range sources { // results are kept by the name of the tool
		if slices.ContainsFunc(callable, func(t tools.Tool) bool { return t.Name == src.Read.Name || slices.Contains(t.Aliases, src.Read.Name) }) {
			return fmt.Errorf("source %q: the name of its tool %q is taken by another tool", src.Name, src.Read.Name)
		}
	}
	var natives []mcp.Tool
	for _, t := range s.native.Tools {
		callable = append(callable, tools.Tool{Name: t.Tool.Name}) // of no access class: for those who may call everything
		def, err := rawSchemas(t.Tool)
		if err != nil {
			return err
		}
		natives = append(natives, def)
	}
	names, err := tools.NameTools(callable, off...)
	if err != nil {
		return err
	}
	later := map[string]func() ([]mcp.Tool, error){}
	for client, ts := range tailored {
		later[client] = sync.OnceValues(func() ([]mcp.Tool, error) {
			defs, err := defineAll(ts)
			return append(defs, natives...), err
		})
	}
	s.mu.Lock()
	s.listed, s.tailored = slices.Concat(defs, natives), later
	s.names = names
	s.sources, s.templates = sources, templates
	news := s.offer()
	s.mu.Unlock()
	s.mcp.SetTools(s.native.Tools...) // it announces the change too
	if news {
		s.mcp.SendNotificationToAllClients(mcp.MethodNotificationPromptsListChanged, nil)
	}
	return nil
}

// defineAll returns tools as tools/list shows them.
func defineAll(ts []tools.Tool) ([]mcp.Tool, error) {
	defs := make([]mcp.Tool, len(ts))
	var next atomic.Int64
	g, _ := tools.NewGroup(context.Background(), runtime.GOMAXPROCS(0))
	for range runtime.GOMAXPROCS(0) { // reflection is most of a start, and growing stacks is dear
		g.Go(func() (err error) {
			for i := next.Add(1) - 1; err == nil && i < int64(len(ts)); i = next.Add(1) - 1 {
				defs[i], err = define(ts[i])
			}
			return err
		})
	}
	return defs, g.Wait()
}

// listFor returns the tools to list for the client of a request: of the list for a client
// of its name, the tools that it may call. In the stateless revision the name comes with
// each request, in the older ones with the handshake. The list depends only on that and
// on the token, not on the connection or on earlier calls: the same request always gets
// the same list, as the protocol demands.
func (s *Server) listFor(from *origin) ([]mcp.Tool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := s.listed
	if tailored, ok := tools.ForClient(s.tailored, from.client.Name); ok {
		var err error
		if list, err = tailored(); err != nil {
			return nil, err
		}
	}
	if from.may == nil {
		return list, nil
	}
	permitted := []mcp.Tool{}
	for _, def := range list {
		if t, err := s.names.Find(def.Name, nil); err == nil && from.may(&t) {
			permitted = append(permitted, def)
		}
	}
	return permitted, nil
}

// askResult returns the result that asks the user of a client of the stateless revision.
// The client calls again with the answers and the sealed state.
func askResult(ask *run.Ask, revision string) *mcp.CallToolResult {
	b := mcpserver.NewInputRequestBuilder(ask.State)
	for id, form := range ask.Forms {
		b.Elicit(id, wire.Elicitation(form, revision))
	}
	return b.ToolResult()
}

// reply returns the answers and the state of a second pass, nil on the first: without a
// state, an answer belongs to no question. An answer that cannot be read is left out, so
// that the user is asked again.
func reply(m *wire.Message) *run.Reply {
	state, ok := m.Params.Get("requestState")
	if !ok || state[0] != '"' || len(state) == len(`""`) {
		return nil
	}
	r := &run.Reply{State: wire.Unquote(state), Answers: map[string]tools.Answer{}}
	if responses, ok := m.Params.Get("inputResponses"); ok && responses[0] == '{' {
		for _, response := range wire.Split(responses) {
			if a, ok := wire.ReadAnswer(response.Value); ok {
				r.Answers[response.Key] = a
			}
		}
	}
	return r
}

// canAsk reports whether a client that declared caps can show a form to its user.
// Elicitation came with 2025-06-18; a capability without a mode means forms.
func canAsk(version string, caps mcp.ClientCapabilities) bool {
	e := caps.Elicitation
	return version >= mcp.ProtocolVersion20250618 && e != nil && (e.Form != nil || e.URL == nil)
}

// Fixtures are served in addition to a catalog, for the protocol's conformance suite.
// Only the program that runs the suite has any.
type Fixtures struct {
	Tools   []tools.Tool // listed before those of the catalog
	Sources []tools.Source
	Prompts []tools.Prompt
	Native  Native
	// TaskAfter overrides that of [Options]; 0 = no override.
	TaskAfter time.Duration
}

// Native holds definitions that use the protocol directly, not the contract of package
// tools: mcp-go calls their handlers, without a runner. They are listed after the
// catalog's tools, in their order. Only the fixtures of the conformance suite need this.
type Native struct {
	Tools   []mcpserver.ServerTool
	Prompts []mcpserver.ServerPrompt
}

// nativeTool returns the native tool that a message calls, nil if it calls none. mcp-go
// knows no other tools.
func (s *Server) nativeTool(m *wire.Message) *mcpserver.ServerTool {
	name, _ := m.Params.Get("name")
	if m.Method != string(mcp.MethodToolsCall) || len(name) == 0 || name[0] != '"' {
		return nil
	}
	return s.mcp.GetTool(wire.Unquote(name))
}

// rawSchemas returns a native tool with its schemas as JSON, as define returns a tool of
// the catalog.
func rawSchemas(t mcp.Tool) (mcp.Tool, error) {
	if t.RawInputSchema == nil {
		raw, err := json.Marshal(t.InputSchema)
		if err != nil {
			return mcp.Tool{}, fmt.Errorf("tool %q: arguments: %w", t.Name, err)
		}
		t.RawInputSchema, t.InputSchema = raw, mcp.ToolInputSchema{}
	}
	if t.RawOutputSchema == nil && t.OutputSchema.Type != "" {
		raw, err := json.Marshal(t.OutputSchema)
		if err != nil {
			return mcp.Tool{}, fmt.Errorf("tool %q: result: %w", t.Name, err)
		}
		t.RawOutputSchema, t.OutputSchema = raw, mcp.ToolOutputSchema{}
	}
	return t, nil
}
