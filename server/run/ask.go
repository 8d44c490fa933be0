package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"toolcrib/server/rules"
	"toolcrib/tools"
)

// consentForm is the id of the form that asks whether the call may be made;
// the forms of a handler are ask_1, ask_2 ... in the order of its Asks.
const consentForm = "consent"

// ask gets the user's consent if the policy demands it. It stops the call until the user
// has answered.
func (p *pass) ask() error {
	switch {
	case p.verdict != rules.Ask || p.dry: // Preflight asks for several calls at once
		return nil
	case p.settled != nil && p.settled.Consented:
		return nil
	case p.settled != nil && p.call.Reply != nil:
		answer, ok := p.call.Reply.Answers[consentForm]
		if !ok {
			break
		}
		p.settled.Consented = true
		return p.answered(answer)
	}
	refusal := p.cannotAsk()
	switch {
	case refusal == nil && p.r.consents.has(p):
		p.verdict = rules.Allow
		return nil
	case p.absent:
		return refusal
	case p.parent != nil:
		return p.mustBeAlone()
	case p.live.Confirm == ConfirmClient:
		p.verdict = rules.Allow // the client asks its user by its own prompt
		return nil
	case refusal != nil:
		return refusal
	}
	return &tools.PendingAsk{Forms: []tools.Form{p.offer.form(p.question)}}
}

// mustBeAlone denies an inner call: the user can be asked about it only if it is made
// directly.
func (p *pass) mustBeAlone() *tools.Error {
	return tools.Errorf(tools.Denied, "%s: needs the user's consent, which cannot be asked for inside another call (%s)", p.tool.Name, p.reason()).
		WithHint("call %s by itself; what the user then allows for the session, or by a rule of the policy in the configuration, is allowed inside other calls too", p.tool.Name)
}

func (p *pass) declined() *tools.Error {
	return tools.Errorf(tools.Declined, "%s: the user declined (%s)", p.tool.Name, p.reason()).
		WithHint("do not make this call again unless the user asks for it")
}

// unconfirmed returns the error of a call whose form came back without a choice. A client that
// has no user answers it itself.
func (p *pass) unconfirmed() *tools.Error {
	return tools.Errorf(tools.Declined, "%s: not confirmed: the client answered without asking its user, or the user declined (%s)", p.tool.Name, p.reason()).
		WithHint("do not make this call again unless the user asks for it; the user can allow it by a rule of the policy in the configuration, or start the server with --confirm client, which sends no form and trusts the client's own prompt")
}

// reason returns in one line which rule asks, and what the user would have been asked.
func (p *pass) reason() string {
	cause := strings.ReplaceAll(strings.TrimSpace(cmp.Or(p.cause, p.question)), "\n", "; ")
	return "rule " + p.rule + ": " + excerpt(shown(cause), maxShownArgs)
}

// cannotAsk returns why the user cannot be asked to consent to this call, or nil.
func (p *pass) cannotAsk() *tools.Error {
	subject := fmt.Sprintf("%s: needs the user's consent (%s)", p.tool.Name, p.reason())
	switch {
	case p.absent:
		return tools.Errorf(tools.Denied, "%s, and nobody can be asked when it runs by itself", subject).
			WithHint("plan it again, so that the user is asked then")
	case p.live.Confirm == ConfirmDeny:
		return tools.Errorf(tools.Denied, "%s, and the server never asks", subject).
			WithHint("the user can start it without --confirm deny")
	case !p.call.Session.Client.Forms:
		return tools.Errorf(tools.Denied, "%s, and this client cannot show a form", subject).
			WithHint("the user can call it from a client with the elicitation ability, allow it by a rule of the policy in the configuration, or start the server with --confirm client")
	}
	return nil
}

// asker answers the Asks of a handler in order: those that earlier passes have settled at
// once, the next one by a round trip.
type asker struct {
	refusal func() error // why nobody can be asked; nil = somebody can

	mu      sync.Mutex
	answers []settledAsk
	asked   int
}

