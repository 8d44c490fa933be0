package storms

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// errNoListener ends a toy that speaks over HTTP only.
var errNoListener = errors.New("usage: measure serve peer-http --http ADDR")

// servePeer serves the tool echo by mcp-go's own streamable HTTP, in the
// plainest form that its documentation has.
func servePeer(ctx context.Context, listener net.Listener) error {
	if listener == nil {
		return errNoListener
	}
	s := mcpserver.NewMCPServer("peer", "0", mcpserver.WithToolCapabilities(true))
	s.AddTool(mcp.NewTool("echo",
		mcp.WithDescription("Gives its argument back."),
		mcp.WithString("message", mcp.Required(), mcp.Description("What to say.")),
	), func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		message, err := req.RequireString("message")
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultText(message), nil
	})
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcpserver.NewStreamableHTTPServer(s))
	web := &http.Server{Handler: mux}
	context.AfterFunc(ctx, func() { _ = web.Close() }) // Serve returns
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
