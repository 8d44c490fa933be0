package run_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"toolcrib/server/rules"
	"toolcrib/tools"
	"toolcrib/workspace"
)

// claim is a rule that concerns a call, as the slow judge sees it: how specific it is in
// each respect, the most important first.
type claim struct {
	rule        rules.Rule
	name        string
	what, where []int
	whom        []int
}

// slowly decides on a call by the text of the rules alone, in the order that their
// documentation gives.
func slowly(list []rules.Rule, t tools.Tool, principal, at string) string {
	var claims []claim
	for i, r := range list {
		c := claim{rule: r, name: r.Name, what: []int{0}, where: []int{0, 0}, whom: []int{0}}
		if c.name == "" {
			c.name = fmt.Sprintf("policy[%d]", i+1)
		}
		fits := true
		fits = fits && slowNames(r.Tool, t.Name, &c.what)
		fits = fits && (r.Toolset == nil || slices.Contains(r.Toolset, t.Category))
		fits = fits && (r.Access == nil || slices.Contains(r.Access, t.Access.String()))
		fits = fits && (r.Effect == nil || slices.ContainsFunc(r.Effect, func(e string) bool {
			return slices.Contains(strings.Split(t.Effects.String(), ","), e)
		}))
		c.what = append(c.what, min(len(r.Toolset), 1), min(len(r.Effect), 1), min(len(r.Access), 1))
		fits = fits && slowNames(r.Principal, principal, &c.whom)
		if r.Path != nil {
			found := false
			for _, pattern := range r.Path {
				if at != "" && slowPath(pattern, at) {
					found = true
					if rank := slowRank(pattern); slices.Compare(rank, c.where) > 0 {
						c.where = rank
					}
				}
			}
			fits = fits && found
		}
		if fits {
			claims = append(claims, c)
		}
	}
	for _, verdict := range []string{"deny", "ask", "allow"} {
		for _, c := range claims {
			if c.rule.Verdict == verdict && !slices.ContainsFunc(claims, func(d claim) bool { return d.above(c) }) {
				return c.name
			}
		}
	}
	return ""
}

func (c claim) above(d claim) bool {
	what, where, whom := slices.Compare(c.what, d.what), slices.Compare(c.where, d.where), slices.Compare(c.whom, d.whom)
	return what >= 0 && where >= 0 && whom >= 0 && what+where+whom > 0
}

func slowNames(globs []string, name string, rank *[]int) bool {
	if globs == nil {
		return true
	}
	found := false
	for _, g := range globs {
		if ok, _ := path.Match(g, name); !ok {
			continue
		}
		found = true
		letters := len(strings.NewReplacer("*", "", "?", "").Replace(g))
		if letters == len(g) {
			letters = 1000 // a name
		}
		(*rank)[0] = max((*rank)[0], letters)
	}
	return found
}

// slowPath matches component by component what a pattern covers.
func slowPath(pattern, at string) bool {
	parts := strings.Split(strings.TrimSuffix(pattern, "/"), "/")
	if at == "." {
		return len(parts) == 1 && parts[0] == "**"
	}
	names := strings.Split(at, "/")
	for n := 1; n <= len(names); n++ {
		if slowParts(parts, names[:n]) {
			return true
		}
	}
	return false
}

func slowParts(parts, names []string) bool {
	switch {
	case len(parts) == 0:
		return len(names) == 0
	case parts[0] == "**":
		return slowParts(parts[1:], names) || len(names) > 0 && slowParts(parts, names[1:])
	case len(names) == 0:
		return false
	}
	ok, _ := path.Match(parts[0], names[0])
	return ok && slowParts(parts[1:], names[1:])
}

func slowRank(pattern string) []int {
	pattern = strings.TrimSuffix(strings.TrimSuffix(pattern, "/"), "/**")
	before := strings.IndexAny(pattern, "*?")
	if before < 0 {
		before = len(pattern) + 1
	}
	return []int{1 + before, len(strings.NewReplacer("*", "", "?", "").Replace(pattern))}
}

