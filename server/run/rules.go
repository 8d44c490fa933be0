package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"toolcrib/tools"
	"toolcrib/workspace"
)

// Rules are the compiled rules of a configuration. They do not change; a nil one has
// none.
type Rules struct {
	list []ruling
	// tool has, for each tool of the catalog, the rules that may concern it.
	tool map[string]concerning
	// reading and writing are those that concern any tool which does.
	reading, writing concerning
	seen             views
}

// NewRules compiles rules for the tools of the catalog. Its error names the rule by its
// place, the field, and the nearest value that there is.
func NewRules(list []Rule, all []tools.Tool) (*Rules, error) {
	if len(list) > maxRules {
		return nil, fmt.Errorf("policy has %d rules, more than the %d that there may be", len(list), maxRules)
	}
	rs := &Rules{tool: map[string]concerning{}}
	names := map[string]int{}
	for i, r := range list {
		c, err := compile(i, r, all)
		if err != nil {
			return nil, err
		}
		if at, twice := names[c.name]; twice {
			return nil, fmt.Errorf("policy[%d] (%s): name: it is that of policy[%d] too", i+1, c.name, at+1)
		}
		names[c.name] = i
		rs.list = append(rs.list, c)
	}
	for _, t := range all {
		rs.tool[t.Name] = rs.concern(t)
	}
	reading, writing := plainly()
	rs.reading, rs.writing = rs.concern(reading), rs.concern(writing)
	return rs, nil
}

// concerning is what rules there are for one tool, the strictest first.
type concerning struct {
	rules   []candidate
	placed  bool // one of them has a path
	ordered bool // one of them has a command
	effects tools.Effects
}

// candidate is a rule that fits the tool.
type candidate struct {
	*ruling
	what int
}

// of returns the rules for a tool, which the catalog need not have.
func (rs *Rules) of(t tools.Tool) concerning {
	if rs == nil || len(rs.list) == 0 {
		return concerning{}
	}
	if c, ok := rs.tool[t.Name]; ok && c.effects == t.Effects { // else those of its plan
		return c
	}
	return rs.concern(t)
}

func (rs *Rules) concern(t tools.Tool) (c concerning) {
	c.effects = t.Effects
	for i := range rs.list {
		r := &rs.list[i]
		what, ok := r.fits(t)
		if !ok {
			continue
		}
		c.rules = append(c.rules, candidate{r, what})
		c.placed = c.placed || len(r.paths) > 0
		c.ordered = c.ordered || len(r.commands) > 0
	}
	slices.SortStableFunc(c.rules, func(a, b candidate) int { return cmp.Compare(b.verdict, a.verdict) })
	return c
}

// anywhere is the part of the rules that decides wherever a call leads and whatever it
// runs. Where a rule for some paths or commands is milder than a denial, that is none of
// them.
func (c concerning) anywhere() concerning {
	if !c.placed && !c.ordered {
		return c
	}
	var rest []candidate
	for _, r := range c.rules {
		switch {
		case len(r.paths) == 0 && len(r.commands) == 0:
			rest = append(rest, r)
		case r.verdict != denies:
			return concerning{}
		}
	}
	return concerning{rules: rest}
}

// fits tells whether the rule concerns a tool, and how specific it is in that.
func (r *ruling) fits(t tools.Tool) (what int, ok bool) {
	what, ok = most(r.tools, t.Name)
	if !ok && t.SameAs != "" {
		what, ok = most(r.tools, t.SameAs)
	}
	if !ok || len(r.source.Toolset) > 0 && !slices.Contains(r.source.Toolset, t.Category) ||
		len(r.source.Access) > 0 && !slices.Contains(r.source.Access, t.Access.String()) ||
		len(r.source.Effect) > 0 && t.Effects&r.effects == 0 ||
		len(r.commands) > 0 && !t.Plans() {
		return 0, false
	}
	for _, given := range []bool{len(r.source.Toolset) > 0, len(r.source.Effect) > 0, len(r.source.Access) > 0} {
		if what <<= 1; given || len(r.commands) > 0 { // commands say more than a class of tools does
			what++
		}
	}
	return what, true
}

// rank is how specific a rule is for a call.
type rank struct{ what, where, whom, doing int }

// beats reports whether a is more specific in one respect and less in none.
func (a rank) beats(b rank) bool {
	return a != b && a.what >= b.what && a.where >= b.where && a.whom >= b.whom && a.doing >= b.doing
}

// concerned is a rule that concerns a call.
type concerned struct {
	*ruling
	rank
	maybe bool // nobody can tell whether it does
}

// says is the verdict of the rule on the call. What it may deny, the user is asked about.
func (c concerned) says() verdict {
	if c.maybe {
		return min(c.verdict, asks)
	}
	return c.verdict
}

// spot is what a call is judged at: a path, where the zero one stands for none, and a
// command, nil for none.
type spot struct {
	location
	command *tools.Command
	vague   bool // the command may open paths that nobody can tell
}

