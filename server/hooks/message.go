package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
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

// answer is the decision of a hook.
type answer struct {
	Decision, Reason, Hint string
	Arguments              json.RawMessage
	Result                 *struct{ Text *string }
}

var (
	answerKeys = []string{"decision", "reason", "hint", "arguments", "result"}
	decisions  = []string{"allow", "deny", "ask", "skip"}
)

// parse reads the answer of a hook. A key that is unknown or given twice is an
// error, since it may be a denial that is misspelt.
func parse(data []byte) (a answer, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return a, fmt.Errorf("the answer is no JSON object: %q", excerpt(string(data)))
	}
	into := map[string]any{"decision": &a.Decision, "reason": &a.Reason, "hint": &a.Hint, "arguments": &a.Arguments, "result": &a.Result}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return a, fmt.Errorf("the answer is no JSON: %w", err)
		}
		key, _ := t.(string)
		dst, ok := into[key]
		switch {
		case !ok && slices.Contains(answerKeys, key):
			return a, fmt.Errorf("the answer has %q twice", key)
		case !ok:
			return a, fmt.Errorf("the answer has %q, %w", excerpt(key), noSuch(key, answerKeys))
		}
		delete(into, key)
		if err := d.Decode(dst); err != nil {
			return a, fmt.Errorf("%s of the answer: %w", key, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return a, fmt.Errorf("the answer is no JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return a, errors.New("the answer has something behind its object")
	}
	if string(a.Arguments) == "null" {
		a.Arguments = nil
	}
	return a, nil
}

// decision reads a decision on a call.
func (h *hook) decision(v run.View, data []byte) (run.Decision, error) {
	a, err := parse(data)
	if err != nil {
		return run.Decision{}, err
	}
	if a.Arguments != nil && (a.Decision == "deny" || a.Decision == "skip") {
		return run.Decision{}, fmt.Errorf("decision %s goes with no arguments", a.Decision)
	}
	if a.Result != nil && a.Decision != "skip" {
		return run.Decision{}, fmt.Errorf("decision %q goes with no result", excerpt(a.Decision))
	}
	switch a.Decision {
	case "allow":
		return run.Decision{Args: a.Arguments}, nil
	case "ask":
		question := a.Reason
		if question == "" {
			question = fmt.Sprintf("%s: the hook %s wants your consent. Arguments: %s", v.Tool.Title, h.name, excerpt(string(v.Args)))
		}
		return run.Decision{Ask: valid(question), Args: a.Arguments}, nil
	case "deny":
		reason := a.Reason
		if reason == "" {
			reason = "denied"
		}
		return run.Decision{Deny: valid(fmt.Sprintf("%s: %s (hook %s)", v.Tool.Name, reason, h.name)), Hint: valid(a.Hint)}, nil
	case "skip":
		if a.Result == nil || a.Result.Text == nil {
			return run.Decision{}, errors.New(`decision skip wants {"result": {"text": ...}}`)
		}
		return run.Decision{Skip: &tools.Result{Content: []tools.Block{tools.Text(*a.Result.Text)}}}, nil
	}
	return run.Decision{}, fmt.Errorf("decision: %w", noSuch(a.Decision, decisions))
}

// idle refuses an answer that wants to change a call that has ended.
func idle(data []byte) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	a, err := parse(data)
	switch {
	case err != nil:
		return err
	case a.Decision != "" && a.Decision != "allow", a.Arguments != nil, a.Result != nil:
		return errors.New("the call has ended, and its outcome cannot be changed")
	}
	return nil
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
