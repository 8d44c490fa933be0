package server

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// askResult is the result that asks the user. A client of the stateless era
// gets it as it is and calls again with the answers and the sealed state; for
// the others mcp-go asks through the session and calls the handler again.
func askResult(ask *run.Ask, revision string) *mcp.CallToolResult {
	b := mcpserver.NewInputRequestBuilder(ask.State)
	for id, form := range ask.Forms {
		b.Elicit(id, mcp.ElicitationParams{Message: form.Message, RequestedSchema: formSchema(form, revision)})
	}
	return b.ToolResult()
}

// reply returns what a second pass brings, nil on the first. An answer that
// cannot be read is left out, so that the user is asked again.
func reply(p mcp.MultiRoundTripParams) *run.Reply {
	if p.RequestState == "" && len(p.InputResponses) == 0 {
		return nil
	}
	r := &run.Reply{State: p.RequestState, Answers: make(map[string]tools.Answer, len(p.InputResponses))}
	for id, response := range p.InputResponses {
		raw, err := json.Marshal(response)
		if err != nil {
			continue
		}
		if a, ok := readAnswer(raw); ok {
			r.Answers[id] = a
		}
	}
	return r
}

func readAnswer(raw json.RawMessage) (tools.Answer, bool) {
	var a struct {
		Action  tools.Action               `json:"action"`
		Content map[string]json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return tools.Answer{}, false
	}
	switch a.Action {
	case tools.Accept:
		return tools.Answer{Action: tools.Accept, Values: a.Content}, true
	case tools.Decline, tools.Cancel:
		return tools.Answer{Action: a.Action}, true
	}
	return tools.Answer{}, false
}

// canAsk reports whether a client that declared caps can put a form before its
// user. Elicitation came with 2025-06-18; a capability without a mode means
// forms.
func canAsk(version string, caps mcp.ClientCapabilities) bool {
	e := caps.Elicitation
	return version >= mcp.ProtocolVersion20250618 && e != nil && (e.Form != nil || e.URL == nil)
}
