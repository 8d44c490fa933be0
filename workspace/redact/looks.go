package redact

import (
	"slices"
	"sync"
)

// rule finds secrets of one look around a keyword.
type rule struct {
	kind    string
	keyword string // in lower case
	// match returns where the secret stands, given where the keyword stands in s.
	match func(s string, from, to int) (span, bool)
}

// appearance is all rules behind one automaton.
type appearance struct {
	rules []rule
	auto  *automaton
}

// looks returns the rules of secrets that are not known.
var looks = sync.OnceValue(func() *appearance {
	rules := slices.Concat(tokenRules(), shapeRules(), nameRules())
	keywords := make([]string, len(rules))
	for i, r := range rules {
		keywords[i] = r.keyword
	}
	return &appearance{rules, newAutomaton(keywords)}
})

// marks returns what can stand in the place of a secret.
var marks = sync.OnceValue(func() []string {
	list := []string{markOf("")}
	for _, r := range looks().rules {
		if m := markOf(r.kind); !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
})

// find returns the places of what looks like a secret.
func (a *appearance) find(s string) []span {
	var spans []span
	a.auto.find(s, func(k uint16, end int) {
		r := &a.rules[k]
		if found, ok := r.match(s, end-len(r.keyword), end); ok {
			found.kind = r.kind
			spans = append(spans, found)
		}
	})
	return spans
}
