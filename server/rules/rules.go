package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"toolcrib/tools"
	"toolcrib/workspace"
)

// Set holds the compiled rules of a configuration. It never changes; a nil Set has no
// rules.
type Set struct {
	list []Compiled
	// tool has, for each tool of the catalog, the rules that may concern it.
	tool map[string]Applicable
	// reading and writing are the rules that concern any tool that reads, or writes.
	reading, writing Applicable
	Seen             views
}

// New compiles rules for the tools of the catalog. Its error names the rule by its
// position, the field, and the nearest known value.
func New(list []Rule, all []tools.Tool) (*Set, error) {
	if len(list) > maxRules {
		return nil, fmt.Errorf("policy has %d rules, more than the %d that there may be", len(list), maxRules)
	}
	rs := &Set{tool: map[string]Applicable{}}
	names := map[string]int{}
	for i, r := range list {
		c, err := compile(i, r, all)
		if err != nil {
			return nil, err
		}
		if at, twice := names[c.Name]; twice {
			return nil, fmt.Errorf("policy[%d] (%s): name: it is that of policy[%d] too", i+1, c.Name, at+1)
		}
		names[c.Name] = i
		rs.list = append(rs.list, c)
	}
	for _, t := range all {
		rs.tool[t.Name] = rs.concern(t)
	}
	reading, writing := plainly()
	rs.reading, rs.writing = rs.concern(reading), rs.concern(writing)
	return rs, nil
}

// Applicable holds the rules for one tool, the strictest first.
type Applicable struct {
	Rules   []candidate
	Placed  bool // one of them has a path
	Ordered bool // one of them has a command
	Access  tools.Access
	Effects tools.Effects
}

// candidate is a rule that fits the tool.
type candidate struct {
	*Compiled
	what int
}

// Of returns the rules for a tool, which need not be in the catalog.
func (rs *Set) Of(t tools.Tool) Applicable {
	if rs == nil || len(rs.list) == 0 {
		return Applicable{}
	}
	if c, ok := rs.tool[t.Name]; ok && c.Access == t.Access && c.Effects == t.Effects { // else those of its plan
		return c
	}
	return rs.concern(t)
}

func (rs *Set) concern(t tools.Tool) (c Applicable) {
	c.Access, c.Effects = t.Access, t.Effects
	for i := range rs.list {
		r := &rs.list[i]
		what, ok := r.fits(t)
		if !ok {
			continue
		}
		c.Rules = append(c.Rules, candidate{r, what})
		c.Placed = c.Placed || len(r.Paths) > 0
		c.Ordered = c.Ordered || len(r.Commands) > 0
	}
	slices.SortStableFunc(c.Rules, func(a, b candidate) int { return cmp.Compare(b.Effect, a.Effect) })
	return c
}

// Anywhere returns the rules that decide on every call, regardless of paths and commands.
// If a rule for some paths or commands is milder than deny, there are none.
func (c Applicable) Anywhere() Applicable {
	if !c.Placed && !c.Ordered {
		return c
	}
	var rest []candidate
	for _, r := range c.Rules {
		switch {
		case len(r.Paths) == 0 && len(r.Commands) == 0:
			rest = append(rest, r)
		case r.Effect != Deny:
			return Applicable{}
		}
	}
	return Applicable{Rules: rest}
}

// fits reports whether the rule concerns a tool, and how specific it is in that respect.
func (r *Compiled) fits(t tools.Tool) (what int, ok bool) {
	what, ok = most(r.tools, t.Name)
	if !ok && t.SameAs != "" {
		what, ok = most(r.tools, t.SameAs)
	}
	if !ok || len(r.Source.Toolset) > 0 && !slices.Contains(r.Source.Toolset, t.Category) ||
		len(r.Source.Access) > 0 && !slices.Contains(r.Source.Access, t.Access.String()) ||
		len(r.Source.Effect) > 0 && t.Effects&r.Effects == 0 ||
		len(r.Commands) > 0 && !t.Plans() {
		return 0, false
	}
	for _, given := range []bool{len(r.Source.Toolset) > 0, len(r.Source.Effect) > 0, len(r.Source.Access) > 0} {
		if what <<= 1; given || len(r.Commands) > 0 { // commands say more than a class of tools does
			what++
		}
	}
	return what, true
}

// rank is how specific a rule is for a call.
type rank struct{ what, where, whom, doing int }

// beats reports whether a is more specific in one respect and less specific in none.
func (a rank) beats(b rank) bool {
	return a != b && a.what >= b.what && a.where >= b.where && a.whom >= b.whom && a.doing >= b.doing
}

// Match is a rule that concerns a call.
type Match struct {
	*Compiled
	rank
	Maybe bool // nobody can tell whether it does
}

// Says returns the verdict of the rule on the call. If it is not sure that a deny rule
// concerns the call, the verdict is ask.
func (c Match) Says() Verdict {
	if c.Maybe {
		return min(c.Effect, Ask)
	}
	return c.Effect
}

// Spot is a path and a command at which a call is judged. The zero path means none, and
// so does a nil command.
type Spot struct {
	Location
	Command *tools.Command
	Vague   bool // the command may open paths that nobody can tell
}

// room is how many rules may concern a call before memory is allocated for them.
const room = 64

// Judge returns the rule that decides on a call of the tool at a path, nil if none
// concerns it. The zero path means none.
func (c Applicable) Judge(principal string, at workspace.Path) *Compiled {
	won, ok := c.Decide(principal, Spot{Location: Location{Path: at}})
	if !ok {
		return nil
	}
	return won.Compiled
}

