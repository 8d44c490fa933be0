package redact

import (
	"slices"
	"sync"
)

// rule finds one kind of secret near a keyword.
type rule struct {
	kind    string
	keyword string // in lower case
	// match returns the position of the secret, given that of the keyword in s.
	match func(s string, from, to int) (span, bool)
}

// appearance has all rules and the automaton for their keywords.
type appearance struct {
	rules []rule
	auto  *automaton
}

// looks returns the rules for secrets that are not known.
var looks = sync.OnceValue(func() *appearance {
	rules := slices.Concat(tokenRules(), shapeRules(), nameRules())
	keywords := make([]string, len(rules))
	for i, r := range rules {
		keywords[i] = r.keyword
	}
	return &appearance{rules, newAutomaton(keywords)}
})

// marks returns the texts that can replace a secret.
var marks = sync.OnceValue(func() []string {
	list := []string{markOf("")}
	for _, r := range looks().rules {
		if m := markOf(r.kind); !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
})

// find returns the positions of texts that look like a secret.
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
