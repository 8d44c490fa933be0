package run

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"toolcrib/server/rules"
	"toolcrib/tools"
)

// foresee asks the tool which arguments may be shown, and for the plan of the call. The
// access and the effects of the plan replace those of the tool.
func (p *pass) foresee(ctx context.Context) error {
	p.redacted = p.tool.Redacted(ctx, p.bound)
	if !p.tool.Plans() {
		return nil
	}
	if p.declared == nil {
		p.declared = new(p.tool)
	}
	plan, err := p.declared.Plan(ctx, p.bound)
	if err != nil {
		return err
	}
	p.plan, p.tool.Effects = plan, plan.Effects
	p.tool.Access, p.tool.Least = plan.Access, plan.Access
	return p.granted()
}

// spots returns the spots at which the call is judged: its paths and, if a rule is about
// commands, each of its commands.
func (p *pass) spots(c rules.Applicable) []rules.Spot {
	var touched []tools.Touch
	if !c.Ordered {
		for i := range p.plan.Commands {
			touched = append(touched, p.plan.Commands[i].Touches...)
		}
	}
	if !c.Ordered || len(p.plan.Commands) == 0 {
		return p.unordered(c, touched)
	}
	var list []rules.Spot
	if c.Placed && len(p.plan.Touches) > 0 {
		for _, at := range p.resolve(p.plan.Touches) {
			list = append(list, rules.Spot{Location: at})
		}
	}
	for i := range p.plan.Commands {
		cmd := &p.plan.Commands[i]
		places := []rules.Location{{}}
		if c.Placed {
			places = append(p.places(true), p.resolve(cmd.Touches)...)
		}
		for _, at := range places {
			list = append(list, rules.Spot{Location: at, Command: cmd, Vague: c.Placed && !cmd.Told})
		}
	}
	if p.plan.Unknown != "" || p.plan.Writes { // no rule about the commands is about that
		list = append(list, p.unordered(c, nil)...)
	}
	return list
}

// unordered returns the spots of a call without its commands.
func (p *pass) unordered(c rules.Applicable, touched []tools.Touch) []rules.Spot {
	places := p.places(c.Placed)
	if c.Placed {
		places = append(places, p.resolve(p.plan.Touches)...)
		places = append(places, p.resolve(touched)...)
	}
	list := make([]rules.Spot, len(places))
	for i, at := range places {
		list[i].Location = at
	}
	return list
}

// resolve returns where paths lead, by their text and by their links.
func (p *pass) resolve(list []tools.Touch) (places []rules.Location) {
	if p.ground == nil {
		return nil
	}
	for _, touch := range list {
		if at, err := p.ground.Resolve(touch.Path); err == nil {
			places = append(places, rules.Location{Path: at, Text: touch.Path}, rules.Location{Path: at.Landing(), Text: touch.Path})
		}
	}
	return places
}

// ruleAt converts a rule that decides at a spot to the type of the default table.
func ruleAt(c rules.Match, at rules.Spot) rule {
	ru := ruleOf(c.Compiled)
	if ru.subject = at.Text; at.Command != nil && (len(c.Commands) > 0 || ru.subject == "") {
		ru.subject = excerpt(visible(at.Command.String()), maxSubject)
	}
	if c.Maybe {
		ru.verdict = c.Says()
		ru.why = "nobody can tell whether it is what this rule is about"
		if c.Source.Why != "" {
			ru.why += " (" + c.Source.Why + ")"
		}
	}
	return ru
}

// unseenBy converts a rule about commands for a call that may run commands which cannot
// be seen.
func unseenBy(r *rules.Compiled, c *tools.Command, why string) rule {
	ru := ruleOf(r)
	ru.verdict, ru.final = rules.Ask, false
	ru.why = "it may run what this rule is about: " + why
	if c != nil {
		ru.subject = excerpt(visible(c.String()), maxSubject)
	}
	return ru
}

// maxSubject is the most bytes of a command in a denial, maxShown the most bytes of a
// call with a plan that the user is shown.
const (
	maxSubject = 200
	maxShown   = 2000
)

// shows describes the call for the user's question: the decisive command, and the whole.
func (p *pass) shows(ru rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", p.tool.Title)
	if ru.subject != "" && ru.subject != p.plan.Shows {
		fmt.Fprintf(&b, "%s: ", ru.subject)
	}
	fmt.Fprintf(&b, "%s (rule %s).\n%s", ru.why, ru.name, excerpt(visible(p.plan.Shows), maxShown))
	if len(p.plan.Shows) > maxShown && len(p.plan.Commands) > 0 {
		fmt.Fprintf(&b, "\n%d bytes in all; it runs %s", len(p.plan.Shows), excerpt(strings.Join(p.programs(), ", "), maxShown))
	}
	return b.String()
}

// programs returns the names of the programs that the call would run, each once.
func (p *pass) programs() (names []string) {
	seen := map[string]bool{}
	for i := range p.plan.Commands {
		words := p.plan.Commands[i].Words
		if len(words) == 0 || seen[words[0].Text] || p.plan.Commands[i].Perhaps {
			continue
		}
		seen[words[0].Text] = true
		names = append(names, excerpt(visible(words[0].Text), maxSubject))
	}
	return names
}

// visible escapes characters that cannot be seen or that change how the text next to them
// is shown.
func visible(text string) string {
	hidden := func(r rune) bool {
		return r != '\n' && r != '\t' && r != ' ' && !unicode.IsGraphic(r) || r > unicode.MaxASCII && (unicode.IsSpace(r) || unicode.Is(unicode.Cf, r))
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			fmt.Fprintf(&b, `\u{%x}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