// Decide returns the rule that decides on a call of the tool at a spot.
func (c Applicable) Decide(principal string, at Spot) (Match, bool) {
	var space [room]Match
	return Winner(c.Matching(space[:0], principal, at))
}

// Matching appends the rules that concern a call to list, the strictest first.
func (c Applicable) Matching(list []Match, principal string, at Spot) []Match {
	for _, r := range c.Rules {
		doing, fits := r.runs(at.Command)
		if fits == not {
			continue
		}
		where, ok := r.matchPath(at.Path)
		if !ok {
			if !at.Vague || len(r.Commands) == 0 || r.Effect == Allow {
				continue
			}
			fits = perhaps
		}
		if whom, ok := most(r.principals, principal); ok {
			list = append(list, Match{r.Compiled, rank{r.what, where, whom, doing}, fits == perhaps})
		}
	}
	return list
}

// Hidden returns the rule that asks about commands which another command or a line runs
// unseen, nil if there is none. It is the strictest rule about commands.
func (c Applicable) Hidden(principal string) *Compiled {
	for _, r := range c.Rules {
		if _, ok := most(r.principals, principal); ok && len(r.Commands) > 0 && r.Effect != Allow {
			return r.Compiled
		}
	}
	return nil
}

// matchPath reports whether the rule concerns a path, and how specific it is in that
// respect.
func (r *Compiled) matchPath(at workspace.Path) (where int, ok bool) {
	ok = len(r.Paths) == 0
	for _, p := range r.Paths {
		if p.Matches(at) {
			where, ok = max(where, p.Rank()), true
		}
	}
	return where, ok
}

// Winner returns the match that decides: of the matches that no match beats, the
// strictest, then the first.
func Winner(list []Match) (won Match, ok bool) {
	for _, a := range list {
		if (!ok || a.Says() > won.Says()) && !beaten(a, list) {
			won, ok = a, true
		}
	}
	return won, ok
}

func beaten(a Match, by []Match) bool {
	for _, b := range by {
		if b.over(a) {
			return true
		}
	}
	return false
}

// over reports whether a beats b. A rule that perhaps concerns the call never beats one
// that surely does.
func (a Match) over(b Match) bool { return a.beats(b.rank) && (b.Maybe || !a.Maybe) }

// Verdict is the decision of a rule on a call.
type Verdict uint8

// The verdicts, the strictest last.
const (
	None Verdict = iota // the call ended before the policy
	Allow
	Ask
	Deny
)

var verdictNames = [...]string{"", "allow", "ask", "deny"}

func (v Verdict) String() string { return verdictNames[v] }

// Location is a path argument as rules see it.
type Location struct {
	Path workspace.Path
	Text string // as the caller wrote it
}

// From returns the position of a rule.
func (rs *Set) From(name string) string {
	if rs != nil {
		for _, r := range rs.list {
			if r.Name == name {
				return r.From()
			}
		}
	}
	return "default table"
}

// From returns the rule's position in the configuration.
func (r *Compiled) From() string { return fmt.Sprintf("policy[%d]", r.index+1) }

// Lost describes why a rule lost.
func (c Match) Lost(won Match, list []Match) string {
	if c.Compiled == won.Compiled {
		return ""
	}
	for _, b := range list {
		if b.over(c) {
			return "less specific than " + b.Name + " in " + strings.Join(c.less(b.rank), " and ")
		}
	}
	if c.Says() != won.Says() {
		return fmt.Sprintf("%s wins over %s, and neither of it and %s is more specific in all", won.Says(), c.Says(), won.Name)
	}
	return "comes after " + won.Name
}

// less names the respects in which a rule is less specific than another.
func (a rank) less(b rank) (in []string) {
	for _, r := range []struct {
		name string
		a, b int
	}{{"what it names", a.what, b.what}, {"its path", a.where, b.where}, {"its principal", a.whom, b.whom}, {"its command", a.doing, b.doing}} {
		if r.a < r.b {
			in = append(in, r.name)
		}
	}
	return in
}

// DenyName returns the name of the rule if it denies or asks, else "". The rule may be nil.
func (r *Compiled) DenyName() string {
	switch {
	case r == nil || r.Effect == Allow:
		return ""
	case r.Effect == Ask:
		return r.Name + ", which asks the user about a call that names the path itself"
	}
	return r.Name
}

// views holds the restricted workspaces of calls without consent. One view serves all
// calls that are judged alike, so that data kept for it, such as the pages of a listing,
// outlasts a call.
type views struct {
	mu sync.Mutex
	Of map[viewKey]*workspace.Workspace
}

type viewKey struct {
	ground          *workspace.Workspace
	tool, principal string
	Access          tools.Access // of its plan
	Effects         tools.Effects
}

// maxViews is the most views that are kept; others are made each time.
const maxViews = 256

func (v *views) Denying(ground *workspace.Workspace, tool tools.Tool, principal string, c Applicable) *workspace.Workspace {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := viewKey{ground, tool.Name, principal, tool.Access, tool.Effects}
	if view := v.Of[key]; view != nil {
		return view
	}
	view := ground.Denying(func(at workspace.Path) string { return c.Judge(principal, at).DenyName() })
	if len(v.Of) >= maxViews || v.Of == nil {
		v.Of = map[viewKey]*workspace.Workspace{}
	}
	v.Of[key] = view
	return view
}
