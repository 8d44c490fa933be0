package server

import (
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"toolcrib/server/run"
	"toolcrib/server/wire"
	"toolcrib/tools"
)

// askResult is the result that asks the user of a client of the stateless era,
// who calls again with the answers and the sealed state.
func askResult(ask *run.Ask, revision string) *mcp.CallToolResult {
	b := mcpserver.NewInputRequestBuilder(ask.State)
	for id, form := range ask.Forms {
		b.Elicit(id, wire.Elicitation(form, revision))
	}
	return b.ToolResult()
}

// reply returns what a second pass brings, nil on the first: without a state, an
// answer belongs to nothing. One that cannot be read is left out, so that the
// user is asked again.
func reply(m *wire.Message) *run.Reply {
	state, ok := m.Params.Get("requestState")
	if !ok || state[0] != '"' || len(state) == len(`""`) {
		return nil
	}
	r := &run.Reply{State: wire.Unquote(state), Answers: map[string]tools.Answer{}}
	if responses, ok := m.Params.Get("inputResponses"); ok && responses[0] == '{' {
		for _, response := range wire.Split(responses) {
			if a, ok := wire.ReadAnswer(response.Value); ok {
				r.Answers[response.Key] = a
			}
		}
	}
	return r
}

// canAsk reports whether a client that declared caps can put a form before its
// user. Elicitation came with 2025-06-18; a capability without a mode means
// forms.
func canAsk(version string, caps mcp.ClientCapabilities) bool {
	e := caps.Elicitation
	return version >= mcp.ProtocolVersion20250618 && e != nil && (e.Form != nil || e.URL == nil)
}
