package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"toolcrib/server/wire"
	"toolcrib/tools"
)

// completer answers completion/complete. What it is asked for has passed
// checkCompletion.
type completer struct{ server *Server }

var (
	_ mcpserver.PromptCompletionProvider   = completer{}
	_ mcpserver.ResourceCompletionProvider = completer{}
)

// CompletePromptArgument implements [mcpserver.PromptCompletionProvider].
func (c completer) CompletePromptArgument(ctx context.Context, prompt string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	var complete completion
	var through []*tools.Tool
	for _, p := range c.server.prompts {
		for _, a := range p.Args {
			if p.Name == prompt && a.Name == arg.Name && a.Complete != nil {
				complete, through = a.Complete, c.server.toolsOf(p.Needs)
			}
		}
	}
	return c.server.complete(ctx, complete, through, arg.Value)
}

// CompleteResourceArgument implements [mcpserver.ResourceCompletionProvider].
func (c completer) CompleteResourceArgument(ctx context.Context, uri string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	var complete completion
	var through []*tools.Tool
	for _, src := range c.server.readable() {
		if src.Template == uri && src.Complete != nil {
			complete = func(ctx context.Context, prefix string) ([]string, error) { return src.Complete(ctx, arg.Name, prefix) }
			through = []*tools.Tool{&src.Read}
		}
	}
	return c.server.complete(ctx, complete, through, arg.Value)
}

// completion returns the values that begin with a prefix; a nil one has none.
type completion func(ctx context.Context, prefix string) ([]string, error)

// complete returns the first values that begin with prefix, and how many there are:
// none to who may not call the tools that they are for.
func (s *Server) complete(ctx context.Context, complete completion, through []*tools.Tool, prefix string) (result *mcp.Completion, err error) {
	result = &mcp.Completion{Values: []string{}}
	if complete == nil {
		return result, nil
	}
	s.handle(ctx, func(from *origin) error {
		looking, ok := s.session(ctx, from, through...)
		if !ok {
			return nil
		}
		looking, cancel := context.WithTimeout(looking, lookTimeout)
		defer cancel()
		var all []string
		if all, err = complete(looking, prefix); err != nil {
			err = fmt.Errorf("completion: %w", err)
			return err
		}
		result.Total, result.HasMore = len(all), len(all) > tools.MaxCompletions
		result.Values = append(result.Values, all[:min(len(all), tools.MaxCompletions)]...)
		return nil
	})
	return result, err
}

// checkCompletion refuses a request for the completion of something that does
// not exist.
func (s *Server) checkCompletion(m *wire.Message) *wire.Fault {
	var p struct {
		Ref struct {
			Type string  `json:"type"`
			Name *string `json:"name"`
			URI  *string `json:"uri"`
		} `json:"ref"`
		Argument struct {
			Name  *string `json:"name"`
			Value *string `json:"value"`
		} `json:"argument"`
	}
	const shape = `params.ref must be {"type":"ref/prompt","name":...} or {"type":"ref/resource","uri":...}, params.argument {"name":...,"value":...}`
	for key, to := range map[string]any{"ref": &p.Ref, "argument": &p.Argument} {
		if raw, ok := m.Params.Get(key); !ok || json.Unmarshal(raw, to) != nil {
			return wire.Refuse(mcp.INVALID_PARAMS, "%s", shape)
		}
	}
	switch {
	case p.Argument.Name == nil || p.Argument.Value == nil:
	case p.Ref.Type == "ref/prompt" && p.Ref.Name != nil:
		def, bad := s.prompt(*p.Ref.Name)
		if bad != nil {
			return bad
		}
		return knownArgument(def, *p.Argument.Name)
	case p.Ref.Type == "ref/resource" && p.Ref.URI != nil:
		return s.checkTemplate(*p.Ref.URI, *p.Argument.Name)
	}
	return wire.Refuse(mcp.INVALID_PARAMS, "%s", shape)
}

// checkTemplate refuses a URI that is neither a template nor a resource, and a
// variable that the template does not have.
func (s *Server) checkTemplate(uri, variable string) *wire.Fault {
	for _, t := range s.shownTemplates() {
		if t.URITemplate.Raw() != uri {
			continue
		}
		names := t.URITemplate.Varnames()
		if slices.Contains(names, variable) {
			return nil
		}
		return wire.Refuse(mcp.INVALID_PARAMS, "%s has no variable %q; it has %s", uri, tools.Clip(variable), strings.Join(names, ", "))
	}
	if _, _, ok := s.source(uri); ok {
		return nil // a resource has nothing to complete
	}
	return resourceFault(mcp.LATEST_PROTOCOL_VERSION, uri, unknownResource(uri))
}
