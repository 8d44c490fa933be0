package server

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// Native holds definitions that speak the protocol themselves, past the contract
// of package tools: their handlers are called by mcp-go, without a runner. They
// are listed after ours, in their order. Only the fixtures of the conformance
// suite need that.
type Native struct {
	Tools   []mcpserver.ServerTool
	Prompts []mcpserver.ServerPrompt
}

// isNative reports whether a tools/call is that of a native tool.
func (s *Server) isNative(m *message) bool {
	name, _ := m.params.get("name")
	return slices.ContainsFunc(s.native.Tools, func(t mcpserver.ServerTool) bool { return t.Tool.Name == unquote(name) })
}

// rawSchemas returns a native tool as define returns ours: its schemas are JSON.
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
