package server

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"toolcrib/server/follow"
	"toolcrib/server/run"
	"toolcrib/server/wire"
	"toolcrib/tools"
)

const (
	// resourcePage is the most resources on a page of the list.
	resourcePage = 100
	// resourceTTL is how long a client may keep results that do not change while the
	// server runs.
	resourceTTL = 5 * time.Minute
	// lookTimeout limits work that is not a call: lists, completions, versions, prompts.
	lookTimeout = 10 * time.Second
	// everyResource represents all resources in mcp-go, which would choose among matching
	// templates in no fixed order.
	everyResource = "toolcrib:every-resource"
)

// serveResources lets mcp-go answer the resource methods from the sources.
func (s *Server) serveResources(hooks *mcpserver.Hooks) {
	hooks.AddAfterListResources(func(ctx context.Context, _ any, req *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
		s.handle(ctx, func(from *origin) (err error) {
			result.Resources, result.NextCursor, err = s.listResources(ctx, from, req.Params.Cursor)
			return err
		})
	})
	hooks.AddAfterListResourceTemplates(func(ctx context.Context, _ any, _ *mcp.ListResourceTemplatesRequest, result *mcp.ListResourceTemplatesResult) {
		result.ResourceTemplates = s.shownTemplates()
		keep(ctx, result, resourceTTL)
	})
	hooks.AddBeforeReadResource(func(_ context.Context, _ any, req *mcp.ReadResourceRequest) {
		req.Params.Arguments = map[string]any{"uri": req.Params.URI}
		req.Params.URI = everyResource
	})
	hooks.AddOnError(func(ctx context.Context, _ any, _ mcp.MCPMethod, _ any, err error) {
		if e, ok := errors.AsType[*follow.Error](err); ok {
			s.handle(ctx, func(from *origin) error { return resourceFault(from.info().Client.Protocol, e.URI, e.Err) })
		}
	})
	hooks.AddAfterReadResource(func(ctx context.Context, _ any, req *mcp.ReadResourceRequest, result *mcp.ReadResourceResult) {
		if src, _, ok := s.source(asked(req)); ok && src.Version == nil {
			keep(ctx, result, resourceTTL)
		}
	})
}

// templatesOf returns the templates of sources. It is an error if two sources, or their
// tools, share a name.
func templatesOf(sources []tools.Source) ([]mcp.ResourceTemplate, error) {
	taken := map[string]bool{}
	templates := []mcp.ResourceTemplate{}
	for _, src := range sources {
		switch {
		case src.Name == "" || src.Args == nil:
			return nil, fmt.Errorf("source %q: a source has a name and arguments", src.Name)
		case taken[src.Name], taken[src.Read.Name]:
			return nil, fmt.Errorf("source %q: its name or the name of its tool is taken by another source", src.Name)
		}
		taken[src.Name], taken[src.Read.Name] = true, true
		if src.Template == "" {
			continue
		}
		t := mcp.ResourceTemplate{
			URITemplate: &mcp.URITemplate{}, Name: src.Name, Title: src.Title, Description: src.Description, MIMEType: src.MIME,
		}
		if err := json.Unmarshal(strconv.AppendQuote(nil, src.Template), t.URITemplate); err != nil {
			return nil, fmt.Errorf("source %q: template %s: %w", src.Name, src.Template, err)
		}
		templates = append(templates, t)
	}
	return templates, nil
}

// readable returns the current sources; the list must not be changed.
func (s *Server) readable() []tools.Source {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.sources
}

func (s *Server) shownTemplates() []mcp.ResourceTemplate {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.templates
}

// asked returns the URI that a client wants to read.
func asked(req *mcp.ReadResourceRequest) string {
	uri, _ := req.Params.Arguments["uri"].(string)
	return uri
}

