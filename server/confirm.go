package server

import (
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// askResult is the result that asks the user of a client of the stateless era,
// who calls again with the answers and the sealed state.
func askResult(ask *run.Ask, revision string) *mcp.CallToolResult {
	b := mcpserver.NewInputRequestBuilder(ask.State)
	for id, form := range ask.Forms {
		b.Elicit(id, elicitation(form, revision))
	}
	return b.ToolResult()
}

// reply returns what a second pass brings, nil on the first: without a state, an
// answer belongs to nothing. One that cannot be read is left out, so that the
// user is asked again.
func reply(m *message) *run.Reply {
	state, ok := m.params.get("requestState")
	if !ok || state[0] != '"' || len(state) == len(`""`) {
		return nil
	}
	r := &run.Reply{State: unquote(state), Answers: map[string]tools.Answer{}}
	if responses, ok := m.params.get("inputResponses"); ok && responses[0] == '{' {
		for _, response := range split(responses) {
			if a, ok := readAnswer(response.value); ok {
				r.Answers[response.key] = a
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