// The compiled rules decide as the slow judge does.
func TestRulesAgainstTheSlowJudge(t *testing.T) {
	const rounds, calls = 1500, 10
	ws := ground(t)
	all := kinds()
	seed := uint64(20260728)
	r := rand.New(rand.NewPCG(seed, 1))
	some := func(from ...string) []string {
		if r.IntN(5) < 3 {
			return nil
		}
		list := []string{from[r.IntN(len(from))]}
		if r.IntN(3) == 0 {
			list = append(list, from[r.IntN(len(from))])
		}
		return list
	}
	differ, decided := 0, 0
	for round := range rounds {
		list := make([]rules.Rule, r.IntN(12))
		for i := range list {
			list[i] = rules.Rule{
				Verdict:   []string{"allow", "ask", "deny"}[r.IntN(3)],
				Tool:      some("read_file", "write_file", "*_file", "*", "r*", "?etch", "run_command", "*e*"),
				Toolset:   some("run_test"),
				Access:    some("read", "write", "exec", "external"),
				Effect:    some("none", "workspace", "destroys", "process", "network"),
				Path:      some("**", "*", "src", "src/**", "src/", "src/*", "src/*.go", "**/*.go", "**/b", "a/**/b", "s*", "src/a.go", "?rc/a*"),
				Principal: some("local", "bob", "*", "b*", "loc?l"),
			}
		}
		rs, err := rules.New(list, all)
		if err != nil {
			t.Fatal(err)
		}
		for range calls {
			tool := all[r.IntN(len(all))]
			principal := []string{"local", "bob", "alice"}[r.IntN(3)]
			text := []string{"", ".", "src", "src/a.go", "src/b/c.go", "a/b", "a/x/y/b/z", "b", "main.go", "s"}[r.IntN(10)]
			var at workspace.Path
			if text != "" {
				if at, err = ws.Resolve(text); err != nil {
					t.Fatal(err)
				}
			}
			got, want := decide(rs, tool, principal, at), slowly(list, tool, principal, text)
			if want != "" {
				decided++
			}
			if got != want {
				if differ++; differ < 5 {
					t.Errorf("seed %d, round %d: %s by %s at %q is decided by %q, want %q\n%+v", seed, round, tool.Name, principal, text, got, want, list)
				}
			}
		}
	}
	t.Logf("%d calls, %d decided by a rule, %d differences", rounds*calls, decided, differ)
	if decided < rounds*calls/4 {
		t.Error("too few of the calls are decided by a rule to tell anything")
	}
}

// fifty is a policy of fifty rules that all concern one call.
func fifty(t testing.TB) *rules.Set {
	var list []rules.Rule
	for i := range 50 {
		r := rules.Rule{Verdict: "allow", Path: []string{"src/**", "docs/*.md"}, Principal: []string{"bob", "loc*"}}
		switch i % 5 {
		case 1:
			r.Tool = []string{"*_file"}
		case 2:
			r.Path = []string{"**/*.go", "vendor"}
		case 3:
			r.Path = nil
		case 4:
			r.Verdict, r.Path = "deny", []string{"secrets/**"}
		}
		list = append(list, r)
	}
	rs, err := rules.New(list, kinds())
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

func TestJudgingTakesNoMemory(t *testing.T) {
	rs, tool := fifty(t), kinds()[0]
	at, err := ground(t).Resolve("src/a.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { decide(rs, tool, "local", at) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRules(b *testing.B) {
	rs, tool := fifty(b), kinds()[0]
	at, err := ground(b).Resolve("src/a.go")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		decide(rs, tool, "local", at)
	}
}

// decide returns the name of the rule that decides on a call at a path, "" if none does.
func decide(rs *rules.Set, t tools.Tool, principal string, at workspace.Path) string {
	if r := rs.Of(t).Judge(principal, at); r != nil {
		return r.Name
	}
	return ""
}
