package server

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/tools"
)

// SetTools replaces the tools, and with them the prompts that speak of them and the
// resources, and tells the clients that want to know. The runner must already know the
// new ones. A server that was made without sources stays without.
func (s *Server) SetTools(listed, hidden []tools.Tool, tailored map[string][]tools.Tool, sources []tools.Source) error {
	defs, err := defineAll(listed)
	if err != nil {
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
	if !s.resources {
		sources = nil
	}
	templates, err := templatesOf(sources)
	if err != nil {
		return err
	}
	for _, src := range sources { // results are kept by the name of the tool
		if callable[src.Read.Name] != nil {
			return fmt.Errorf("source %q: the name of its tool %q is taken by another tool", src.Name, src.Read.Name)
		}
	}
	var natives []mcp.Tool
	for _, t := range s.native.Tools {
		if callable[t.Tool.Name] != nil {
			return fmt.Errorf("tool %q: the name is taken by another tool", t.Tool.Name)
		}
		callable[t.Tool.Name] = &tools.Tool{Name: t.Tool.Name} // of no access class: for those who may call everything
		def, err := rawSchemas(t.Tool)
		if err != nil {
			return err
		}
		natives = append(natives, def)
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
	s.names, s.tools = slices.Sorted(maps.Keys(callable)), callable
	s.sources, s.templates = sources, templates
	news := s.offer()
	s.mu.Unlock()
	s.mcp.SetTools(s.native.Tools...) // it tells of the change too
	if news {
		s.mcp.SendNotificationToAllClients(mcp.MethodNotificationPromptsListChanged, nil)
	}
	return nil
}

// defineAll returns tools as tools/list shows them.
func defineAll(ts []tools.Tool) ([]mcp.Tool, error) {
	defs := make([]mcp.Tool, len(ts))
	g, _ := tools.NewGroup(context.Background(), runtime.GOMAXPROCS(0)) // reflection is most of a start
	for i, t := range ts {
		g.Go(func() (err error) {
			defs[i], err = define(t)
			return err
		})
	}
	return defs, g.Wait()
}

// listFor returns what the client of a request is shown: of what there is for a client
// of its name, what it may call. In the stateless era the name comes with each request,
// before with the handshake. The list depends on that and on the token alone, not on the
// connection and not on what was called before: who sends the same request gets the same
// list, which is what the protocol wants of it.
func (s *Server) listFor(from *origin) ([]mcp.Tool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := s.listed
	if tailored := s.tailored[from.client.Name]; tailored != nil {
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
		if from.may(s.tools[def.Name]) {
			permitted = append(permitted, def)
		}
	}
	return permitted, nil
}
