package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"toolcrib/schema"
	"toolcrib/server/wire"
	"toolcrib/tools"
)

func (s *Server) hasPrompts() bool { return len(s.prompts)+len(s.native.Prompts) > 0 }

// servePrompts lets mcp-go list the prompts that are offered, in their order.
func (s *Server) servePrompts(hooks *mcpserver.Hooks) {
	hooks.AddAfterListPrompts(func(_ context.Context, _ any, _ *mcp.ListPromptsRequest, result *mcp.ListPromptsResult) {
		s.mu.RLock()
		defer s.mu.RUnlock()
		result.Prompts = s.offered
	})
}

// addPrompts registers every prompt; a prompt is offered if the tools that it needs can
// be called.
func (s *Server) addPrompts() error {
	taken := map[string]bool{}
	var all []mcpserver.ServerPrompt
	for _, p := range s.prompts {
		all = append(all, mcpserver.ServerPrompt{Prompt: definePrompt(p), Handler: s.promptHandler(p)})
	}
	for _, p := range append(all, s.native.Prompts...) {
		if taken[p.Prompt.Name] {
			return fmt.Errorf("prompt %q: the name is taken by another prompt", p.Prompt.Name)
		}
		taken[p.Prompt.Name] = true
		s.mcp.AddPrompts(p)
	}
	return nil
}

// offer sets the prompts whose tools can be called, and reports whether the list has
// changed. The caller holds mu.
func (s *Server) offer() bool {
	offered := []mcp.Prompt{}
	for _, p := range s.prompts {
		if !slices.ContainsFunc(p.Needs, func(name string) bool { return !s.names.Has(name) }) {
			offered = append(offered, definePrompt(p))
		}
	}
	for _, p := range s.native.Prompts {
		offered = append(offered, p.Prompt)
	}
	same := slices.EqualFunc(offered, s.offered, func(a, b mcp.Prompt) bool { return a.Name == b.Name })
	s.offered = offered
	return !same
}

func definePrompt(p tools.Prompt) mcp.Prompt {
	def := mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
	for _, a := range p.Args {
		def.Arguments = append(def.Arguments, mcp.PromptArgument{Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required})
	}
	return def
}

// promptHandler renders a prompt. checkPrompt has checked the arguments; an empty
// argument counts as absent.
func (s *Server) promptHandler(p tools.Prompt) mcpserver.PromptHandlerFunc {
	return func(ctx context.Context, req mcp.GetPromptRequest) (result *mcp.GetPromptResult, err error) {
		s.handle(ctx, func(from *origin) error {
			var blocks []tools.Block
			looking, _ := s.session(ctx, from)
			looking, cancel := context.WithTimeout(looking, lookTimeout)
			defer cancel()
			if blocks, err = p.Render(looking, given(req.Params.Arguments)); err != nil {
				err = fmt.Errorf("prompt %s: %w", p.Name, err)
				return err
			}
			result = &mcp.GetPromptResult{Description: p.Description}
			for _, b := range blocks {
				b.Text = tools.Visible(b.Text) // it says back the arguments
				result.Messages = append(result.Messages, mcp.NewPromptMessage(mcp.RoleUser, content(b, from.info().Client.Protocol)))
			}
			return nil
		})
		return result, err
	}
}

// given returns the arguments that have a text.
func given(args map[string]string) map[string]string {
	some := make(map[string]string, len(args))
	for name, text := range args {
		if text != "" {
			some[name] = text
		}
	}
	return some
}

// checkPrompt refuses a request for a prompt that is not offered, or with
// arguments that it does not take.
func (s *Server) checkPrompt(m *wire.Message) *wire.Fault {
	raw, _ := m.Params.Get("name")
	if len(raw) == 0 || raw[0] != '"' {
		return wire.Refuse(mcp.INVALID_PARAMS, "params.name must be the name of a prompt")
	}
	def, bad := s.prompt(wire.Unquote(raw))
	if bad != nil {
		return bad
	}
	var args wire.Members
	if raw, ok := m.Params.Get("arguments"); ok && string(raw) != "null" {
		if raw[0] != '{' {
			return wire.Refuse(mcp.INVALID_PARAMS, "arguments of prompt %s must be an object", def.Name)
		}
		args = wire.Split(raw)
	}
	if bad := args.Check(nil); bad != nil {
		return wire.Refuse(mcp.INVALID_PARAMS, "arguments of prompt %s: %s", def.Name, bad.Msg)
	}
	for _, arg := range args {
		if bad := knownArgument(def, arg.Key); bad != nil {
			return bad
		}
		if arg.Value[0] != '"' && string(arg.Value) != "null" {
			return wire.Refuse(mcp.INVALID_PARAMS, "argument %q of prompt %s must be a string", arg.Key, def.Name)
		}
	}
	for _, a := range def.Arguments {
		if text, _ := args.Get(a.Name); a.Required && (len(text) <= len(`""`) || text[0] != '"') {
			return wire.Refuse(mcp.INVALID_PARAMS, "prompt %s needs the argument %q: %s", def.Name, a.Name, a.Description)
		}
	}
	return nil
}

// prompt returns the definition of a prompt that is offered.
func (s *Server) prompt(name string) (mcp.Prompt, *wire.Fault) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	names := make([]string, len(s.offered))
	for i, p := range s.offered {
		if names[i] = p.Name; p.Name == name {
			return p, nil
		}
	}
	if near := schema.Nearest(name, names); near != "" {
		return mcp.Prompt{}, wire.Refuse(mcp.INVALID_PARAMS, "no prompt is called %q; did you mean %q", tools.Clip(name), near)
	}
	return mcp.Prompt{}, wire.Refuse(mcp.INVALID_PARAMS, "no prompt is called %q; prompts/list names them", tools.Clip(name))
}

// knownArgument refuses the name of an argument that a prompt does not have.
func knownArgument(def mcp.Prompt, name string) *wire.Fault {
	names := make([]string, len(def.Arguments))
	for i, a := range def.Arguments {
		if names[i] = a.Name; a.Name == name {
			return nil
		}
	}
	if len(names) == 0 {
		return wire.Refuse(mcp.INVALID_PARAMS, "prompt %s takes no arguments", def.Name)
	}
	if near := schema.Nearest(name, names); near != "" {
		return wire.Refuse(mcp.INVALID_PARAMS, "prompt %s has no argument %q; did you mean %q", def.Name, tools.Clip(name), near)
	}
	return wire.Refuse(mcp.INVALID_PARAMS, "prompt %s has no argument %q; it has %s", def.Name, tools.Clip(name), strings.Join(names, ", "))
}

// completer answers completion/complete, after checkCompletion has checked the request.
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

// completion returns the values that begin with a prefix; a nil completion returns none.
type completion func(ctx context.Context, prefix string) ([]string, error)

// complete returns the first values that begin with prefix, and their total number. A
// client that may not call the tools they are for gets none.
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