// source returns the source that a URI belongs to, and the arguments for reading it.
func (s *Server) source(uri string) (*tools.Source, json.RawMessage, bool) {
	sources := s.readable()
	for i := range sources {
		if args, ok := sources[i].Args(uri); ok {
			return &sources[i], args, true
		}
	}
	return nil, nil, false
}

// listResources returns one page of the lists of all sources that the client may read.
func (s *Server) listResources(ctx context.Context, from *origin, cursor mcp.Cursor) (_ []mcp.Resource, next mcp.Cursor, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	all := []mcp.Resource{}
	for _, src := range s.readable() {
		looking, ok := s.session(ctx, from, &src.Read)
		if src.List == nil || !ok {
			continue
		}
		list, err := src.List(looking)
		if err != nil {
			return nil, "", fmt.Errorf("resources of %s: %w", src.Name, err)
		}
		for _, r := range list {
			all = append(all, resource(r))
		}
	}
	first := 0
	if cursor != "" {
		var bad *wire.Fault
		if first, bad = offset(cursor); bad != nil {
			return nil, "", bad
		}
		if first >= len(all) {
			return nil, "", wire.Refuse(mcp.INVALID_PARAMS, "the list has become shorter since the cursor was given: list again without a cursor")
		}
	}
	last := min(first+resourcePage, len(all))
	if last < len(all) {
		next = mcp.Cursor(base64.StdEncoding.EncodeToString(strconv.AppendInt([]byte(cursorMark), int64(last), 10)))
	}
	return all[first:last], next, nil
}

// cursorMark is the prefix of a cursor of the list of resources, once decoded.
const cursorMark = "resources:"

// offset returns how many resources the pages before a cursor have.
func offset(cursor mcp.Cursor) (int, *wire.Fault) {
	text, err := base64.StdEncoding.DecodeString(string(cursor))
	if err == nil {
		if n, err := strconv.Atoi(strings.TrimPrefix(string(text), cursorMark)); err == nil && n > 0 &&
			n%resourcePage == 0 && string(text) == cursorMark+strconv.Itoa(n) {
			return n, nil
		}
	}
	return 0, wire.Refuse(mcp.INVALID_PARAMS, "cursor %q was not given by this server", tools.Clip(string(cursor)))
}

// checkCursor refuses a cursor that the list of resources cannot have given.
func checkCursor(m *wire.Message) *wire.Fault {
	raw, ok := m.Params.Get("cursor")
	switch {
	case !ok || string(raw) == "null":
		return nil
	case raw[0] != '"':
		return wire.Refuse(mcp.INVALID_PARAMS, "cursor must be a string that this server gave")
	}
	_, bad := offset(mcp.Cursor(wire.Unquote(raw)))
	return bad
}

// namesResource reports whether a method has the URI of a resource.
func namesResource(m *wire.Message) bool {
	switch mcp.MCPMethod(m.Method) {
	case mcp.MethodResourcesRead:
		return true
	case mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe:
		return !m.Modern() // which has neither method
	}
	return false
}

func resource(r tools.Resource) mcp.Resource {
	out := mcp.Resource{URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIME}
	if r.Size >= 0 {
		out.Size = &r.Size
	}
	return out
}

// readResource is the handler of every resource.
func (s *Server) readResource(ctx context.Context, req mcp.ReadResourceRequest) (contents []mcp.ResourceContents, err error) {
	s.handle(ctx, func(from *origin) error {
		contents, err = s.read(ctx, from, asked(&req))
		return err
	})
	return contents, err
}

