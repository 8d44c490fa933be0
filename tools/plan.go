package tools

import (
	"context"
	"fmt"
	"strings"
)

// Plan is what one call of a tool would do, as far as its arguments tell before it runs.
// The policy judges by it. It contains nothing: that is what a sandbox is for.
type Plan struct {
	// Effects are those of this call, some of what the tool declares; 0 = all of these.
	Effects Effects
	// Commands are the programs that it would run, in the order of its text.
	Commands []Command
	// Touches are the paths that it would open beside its arguments and those of
	// Commands.
	Touches []Touch
	// Unknown says why it may run commands that Commands does not have, "" = it does not.
	Unknown string
	// Writes tells that it changes files beside what Commands do, as a redirection does.
	Writes bool
	// Shows is what the user is shown of the call in the place of its arguments, "" =
	// these.
	Shows string
	// Private keeps Commands out of records: what was taken for one may be a secret.
	Private bool
}

// Command is one program that a call would run, with its arguments.
type Command struct {
	Words []Word // the program first
	// Touches are paths that it would open for certain.
	Touches []Touch
	// Told reports that Touches has every path that its words name.
	Told bool
	// Hides says why it may run commands that nobody sees, such as those of a script;
	// "" = it is not known to.
	Hides string
	// Light is for what does nothing by itself: a builtin such as cd, or a program such as
	// env that runs another one, which the plan has too. Rules count for it only where they
	// name it.
	Light bool
	// Perhaps is for what another program of the call may run, or take as data: the user
	// is asked about it where a rule asks about it or denies it.
	Perhaps bool
}

// Word is one word of a command after the expansions of the shell, or what is known of it.
type Word struct {
	Text string // where Kind is not Known, as it was written
	Kind WordKind
}

// WordKind says how much is known of a word.
type WordKind uint8

// The kinds.
const (
	Known WordKind = iota
	Some           // one word, whose text is not known
	Many           // any number of words, also none
)

// Touch is a path that a call would open.
type Touch struct {
	Path  string // for Resolve
	Write bool
}

// String shows the command in one line as a shell has it. What is not known of it stands
// there as it was written.
func (c Command) String() string {
	words := make([]string, len(c.Words))
	for i, w := range c.Words {
		if words[i] = w.Text; w.Kind == Known {
			words[i] = quoted(w.Text)
		}
	}
	return strings.Join(words, " ")
}

// quoted writes a word so that nobody takes it for two, or for another.
func quoted(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:,@%+~^", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	for _, r := range text {
		if r < ' ' || r > '~' {
			return fmt.Sprintf("$%+q", text)
		}
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Plans reports whether the tool has plans of its calls.
func (t Tool) Plans() bool { return t.plan != nil }

// Plan returns what a call would do. It is the zero Plan for a tool that has no plans.
func (t Tool) Plan(ctx context.Context, b Bound) (Plan, error) {
	if t.plan == nil {
		return Plan{}, nil
	}
	plan, err := t.plan(ctx, b.in)
	switch {
	case err != nil:
		return Plan{}, err
	case plan.Effects == 0:
		plan.Effects = t.Effects
	case !t.Effects.Has(plan.Effects) || !plan.Effects.valid():
		return Plan{}, fmt.Errorf("tool %q: its plan has the effects %s, of which it declares %s", t.Name, plan.Effects, t.Effects)
	}
	return plan, nil
}
