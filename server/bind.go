package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"

	"github.com/mark3labs/mcp-go/mcp"

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

// origin is what a transport knows of a request beyond its text.
type origin struct {
	principal string
	client    tools.Client
	workspace *workspace.Workspace
	may       func(*tools.Tool) bool // be called; nil: every tool
	progress  *notify.Reporter       // nil: the client wants none; the transport closes it before the answer
	log       *slog.Logger           // nil: the client wants no log
	trace     run.Trace
	// fault is how the request ends where a handler has no other way to say it;
	// it beats what mcp-go answers.
	fault *wire.Fault
}

type originKey struct{}

func withOrigin(ctx context.Context, o *origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// info says whose request it is and in which workspace it runs.
func (from *origin) info() tools.SessionInfo {
	return tools.SessionInfo{Principal: from.principal, Client: from.client, Workspace: from.workspace, May: from.may}
}

// session returns ctx with the session of a request that looks without a call: its
// workspace keeps away from what the policy denies to every reader. ok is false where
// the client may not call the tools that it looks for; this is the one filter of what
// lists and completions show.
func (s *Server) session(ctx context.Context, from *origin, through ...*tools.Tool) (_ context.Context, ok bool) {
	info, ok := s.runner.View(from.info(), through...)
	return tools.WithSession(ctx, &info), ok
}

// logger returns the logger of a call, nil where the client wants no log.
func (from *origin) logger(tool string) *slog.Logger {
	if from.log == nil {
		return nil
	}
	return from.log.With(notify.LoggerKey, tool)
}

// handle runs f for a request that mcp-go answers. An error of f ends the
// request: a fault as it is, anything else by its text.
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

// result is the only mapping of an outcome to the wire.
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

// content turns a block into what a client of the revision knows: audio came
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