// settledAsk is one answered Ask. An answer counts only for its form, in case the handler
// asks something else the next time.
type settledAsk struct {
	Form   digest
	Answer tools.Answer
}

// newAsker returns the asker of the call. A call inside another call asks as part of the
// outer call, as long as it is the only one that was made: the outer handler runs again
// from its start when the answer comes.
func (p *pass) newAsker() *asker {
	switch {
	case p.parent != nil && p.parent.inner.only():
		return p.parent.asker
	case p.parent != nil:
		return &asker{refusal: func() error {
			return tools.Errorf(tools.Unavailable, "the user cannot be asked in the middle of another call").WithHint("call %s by itself", p.call.Tool)
		}}
	case p.live.Confirm != ConfirmAsk:
		return &asker{refusal: func() error {
			return tools.Errorf(tools.Unavailable, "the server sends no forms").
				WithHint("ask the user in plain text; the user can start the server without --confirm %s", p.live.Confirm)
		}}
	case !p.call.Session.Client.Forms:
		return &asker{refusal: func() error {
			return tools.Errorf(tools.Unavailable, "this client cannot show a form").WithHint("ask the user in plain text")
		}}
	}
	return &asker{}
}

// Ask implements [tools.Asker].
func (a *asker) Ask(_ context.Context, forms ...tools.Form) ([]tools.Answer, error) {
	if a.refusal != nil {
		return nil, a.refusal()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	answers := make([]tools.Answer, len(forms))
	for i, form := range forms {
		n := a.asked
		if n >= len(a.answers) {
			a.asked += len(forms) - i
			return nil, &tools.PendingAsk{Forms: forms[i:]}
		}
		a.asked++
		if a.answers[n].Form != formDigest(form) {
			return nil, tools.Errorf(tools.Conflict, "the question has changed since the user answered it").
				WithHint("make the call again, without its state")
		}
		answers[i] = a.answers[n].Answer
	}
	return answers, nil
}

// settles reports whether the next Ask already has an answer, and the answer is to this
// form.
func (a *asker) settles(form tools.Form) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked < len(a.answers) && a.answers[a.asked].Form == formDigest(form)
}

// position and rewind let a handler that runs again ask from where it started.
func (a *asker) position() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked
}

func (a *asker) rewind(position int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = position
}

// suspend turns a pending question into the Ask for the client. Its sealed state holds
// everything that is settled so far.
func (p *pass) suspend(pending *tools.PendingAsk) (*Ask, error) {
	s := settlement{
		Tool: p.tool.Name, Principal: p.call.Session.Principal, Sent: p.r.seal.digest(p.sent),
		Verdict: p.verdict, Rule: p.rule, Question: p.question, Cause: p.cause, Answers: p.asker.answers,
		Consented: p.settled != nil && p.settled.Consented, Offer: p.offer,
	}
	if p.replaced {
		s.Args = p.bound.Canonical
	}
	forms := map[string]tools.Form{}
	var wait time.Duration
	for i, form := range pending.Forms {
		asked := form
		form.Message = shown(form.Message)
		wait = max(wait, form.Wait)
		if p.verdict == rules.Ask && !s.Consented {
			forms[consentForm] = form
			break
		}
		forms[handlerForm(len(s.Answers)+i)] = form
		s.Pending = append(s.Pending, formDigest(asked))
	}
	state, err := p.r.seal.close(s, wait)
	return &Ask{Forms: forms, State: state}, err
}

func handlerForm(n int) string { return fmt.Sprintf("ask_%d", n+1) }

// formDigest identifies a form, so that an answer stays with its question.
func formDigest(form tools.Form) digest {
	data, err := json.Marshal(form)
	if err != nil {
		panic(err) // a Default that is no JSON is an error of the tool
	}
	return plainDigest(data)
}
