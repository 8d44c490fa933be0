package run

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"toolcrib/server/rules"
	"toolcrib/tools"
	"toolcrib/workspace"
)

// sessionIdle is how long a consent for the session lasts after the last call that it
// covered.
const sessionIdle = time.Hour

// maxConsents is the most consents that are remembered. Beyond it, the user is asked
// again.
const maxConsents = 1 << 12

// The form that asks for consent has a choice field if the user can consent to more than
// this call.
const (
	consentField   = "allow"
	allowOnce      = "once"
	allowSession   = "session"
	refuseByChoice = "deny"
	noChoice       = "none" // of the form: an answer that it does not offer
)

// offer describes what a consent for the session covers: calls of the same tool that the
// same rule asks about and whose paths are in Dirs. If Dirs is empty, the tool takes no
// paths. For a tool that runs commands, it covers only repetitions of the shown call,
// since any change of a line can change what it does. It is valid for the principal and
// the name of the client.
type offer struct {
	Dirs  []string // as results print them
	Exact digest   // of the arguments; zero where others are covered too
}

// offers returns the consent for the session that the user can give, or nil if the user
// can only allow this call: a tool's own question is about the state that it has found,
// and a destructive call needs a look each time.
func (p *pass) offers() *offer {
	if p.tool.Effects.Has(tools.Destroys) && !p.tool.Plans() {
		return nil
	}
	dirs, ok := p.dirs()
	if !ok {
		return nil
	}
	o := &offer{Dirs: dirs}
	if p.tool.Plans() {
		o.Exact = p.r.seal.digest(p.bound.Canonical)
	}
	return o
}

// dirs returns the directories of the call's paths, with links followed; false if a path
// cannot be resolved.
func (p *pass) dirs() (dirs []string, ok bool) {
	for _, arg := range p.bound.Paths {
		if p.ground == nil {
			return nil, false
		}
		at, err := p.ground.Resolve(arg.Value)
		if err != nil {
			return nil, false
		}
		at = at.Landing()
		dir := filepath.ToSlash(at.String())
		if info, exists, err := at.Find(false); err != nil || !exists || info.Kind != workspace.KindDirectory {
			dir = path.Dir(dir)
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, true
}

// covers describes the offer for the user.
func (o *offer) covers() string {
	if o.Exact != (digest{}) {
		return "this call again, with the very same arguments"
	}
	if len(o.Dirs) == 0 {
		return "calls of this tool that the same rule asks about"
	}
	return "calls of this tool that the same rule asks about, with paths in " + strings.Join(o.Dirs, ", ") + " and below"
}

// form asks for consent.
func (o *offer) form(question string) tools.Form {
	if o == nil {
		return tools.Form{Message: question}
	}
	return tools.Form{Message: question, Fields: []tools.FormField{{
		Name: consentField, Title: "Allow", Type: "string", Required: true,
		Description: "for this session covers " + o.covers() + ", until an hour has passed without one",
		Choices:     []string{allowOnce, allowSession, refuseByChoice},
		Labels:      []string{"Allow once", "Allow for this session", "Deny"},
		Default:     json.RawMessage(`"` + allowOnce + `"`),
	}}}
}

// choice returns the user's choice in an accepted form; "" is none. A form without a
// choice field allows the call once when it is accepted. Content that does not match the
// form is noChoice.
func (o *offer) choice(content map[string]json.RawMessage) string {
	if o == nil {
		if len(content) > 0 {
			return noChoice
		}
		return allowOnce
	}
	given, ok := content[consentField]
	if !ok {
		return ""
	}
	var choice string
	if json.Unmarshal(given, &choice) != nil || choice == "" {
		return noChoice
	}
	return choice
}

// answered handles the answer to the form that asks for consent. It returns an error if
// the user did not consent.
func (p *pass) answered(answer tools.Answer) error {
	choice := p.offer.choice(answer.Values)
	switch {
	case answer.Action != tools.Accept:
		return p.unconfirmed()
	case choice == refuseByChoice:
		return p.declined()
	case choice == "": // a client that shows no fields, or fills none in
		return tools.Errorf(tools.Declined, "%s: the form came back accepted without its field %q, which is no consent", p.tool.Name, consentField).
			WithHint("the client has to send %s: once, session or deny; the user can start the server with --confirm client, which sends no form and trusts the client's own prompt", consentField)
	case choice == allowSession && p.r.consents.has(p): // answered on an earlier pass
	case choice == allowSession && p.offer != nil:
		p.r.consents.remember(p.consentKey(), p.offer)
	case choice != allowOnce:
		return p.unconfirmed()
	}
	return nil
}

// consentKey identifies the calls that a consent for the session covers. If the rules
// change, the user was not asked under the new policy, so the consent does not count.
type consentKey struct {
	principal, client, tool, rule string
	rules                         *rules.Set
}

func (p *pass) consentKey() consentKey {
	s := &p.call.Session
	return consentKey{s.Principal, s.Client.Name, p.tool.Name, p.rule, p.live.Rules}
}

// consents holds the consents for sessions, only in memory.
type consents struct {
	now func() time.Time

	mu    sync.Mutex
	given map[consentKey][]*consent
	count int
}

type consent struct {
	offer
	used time.Time
}

func newConsents(now func() time.Time) *consents {
	return &consents{now: now, given: map[consentKey][]*consent{}}
}

func (cs *consents) remember(key consentKey, o *offer) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.count >= maxConsents {
		cs.forget()
	}
	if cs.count < maxConsents {
		cs.given[key] = append(cs.given[key], &consent{*o, cs.now()})
		cs.count++
	}
}

// forget removes consents that have not been used for too long.
func (cs *consents) forget() {
	cs.count = 0
	for key, list := range cs.given {
		list = slices.DeleteFunc(list, cs.over)
		if cs.count += len(list); len(list) == 0 {
			delete(cs.given, key)
		} else {
			cs.given[key] = list
		}
	}
}

func (cs *consents) over(c *consent) bool { return cs.now().Sub(c.used) > sessionIdle }

// has reports whether the user has consented to calls such as p for this session.
func (cs *consents) has(p *pass) bool {
	if p.offer == nil {
		return false
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, c := range cs.given[p.consentKey()] {
		if !cs.over(c) && c.includes(p.offer) {
			c.used = cs.now()
			return true
		}
	}
	return false
}

// includes reports whether the user was shown everything that o covers.
func (c *consent) includes(o *offer) bool {
	if c.Exact != o.Exact {
		return false
	}
	if len(c.Dirs) == 0 || len(o.Dirs) == 0 {
		return len(c.Dirs) == len(o.Dirs)
	}
	for _, dir := range o.Dirs {
		if !slices.ContainsFunc(c.Dirs, func(in string) bool { return within(in, dir) }) {
			return false
		}
	}
	return true
}

// within reports whether a printed path is another or lies below it.
func within(in, dir string) bool {
	switch in {
	case dir:
		return true
	case ".":
		return !filepath.IsAbs(filepath.FromSlash(dir))
	}
	return strings.HasPrefix(dir, strings.TrimSuffix(in, "/")+"/")
}
