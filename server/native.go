package server

import (
	"encoding/json"
	"fmt"

	"toolcrib/server/wire"

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

// nativeTool returns the native tool that a message calls, nil if it calls none:
// mcp-go knows no others.
func (s *Server) nativeTool(m *wire.Message) *mcpserver.ServerTool {
	name, _ := m.Params.Get("name")
	if m.Method != string(mcp.MethodToolsCall) || len(name) == 0 || name[0] != '"' {
		return nil
	}
	return s.mcp.GetTool(wire.Unquote(name))
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