// read reads a resource by a call of its source's tool.
func (s *Server) read(ctx context.Context, from *origin, uri string) ([]mcp.ResourceContents, error) {
	info := from.info()
	src, args, ok := s.source(uri)
	if !ok {
		return nil, resourceFault(info.Client.Protocol, uri, unknownResource(uri))
	}
	call := run.Call{Read: &src.Read, Args: args, Session: info, Log: from.logger(src.Read.Name), Trace: from.trace}
	out := s.runner.Run(ctx, call)
	switch {
	case out.Err != nil:
		if e, ok := errors.AsType[*run.LimitError](out.Err); ok {
			return nil, limited(out.Err, e)
		}
		return nil, resourceFault(info.Client.Protocol, uri, out.Err)
	case out.Ask != nil:
		return nil, resourceFault(info.Client.Protocol, uri, tools.Errorf(tools.Unavailable, "reading %s has to ask the user, and a resource cannot", uri))
	}
	contents := make([]mcp.ResourceContents, len(out.Result.Content))
	for i, b := range out.Result.Content {
		if b.MIME = cmp.Or(b.MIME, src.MIME); b.Kind == tools.TextBlock {
			b.MIME = cmp.Or(b.MIME, "text/plain")
		}
		contents[i] = resourceContents(uri, b)
	}
	return contents, nil
}

// resourceContents returns a block as the content of a resource: bytes if the block has
// any, else text.
func resourceContents(uri string, b tools.Block) mcp.ResourceContents {
	if b.Data != nil {
		return mcp.BlobResourceContents{URI: uri, MIMEType: b.MIME, Blob: base64.StdEncoding.EncodeToString(b.Data)}
	}
	return mcp.TextResourceContents{URI: uri, MIMEType: b.MIME, Text: b.Text}
}

// unknownResource returns the error for a URI that no source has.
func unknownResource(uri string) *tools.Error {
	return tools.Errorf(tools.NotFound, "no resource is called %s", tools.Clip(uri)).
		WithHint("resources/list and resources/templates/list name what there is")
}

// resourceFault converts the error of a resource for a client of the revision.
func resourceFault(protocol, uri string, err *tools.Error) *wire.Fault {
	data := map[string]any{"uri": uri}
	code := errorCode(err.Code)
	if err.Code == tools.NotFound {
		if !mcp.IsModernProtocol(protocol) {
			code = mcp.RESOURCE_NOT_FOUND
		}
	} else {
		data["code"] = err.Code
	}
	return &wire.Fault{Code: code, Msg: tools.Clip(err.Error()), Data: data}
}

// callersFault holds the codes of errors that the caller can do something about.
var callersFault = []tools.Code{
	tools.InvalidArgument, tools.NotFound, tools.Denied, tools.Declined, tools.TooLarge, tools.Unsupported,
}

// errorCode returns the JSON-RPC code of an error that no result can carry.
func errorCode(code tools.Code) int {
	if slices.Contains(callersFault, code) {
		return mcp.INVALID_PARAMS
	}
	return mcp.INTERNAL_ERROR
}

// keep tells a client of the stateless era how long it may keep a result.
func keep(ctx context.Context, result mcp.CacheHintSetter, ttl time.Duration) {
	if mcp.IsModernProtocol(mcpserver.RequestProtocolVersion(ctx)) {
		result.SetCacheHints(ttl.Milliseconds(), mcp.CacheScopePrivate)
	}
}

// version returns the version of a resource, "" if it never changes. A client that may
// not read the resource gets an error before anything is looked up.
func (s *Server) version(ctx context.Context, uri string) (version string, err error) {
	src, args, ok := s.source(uri)
	if !ok {
		return "", unknownResource(uri)
	}
	session := *tools.Session(ctx)
	session.Workspace = session.Workspace.Current() // a client follows for longer than a call
	info, err := s.runner.Watch(run.Call{Read: &src.Read, Args: args, Session: session})
	if err != nil {
		return "", err
	}
	if src.Version == nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(tools.WithSession(ctx, &info), lookTimeout)
	defer cancel()
	err = tools.Recover(func() (err error) {
		version, err = src.Version(ctx, uri)
		return err
	})
	if e, ok := errors.AsType[*tools.PanicError](err); ok {
		s.log.Error("panic", "resource", uri, "panic", e.Value, "stack", string(e.Stack))
		err = tools.Errorf(tools.Internal, "%s: crashed", uri)
	}
	return version, err
}
