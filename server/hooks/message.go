package hooks

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolcrib/schema"
	"toolcrib/server/run"
	"toolcrib/tools"
)

// maxHead is the most bytes of a result or an error that a hook is told.
const maxHead = 4 << 10

// message describes a call to a hook.
type message struct {
	Event     string          `json:"event"`
	Call      string          `json:"call"`
	Tool      string          `json:"tool"`
	Access    string          `json:"access"`
	Effects   []string        `json:"effects"`
	Principal string          `json:"principal"`
	Client    messageClient   `json:"client"`
	Roots     []string        `json:"roots,omitempty"`
	Arguments json.RawMessage `json:"arguments"`
	Commands  []string        `json:"commands,omitempty"` // that the call runs, as a shell has them
	Unknown   string          `json:"unknown,omitempty"`  // why it may run others
	Result    *messageResult  `json:"result,omitempty"`
	Error     *messageError   `json:"error,omitempty"`
}

type messageClient struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// messageResult is the head of a result's text, and how long it is in bytes.
type messageResult struct {
	Text  string `json:"text"`
	Bytes int    `json:"bytes"`
}

type messageError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func messageOf(event string, v run.View) *message {
	s := v.Session
	m := &message{
		Event: event, Call: v.ID, Tool: v.Tool.Name, Access: v.Tool.Access.String(), Effects: strings.Split(v.Tool.Effects.String(), ","),
		Principal: s.Principal, Client: messageClient{s.Client.Name, s.Client.Version}, Arguments: v.Args,
	}
	for i := range v.Plan.Commands {
		c := &v.Plan.Commands[i]
		if c.Perhaps {
			continue
		}
		m.Commands = append(m.Commands, c.String())
		if m.Unknown == "" && c.Hides != "" {
			m.Unknown = c.String() + ": " + c.Hides
		}
	}
	if v.Plan.Unknown != "" {
		m.Unknown = v.Plan.Unknown
	}
	if s.Workspace != nil {
		m.Roots = s.Workspace.Roots()
	}
	if !json.Valid(v.Args) {
		m.Arguments = nil
	}
	return m
}

func (m *message) encode() []byte {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // it holds valid JSON and strings alone
	}
	return append(data, '\n')
}

func resultOf(res tools.Result) *messageResult {
	var b strings.Builder
	for _, block := range res.Content {
		b.WriteString(block.Text)
	}
	return &messageResult{head(b.String()), b.Len()}
}

// head returns the beginning of a text.
func head(text string) string {
	if len(text) > maxHead {
		text = text[:maxHead]
	}
	return strings.ToValidUTF8(text, "")
}

// noSuch says that a word is unknown, with the nearest that is known.
func noSuch(text string, known []string) error {
	if near := schema.Nearest(text, known); near != "" {
		return fmt.Errorf("there is no %q; did you mean %q", excerpt(text), near)
	}
	if len(known) > 12 {
		return fmt.Errorf("there is no %q", excerpt(text))
	}
	return fmt.Errorf("there is no %q; there are: %s", excerpt(text), strings.Join(known, ", "))
}

// excerpt shortens a text for an error or a question.
func excerpt(text string) string {
	const most = 400
	if len(text) > most {
		text = text[:most] + "…"
	}
	return valid(text)
}

func valid(text string) string { return strings.ToValidUTF8(text, "?") }
