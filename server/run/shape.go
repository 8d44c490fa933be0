package run

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"toolcrib/tools"
)

// Keys of a result's Meta.
const (
	metaMends  = "toolcrib/mends"      // corrections of the arguments, a line each
	metaCached = "toolcrib/cached_age" // how old a kept result is, as a duration
	metaJoined = "toolcrib/joined"     // true: an identical call that was in flight already has given the result
)

// maxNote is the most bytes of the line that lists corrected arguments.
const maxNote = 1000

// shape makes the Outcome: the value within the limits of the tool, the error, or the
// question to the user.
func (p *pass) shape(stop error) Outcome {
	if pending, ok := stop.(*tools.PendingAsk); ok {
		return p.suspended(pending)
	}
	if stop != nil && !errors.Is(stop, errSkipped) {
		return Outcome{Err: clip(p.clean(tools.AsError(stop)))}
	}
	var res tools.Result
	err := tools.Recover(func() (err error) {
		res, err = p.result()
		return err
	})
	if err != nil {
		return Outcome{Err: clip(p.clean(p.worded(err)))}
	}
	return Outcome{Result: res}
}

// worded converts an error of this stage, which no cancellation can have caused.
func (p *pass) worded(err error) *tools.Error {
	return tools.AsError(p.failure(context.Background(), err))
}

// suspended makes the Ask of a call. A call inside another call leaves it to the outer
// handler, which passes it on.
func (p *pass) suspended(pending *tools.PendingAsk) Outcome {
	if p.parent != nil {
		p.pending = pending
		return Outcome{Ask: &Ask{}}
	}
	ask, err := p.suspend(pending)
	if err != nil {
		return Outcome{Err: clip(p.worded(err))}
	}
	return Outcome{Ask: ask}
}

// result renders the value. A line about corrected arguments is a separate block before
// it, so that the result's text is not changed.
func (p *pass) result() (tools.Result, error) {
	tool, note := p.tool, p.note()
	if _, passed := p.value.(tools.Result); !passed || !p.inner.begun() {
		tool.Limits.Text -= len(note) // of an inner call the result has left room for it
	}
	for outer := p.parent; outer != nil; outer = outer.parent {
		tool.Limits.Text -= len(outer.note()) // it may be put below this result
	}
	res, err := p.rendered(tool)
	if err != nil {
		return tools.Result{}, err
	}
	if p.parent != nil {
		res.Fit = func(limit int) (tools.Result, error) {
			fitted := tool
			fitted.Limits.Text = limit
			return p.rendered(fitted)
		}
	}
	if note == "" && p.source != sourceCache && p.source != sourceJoined {
		return res, nil
	}
	if res.Meta = maps.Clone(res.Meta); res.Meta == nil {
		res.Meta = map[string]any{}
	}
	if note != "" {
		inner, _ := res.Meta[metaMends].([]string) // of a call whose result this is
		res.Meta[metaMends] = slices.Concat(inner, p.mends)
		res.Content = append([]tools.Block{tools.Text(note)}, res.Content...)
	}
	switch p.source {
	case sourceCache:
		res.Meta[metaCached] = p.age.String()
	case sourceJoined:
		res.Meta[metaJoined] = true
	}
	return res, nil
}

// note returns the line that lists corrected arguments, "" if there are none.
func (p *pass) note() string {
	if len(p.mends) == 0 {
		return ""
	}
	return excerpt("note: "+strings.Join(p.mends, "; "), maxNote) + "\n" // some clients put blocks together as they are
}

// rendered renders the value within the limits of the tool and, if a hook wants that,
// without secrets.
func (p *pass) rendered(tool tools.Tool) (_ tools.Result, err error) {
	limit, redactor := tool.Limits.Text, p.redactor()
	for {
		var res tools.Result
		if p.shown != nil && tool.Limits.Text == p.tool.Limits.Text {
			res = *p.shown
		} else if res, err = tool.Render(p.value); err != nil {
			return tools.Result{}, err
		}
		res.Content = slices.Clone(res.Content) // a kept result is everybody's
		size := 0
		for i, b := range res.Content {
			if !utf8.ValidString(b.Text) {
				b.Text = strings.ToValidUTF8(b.Text, "?") // no longer than it was
			}
			if redactor != nil {
				b.Text, b.URI, b.Name = redactor.String(b.Text), redactor.String(b.URI), redactor.String(b.Name)
			}
			res.Content[i] = b
			size += len(b.Text)
		}
		if redactor == nil || size <= limit {
			if redactor != nil && res.Structured != nil {
				res.Structured = redactor.JSON(res.Structured)
			}
			return res, nil
		}
		tool.Limits.Text -= size - limit // a mark may be longer than the secret was
		if tool.Limits.Text <= 0 {
			return tools.Result{}, tools.Errorf(tools.TooLarge, "%s: the result is too large without its secrets", tool.Name).
				WithHint("ask for less in one call")
		}
	}
}

// redactor returns the Redactor for the client's view of the call, or nil.
func (p *pass) redactor() Redactor {
	if p.live.Hooks.Redact == nil {
		return nil
	}
	return p.live.Hooks.Redact(p.view())
}

// clean removes secrets from an error if a hook wants that.
func (p *pass) clean(e *tools.Error) *tools.Error {
	redactor := p.redactor()
	if redactor == nil {
		return e
	}
	c := *e
	c.Msg, c.Hint = redactor.String(c.Msg), redactor.String(c.Hint)
	return &c
}

// clip makes an error safe to show even if it quotes the call: within its limit, valid
// UTF-8 and without deceptive characters. A short hint stays whole.
func clip(e *tools.Error) *tools.Error {
	c := *e
	c.Msg, c.Hint = tools.Clip(shown(c.Msg)), excerpt(shown(c.Hint), maxNote)
	if over := len(c.Error()) - tools.MaxErrorText; over > 0 {
		c.Msg = excerpt(c.Msg, len(c.Msg)-over-len("…"))
	}
	return &c
}

// shown returns a text as a client may show it to a person.
func shown(text string) string { return tools.Visible(strings.ToValidUTF8(text, "?")) }
