package conformance

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// question is one thing that a definition of mcp-go wants of the client before
// it can answer.
type question struct {
	id string
	// can reports whether the client has declared the capability for the question.
	can func(mcp.ClientCapabilities) bool
	add func(*mcpserver.InputRequestBuilder)
	// answer returns the text of the client's answer, and reports whether there is one.
	answer func(mcp.InputResponses) (string, bool)
}

// elicit asks the user for one text.
func elicit(id, message, field string) question {
	return elicitForm(id, message, map[string]any{
		"type": "object", "properties": map[string]any{field: map[string]any{"type": "string"}}, "required": []string{field},
	})
}

func elicitForm(id, message string, form any) question {
	return question{
		id:  id,
		can: func(c mcp.ClientCapabilities) bool { return c.Elicitation != nil },
		add: func(b *mcpserver.InputRequestBuilder) {
			b.Elicit(id, mcp.ElicitationParams{Message: message, RequestedSchema: form})
		},
		answer: func(given mcp.InputResponses) (string, bool) {
			r := mcpserver.ElicitationResponse(given, id)
			if r == nil || r.Action == "" {
				return "", false
			}
			return "action=" + string(r.Action) + ", content=" + compact(r.Content), true
		},
	}
}

// sample asks the client's model.
func sample(id, text string, maxTokens int) question {
	return question{
		id:  id,
		can: func(c mcp.ClientCapabilities) bool { return c.Sampling != nil },
		add: func(b *mcpserver.InputRequestBuilder) {
			b.Sample(id, mcp.CreateMessageParams{
				Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent(text)}},
				MaxTokens: maxTokens,
			})
		},
		answer: func(given mcp.InputResponses) (string, bool) {
			r := mcpserver.SamplingResponse(given, id)
			if r == nil || r.Content == nil {
				return "", false
			}
			return compact(r.Content), true
		},
	}
}

// listRoots asks for the roots of the client.
func listRoots(id string) question {
	return question{
		id:  id,
		can: func(c mcp.ClientCapabilities) bool { return c.Roots != nil },
		add: func(b *mcpserver.InputRequestBuilder) { b.Roots(id) },
		answer: func(given mcp.InputResponses) (string, bool) {
			r := mcpserver.RootsResponse(given, id)
			if r == nil || r.Roots == nil {
				return "", false
			}
			return compact(r.Roots), true
		},
	}
}

func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was read from JSON
	}
	return string(text)
}

// declared returns the capabilities that the client of a request has declared.
func declared(ctx context.Context) mcp.ClientCapabilities {
	if p := mcpserver.RequestProtocolInfoFromContext(ctx); p != nil && p.Modern {
		if p.ClientCapabilities != nil {
			return *p.ClientCapabilities
		}
	} else if peer, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithClientInfo); ok {
		return peer.GetClientCapabilities()
	}
	return mcp.ClientCapabilities{}
}

var (
	errCannotAsk = errors.New("the client has declared nothing of what this needs")
	errTampered  = errors.New("the requestState is not the one that was given out")
)

// interview puts the questions that the client can answer. It returns their
// answers, or what to ask once more: all of them, since nothing is kept
// between two rounds.
type interview struct {
	key []byte // signs the states
}

func newInterview() interview {
	key := make([]byte, sha256.Size)
	rand.Read(key) // never returns an error
	return interview{key}
}

// state is what an interview gives out and wants back.
func (i interview) state(name string) string {
	mac := hmac.New(sha256.New, i.key)
	mac.Write([]byte(name))
	return hex.EncodeToString(mac.Sum(nil))
}

func (i interview) put(ctx context.Context, name string, given mcp.MultiRoundTripParams, questions []question) (answers string, again *mcpserver.InputRequestBuilder, err error) {
	if given.RequestState != "" && !hmac.Equal([]byte(given.RequestState), []byte(i.state(name))) {
		return "", nil, errTampered
	}
	caps := declared(ctx)
	again = mcpserver.NewInputRequestBuilder(i.state(name))
	var said []string
	asked := 0
	for _, q := range questions {
		if !q.can(caps) {
			continue
		}
		asked++
		q.add(again)
		if answer, ok := q.answer(given.InputResponses); ok {
			said = append(said, q.id+": "+answer)
		}
	}
	switch {
	case asked == 0:
		return "", nil, errCannotAsk
	case len(said) < asked:
		return "", again, nil
	}
	return strings.Join(said, "\n"), nil, nil
}
