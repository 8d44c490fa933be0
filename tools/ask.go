package tools

import (
	"context"
	"encoding/json"
	"time"
)

// Form is a question to the user. Its fields are flat: a client shows them as one
// simple form. A Form without fields asks for yes or no.
type Form struct {
	// Message says what will happen and names the things concerned.
	Message string      `json:"message"`
	Fields  []FormField `json:"fields,omitempty"`
	// Wait is how long the user may take; 0 = the time that an answer of the protocol may take.
	Wait time.Duration `json:"-"`
}

// FormField is one value that the user fills in or chooses.
type FormField struct {
	Name        string   `json:"name"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Type        string   `json:"type"`             // string, boolean, integer or number
	Format      string   `json:"format,omitempty"` // of a string: email, uri, date or date-time
	Choices     []string `json:"choices,omitempty"`
	Labels      []string `json:"labels,omitempty"` // of the choices, as the user sees them
	Many        bool     `json:"many,omitempty"`   // the user may take several choices
	// Default is the initial value, as JSON; nil = none.
	Default  json.RawMessage `json:"default,omitempty"`
	Required bool            `json:"required,omitempty"`
}

// Question is a Form that asks for consent. The zero Question asks nothing.
type Question struct {
	// Message names what will happen: "delete build/ with 214 files".
	Message string
}

// Action is the user's response to a form.
type Action string

// The actions.
const (
	Accept  Action = "accept"
	Decline Action = "decline"
	Cancel  Action = "cancel"
)

// Answer is the user's reply to a Form.
type Answer struct {
	Action Action                     `json:"action"`
	Values map[string]json.RawMessage `json:"values,omitempty"`
	// After is how long the answer took.
	After time.Duration `json:"after,omitempty"`
}

// PendingAsk is the error that [Ask] returns while the answer is not known yet. A handler
// returns it like any other error; the runner asks the user and then runs the handler
// again from its start.
type PendingAsk struct{ Forms []Form }

func (*PendingAsk) Error() string { return "waiting for the user's answer" }

// Asker answers forms for one call. The runner puts it into the context.
type Asker interface {
	// Ask returns the answers in the order of the forms, a *PendingAsk, or an *Error
	// with code Unavailable where the client cannot ask its user.
	Ask(ctx context.Context, forms ...Form) ([]Answer, error)
}

// Ask asks the user. Call it before the first effect of a call, because the handler runs
// again when the answer has come. The order of several Asks identifies them.
func Ask(ctx context.Context, form Form) (Answer, error) {
	answers, err := AskAll(ctx, form)
	if err != nil {
		return Answer{}, err
	}
	return answers[0], nil
}

// AskAll is [Ask] for several forms at once. The answers are in the order of the forms.
func AskAll(ctx context.Context, forms ...Form) ([]Answer, error) {
	if asker, ok := ctx.Value(askerKey{}).(Asker); ok {
		return asker.Ask(ctx, forms...)
	}
	return nil, Errorf(Unavailable, "nobody can be asked in this call")
}

// WithAsker returns a context in which [Ask] uses asker.
func WithAsker(ctx context.Context, asker Asker) context.Context {
	return context.WithValue(ctx, askerKey{}, asker)
}

type askerKey struct{}