// room is how many rules may concern a call before memory is taken for them.
const room = 64

// judge returns the rule that decides on a call of the tool at a path, nil if none
// concerns it. The zero path stands for none.
func (c concerning) judge(principal string, at workspace.Path) *ruling {
	won, ok := c.decide(principal, spot{location: location{path: at}})
	if !ok {
		return nil
	}
	return won.ruling
}

// decide returns the rule that decides on a call of the tool at a spot.
func (c concerning) decide(principal string, at spot) (concerned, bool) {
	var space [room]concerned
	return winner(c.match(space[:0], principal, at))
}

// match appends the rules that concern a call to list, the strictest first.
func (c concerning) match(list []concerned, principal string, at spot) []concerned {
	for _, r := range c.rules {
		doing, fits := r.runs(at.command)
		if fits == not {
			continue
		}
		where, ok := r.covers(at.path)
		if !ok {
			if !at.vague || len(r.commands) == 0 || r.verdict == allows {
				continue
			}
			fits = perhaps
		}
		if whom, ok := most(r.principals, principal); ok {
			list = append(list, concerned{r.ruling, rank{r.what, where, whom, doing}, fits == perhaps})
		}
	}
	return list
}

// hidden returns the rule that asks about what a command or a line runs unseen, nil if
// none does: the strictest that is about commands.
func (c concerning) hidden(principal string) *ruling {
	for _, r := range c.rules {
		if _, ok := most(r.principals, principal); ok && len(r.commands) > 0 && r.verdict != allows {
			return r.ruling
		}
	}
	return nil
}

// covers tells whether the rule concerns a path, and how specific it is in that.
func (r *ruling) covers(at workspace.Path) (where int, ok bool) {
	ok = len(r.paths) == 0
	for _, p := range r.paths {
		if p.Matches(at) {
			where, ok = max(where, p.Rank()), true
		}
	}
	return where, ok
}

func winner(list []concerned) (won concerned, ok bool) {
	for _, a := range list {
		if (!ok || a.says() > won.says()) && !beaten(a, list) {
			won, ok = a, true
		}
	}
	return won, ok
}

func beaten(a concerned, by []concerned) bool {
	for _, b := range by {
		if b.over(a) {
			return true
		}
	}
	return false
}

// over reports whether a beats b. A rule that perhaps concerns the call beats none that
// does for sure.
func (a concerned) over(b concerned) bool { return a.beats(b.rank) && (b.maybe || !a.maybe) }

// verdict is what a rule says of a call.
type verdict uint8

const (
	unjudged verdict = iota // the call ended before the policy
	allows
	asks
	denies
)

var verdictNames = [...]string{"", "allow", "ask", "deny"}

func (v verdict) String() string { return verdictNames[v] }

// location is a path argument as rules see it.
type location struct {
	path workspace.Path
	text string // as the caller wrote it
}

// from says where a rule stands.
func (rs *Rules) from(name string) string {
	if rs != nil {
		for _, r := range rs.list {
			if r.name == name {
				return r.from()
			}
		}
	}
	return "default table"
}

func (r *ruling) from() string { return fmt.Sprintf("policy[%d]", r.index+1) }

// lost says what beat a rule.
func (c concerned) lost(won concerned, list []concerned) string {
	if c.ruling == won.ruling {
		return ""
	}
	for _, b := range list {
		if b.over(c) {
			return "less specific than " + b.name + " in " + strings.Join(c.less(b.rank), " and ")
		}
	}
	if c.says() != won.says() {
		return fmt.Sprintf("%s wins over %s, and neither of it and %s is more specific in all", won.says(), c.says(), won.name)
	}
	return "comes after " + won.name
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

// closed names the rule where it keeps a tool away; a nil one does not.
func (r *ruling) closed() string {
	switch {
	case r == nil || r.verdict == allows:
		return ""
	case r.verdict == asks:
		return r.name + ", which asks the user about a call that names the path itself"
	}
	return r.name
}

// views are the guarded views that calls without consent have. A view serves all calls
// that are judged alike, so that what is kept for its sake, such as the pages of a
// listing, outlasts a call.
type views struct {
	mu sync.Mutex
	of map[viewKey]*workspace.Workspace
}

type viewKey struct {
	ground          *workspace.Workspace
	tool, principal string
	effects         tools.Effects // of its plan
}

// maxViews bounds the views that are kept; more are made anew.
const maxViews = 256

func (v *views) guarded(ground *workspace.Workspace, tool tools.Tool, principal string, c concerning) *workspace.Workspace {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := viewKey{ground, tool.Name, principal, tool.Effects}
	if view := v.of[key]; view != nil {
		return view
	}
	view := ground.Guarded(func(at workspace.Path) string { return c.judge(principal, at).closed() })
	if len(v.of) >= maxViews || v.of == nil {
		v.of = map[viewKey]*workspace.Workspace{}
	}
	v.of[key] = view
	return view
}
