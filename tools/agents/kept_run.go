package agents

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/model"
	"toolcrib/tools/agents/internal/runs"
	"toolcrib/tools/outbound"
)

// runAgentName is the tool's, which an agent may call only if it is named.
const runAgentName = "run_agent"

// spec is what is kept of a run's arguments, for those that go on with it.
type spec struct {
	Title       string          `json:"title"`
	Agent       string          `json:"agent,omitempty"`
	Notes       []string        `json:"notes,omitempty"` // what of the preset's file does not count
	Models      []string        `json:"models,omitempty"`
	Executor    string          `json:"executor,omitempty"` // in the place of models
	System      string          `json:"system,omitempty"`
	Tools       []string        `json:"tools,omitempty"`
	Limits      loop.Limits     `json:"limits"`
	Temperature *float64        `json:"temperature,omitempty"`
	Thinking    string          `json:"thinking,omitempty"`
	Output      json.RawMessage `json:"output,omitempty"`
	From        string          `json:"from,omitempty"` // the run that it was forked from
	Of          string          `json:"of,omitempty"`   // the run whose agent called it, or went on with it last
}

// specOf returns what is kept of a run's arguments.
func specOf(run runs.Run) (s spec, err error) {
	err = json.Unmarshal(run.Spec, &s)
	return s, err
}

// clientOf returns a client that reaches the endpoints, also those of private hosts.
func clientOf(endpoints []model.Endpoint) (*outbound.Client, error) {
	var urls []string
	for _, e := range endpoints {
		if !e.OfClient() {
			urls = append(urls, e.Base())
		}
	}
	return outbound.To(urls...)
}

// questions returns those of a call of ask_user, for people.
func questions(arguments json.RawMessage) string {
	var in struct {
		Questions []struct {
			Question string
			Options  []struct{ Label string }
		}
	}
	if json.Unmarshal(arguments, &in) != nil || len(in.Questions) == 0 {
		return string(arguments)
	}
	var b strings.Builder
	for i, q := range in.Questions {
		fmt.Fprintf(&b, "%d. %s", i+1, q.Question)
		var labels []string
		for _, option := range q.Options {
			labels = append(labels, option.Label)
		}
		if len(labels) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(labels, " | "))
		}
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// subject returns what a call runs, asks for or is about, in a line.
func subject(arguments json.RawMessage) string {
	var in map[string]any
	if json.Unmarshal(arguments, &in) != nil {
		return ""
	}
	for _, key := range []string{"command", "url", "path", "query", "code"} {
		if text, ok := in[key].(string); ok {
			line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
			if more {
				line += " ..."
			}
			return line
		}
	}
	return ""
}
