package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// The decisions, in the order of their strength. The zero value has no objection.
const (
	allows = "allow"
	asks   = "ask"
	skips  = "skip"
	denies = "deny"
)

// answer is what a hook says, in its own form or in that of Claude Code's hooks. Decisions
// has what each form decides.
type answer struct {
	Decisions    []string
	Reason, Hint string
	Arguments    json.RawMessage
	Result       *string
}

// misspelt is an answer that says something which nobody can be sure of. It may be a denial,
// and so it denies; the denial quotes it.
type misspelt struct{ error }

// objection is the denial of a command by its exit code 2, with what it wrote to stderr.
type objection struct{ reason string }

func (o *objection) Error() string { return "it has an objection: " + o.reason }

// parse reads the answer of a hook. A key that is unknown or given twice is an
// error, since it may be a denial that is misspelt.
func parse(data []byte) (a answer, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return a, nil
	}
	var decision, stop, feedback string
	goOn := true
	var ignored any
	err = object("the answer", data, map[string]func(json.RawMessage) error{
		"decision":  word(&decision),
		"reason":    into(&a.Reason),
		"hint":      into(&a.Hint),
		"arguments": into(&a.Arguments),
		"result":    a.result,
		// of Claude Code
		"hookSpecificOutput": a.specific,
		"continue":           into(&goOn),
		"stopReason":         into(&stop),
		"systemMessage":      into(&feedback),
		"suppressOutput":     into(&ignored),
	})
	if err != nil {
		return a, misspelt{err}
	}
	switch decision {
	case "block":
		decision = denies
	case "approve":
		decision = allows
	}
	if a.Decisions = append(a.Decisions, decision); !goOn {
		a.Decisions = append(a.Decisions, denies)
		a.Reason = cmp.Or(stop, a.Reason)
	}
	if string(a.Arguments) == "null" {
		a.Arguments = nil
	}
	return a, nil
}

// result reads a result: a text, or an object that has it.
func (a *answer) result(raw json.RawMessage) error {
	var text string
	if json.Unmarshal(raw, &text) == nil && raw[0] == '"' {
		a.Result = &text
		return nil
	}
	return object("its result", raw, map[string]func(json.RawMessage) error{"text": into(&a.Result)})
}

// specific reads the form of a PreToolUse hook of Claude Code.
func (a *answer) specific(raw json.RawMessage) error {
	var event, decision, reason, context string
	err := object("its hookSpecificOutput", raw, map[string]func(json.RawMessage) error{
		"hookEventName":            into(&event),
		"permissionDecision":       word(&decision),
		"permissionDecisionReason": into(&reason),
		"updatedInput":             into(&a.Arguments),
		"additionalContext":        into(&context),
	})
	if err != nil {
		return err
	}
	if decision == skips {
		return fmt.Errorf("permissionDecision: %w", noSuch(decision, []string{allows, asks, denies}))
	}
	a.Decisions = append(a.Decisions, decision)
	a.Reason = cmp.Or(reason, a.Reason)
	return nil
}

// into returns a reader of a value into dst.
func into(dst any) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		if json.Unmarshal(raw, dst) == nil {
			return nil
		}
		wanted := "a text"
		if _, is := dst.(*bool); is {
			wanted = "true or false"
		}
		return fmt.Errorf("it is %s, and must be %s", excerpt(string(raw)), wanted)
	}
}

// word returns a reader of a decision, which is not empty.
func word(dst *string) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		if err := json.Unmarshal(raw, dst); err != nil || *dst == "" {
			return fmt.Errorf("it is %s; there are: %s", excerpt(string(raw)), strings.Join([]string{allows, denies, asks, skips}, ", "))
		}
		return nil
	}
}

// object reads an object whose keys are those of read, each at most once.
func object(what string, data []byte, read map[string]func(json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("%s is no JSON object: %q", what, excerpt(string(data)))
	}
	known := slices.Sorted(maps.Keys(read))
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return broken(what, data)
		}
		key, _ := t.(string)
		set, ok := read[key]
		switch {
		case !ok:
			return fmt.Errorf("%s has %q, %w", what, excerpt(key), noSuch(key, known))
		case seen[key]:
			return fmt.Errorf("%s has %q twice", what, key)
		}
		seen[key] = true
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return broken(what, data)
		}
		if err := set(raw); err != nil {
			return fmt.Errorf("%s of %s: %w", key, what, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return broken(what, data)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s has something behind its object", what)
	}
	return nil
}

// broken says that something is no JSON.
func broken(what string, data []byte) error {
	return fmt.Errorf("%s is no JSON, or ends too early: %q", what, excerpt(strings.TrimSpace(string(data))))
}

// strongest returns the decision that beats the others; "" has no objection.
func (a *answer) strongest() (string, error) {
	order := []string{"", allows, asks, skips, denies}
	best := 0
	for _, word := range a.Decisions {
		i := slices.Index(order, word)
		if i < 0 {
			return "", misspelt{fmt.Errorf("decision: %w", noSuch(word, order[1:]))}
		}
		best = max(best, i)
	}
	return order[best], nil
}

// decision reads a decision on a call.
func (h *hook) decision(v run.View, data []byte) (run.Decision, error) {
	a, err := parse(data)
	if err != nil {
		return run.Decision{}, err
	}
	word, err := a.strongest()
	switch {
	case err != nil:
		return run.Decision{}, err
	case a.Arguments != nil && (word == denies || word == skips):
		return run.Decision{}, misspelt{fmt.Errorf("decision %s goes with no arguments", word)}
	case a.Result != nil && word != skips:
		return run.Decision{}, misspelt{fmt.Errorf("decision %q goes with no result", word)}
	case word == "" && a.Hint+a.Reason != "":
		return run.Decision{}, misspelt{errors.New("it has a reason or a hint and no decision")}
	}
	switch word {
	case asks:
		return run.Decision{Ask: valid(question(a.Reason, h.name, v)), Args: a.Arguments}, nil
	case denies:
		return h.denial(a.Reason, a.Hint), nil
	case skips:
		if a.Result == nil {
			return run.Decision{}, misspelt{errors.New(`decision skip wants a result, which is a text`)}
		}
		return run.Decision{Skip: &tools.Result{Content: []tools.Block{tools.Text(*a.Result)}}}, nil
	}
	return run.Decision{Args: a.Arguments}, nil
}

// question returns what a hook wants the user to be asked: what it says, if it says something.
func question(said, hook string, v run.View) string {
	return cmp.Or(said, fmt.Sprintf("%s: the hook %s wants your consent. Arguments: %s", v.Tool.Title, hook, excerpt(string(v.Args))))
}

func (h *hook) denial(reason, hint string) run.Decision {
	return run.Decision{
		By: h.name, Deny: valid(cmp.Or(reason, "denied")),
		Hint: valid(hint),
	}
}

// idle refuses an answer that wants to change a call that has ended.
func idle(data []byte) error {
	a, err := parse(data)
	if err != nil {
		return err
	}
	word, err := a.strongest()
	switch {
	case err != nil:
		return err
	case word != "" && word != allows, a.Arguments != nil, a.Result != nil:
		return errors.New("the call has ended, and its outcome cannot be changed")
	}
	return nil
}
