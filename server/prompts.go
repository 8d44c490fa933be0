package server

import (
	"context"
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

// addPrompts registers every prompt; which of them are offered is up to the
// tools.
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

// offer sets the prompts that can be had with the tools, and reports whether
// they are others than before. The caller holds mu.
func (s *Server) offer() bool {
	offered := []mcp.Prompt{}
	for _, p := range s.prompts {
		if !slices.ContainsFunc(p.Needs, func(name string) bool { return !s.callable(name) }) {
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

// promptHandler renders a prompt. The arguments are those that checkPrompt has
// let through; one without a text is as good as absent.
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
