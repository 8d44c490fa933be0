package server

import (
	"encoding/json"
	"fmt"
	"time"

	"toolcrib/server/wire"
	"toolcrib/tools"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// Fixtures are served beside a catalog to the conformance suite of the protocol; only
// the program that runs the suite has any.
type Fixtures struct {
	Tools   []tools.Tool // listed before those of the catalog
	Sources []tools.Source
	Prompts []tools.Prompt
	Native  Native
	// TaskAfter is in the place of that of [Options]; 0 = nothing is.
	TaskAfter time.Duration
}

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
