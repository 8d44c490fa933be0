package tools

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// Plan describes the effects of one call of a tool, as far as its arguments show. The policy
// judges by it. A Plan does not confine the call; the sandbox does.
type Plan struct {
	// Access is the access of this call, if the tool declares a Least; 0 = the tool's.
	Access Access
	// Effects are the effects of this call, a subset of the tool's; 0 = all of the tool's.
	Effects Effects
	// Commands are the programs that it would run, in the order of its text.
	Commands []Command
	// Touches are the paths that it would open in addition to its arguments and to the
	// Touches of Commands.
	Touches []Touch
	// Unknown says why it may run commands that Commands lacks; "" = it runs no others.
	Unknown string
	// Writes reports whether it changes files in addition to what Commands do, as a
	// redirection does.
	Writes bool
	// Ports reports whether programs outside the sandbox are to reach ports of this call.
	Ports bool
	// Shows is shown to the user instead of the arguments; "" = the arguments.
	Shows string
	// Private keeps Commands out of records, because they may contain a secret.
	Private bool
}

// Command is one program that a call would run, with its arguments.
type Command struct {
	Words []Word // the program first
	// Touches are paths that it certainly opens.
	Touches []Touch
	// Told reports whether Touches has every path that its words name.
	Told bool
	// Hides says why it may run commands that the plan does not show, such as those of a
	// script; "" = it is not known to do so.
	Hides string
	// Light marks a command that does nothing by itself: a builtin such as cd, or a program
	// such as env that runs another command of the plan. Only rules that name it apply.
	Light bool
	// Perhaps marks a command that another program of the call may run, or may take as
	// data. The user is asked about it if a rule asks about it or denies it.
	Perhaps bool
}

// Word is one word of a command after the shell's expansions, as far as it is known.
type Word struct {
	Text string // as written, unless Kind is Known
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

// String returns the command as one line in shell syntax. Words that are not known are as
// they were written.
func (c Command) String() string {
	words := make([]string, len(c.Words))
	for i, w := range c.Words {
		if words[i] = w.Text; w.Kind == Known {
			words[i] = quoted(w.Text)
		}
	}
	return strings.Join(words, " ")
}

// quoted returns a word quoted for a shell. Characters that are not printable ASCII are
// escaped.
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

// Plans reports whether the tool can plan its calls.
func (t Tool) Plans() bool { return t.plan != nil }

// Plan returns the plan of a call; the zero Plan for a tool that does not plan.
func (t Tool) Plan(ctx context.Context, b Bound) (Plan, error) {
	if t.plan == nil {
		return Plan{Access: t.Access}, nil
	}
	plan, err := t.plan(ctx, b.in)
	if err != nil {
		return Plan{}, err
	}
	plan.Effects, plan.Access = cmp.Or(plan.Effects, t.Effects), cmp.Or(plan.Access, t.Access)
	lower := plan.Access != t.Access
	switch {
	case !(t.Effects | None).Has(plan.Effects) || !plan.Effects.valid():
		return Plan{}, fmt.Errorf("tool %q: its plan has the effects %s, of which it declares %s", t.Name, plan.Effects, t.Effects)
	case lower && (t.Least == t.Access || plan.Access > t.Access):
		return Plan{}, fmt.Errorf("tool %q: its plan has the access %s, and it declares %s", t.Name, plan.Access, t.Classes())
	case lower && plan.Access == Read && plan.Effects != None, lower && plan.Access == Write && plan.Effects&(None|Network|Process) != 0:
		return Plan{}, fmt.Errorf("tool %q: its plan has the access %s with the effects %s", t.Name, plan.Access, plan.Effects)
	}
	return plan, nil
}
