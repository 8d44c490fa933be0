package tools

import (
	"context"
	"encoding/json"
)

// Form is what the user is asked. Fields are flat: a client shows them as one
// simple form. A Form without fields is a plain yes or no.
type Form struct {
	// Message says what will happen, naming the things concerned.
	Message string      `json:"message"`
	Fields  []FormField `json:"fields,omitempty"`
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
	Many        bool     `json:"many,omitempty"`   // several choices may be taken
	// Default is the value that the form begins with, as JSON; nil = none.
	Default  json.RawMessage `json:"default,omitempty"`
	Required bool            `json:"required,omitempty"`
}

// Question is a Form that asks for consent. The zero Question asks nothing.
type Question struct {
	// Message names what will happen: "delete build/ with 214 files".
	Message string
}

// Action is what the user did with a form.
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
}

// PendingAsk is the error by which [Ask] leaves a handler whose answer is not
// there yet. A handler passes it on as any other error; the runner asks the
// user and runs the handler again from its start.
type PendingAsk struct{ Forms []Form }

func (*PendingAsk) Error() string { return "waiting for the user's answer" }

// Asker answers forms for one call. The runner puts it into the context.
type Asker interface {
	// Ask returns the answers in the order of the forms, a *PendingAsk, or an *Error
	// with code Unavailable where the client cannot ask its user.
	Ask(ctx context.Context, forms ...Form) ([]Answer, error)
}

// Ask asks the user. It must be called before the first effect of a call,
// since the handler runs again once the answer is there; several Asks of a call
// are told apart by their order.
func Ask(ctx context.Context, form Form) (Answer, error) {
	answers, err := AskAll(ctx, form)
	if err != nil {
		return Answer{}, err
	}
	return answers[0], nil
}

// AskAll asks the user several things at once, as [Ask] does. The answers are in
// the order of the forms.
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
