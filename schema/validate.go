package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxProblems = 20 // of one call, reported
	maxValues   = 30 // of an enum, listed
)

// check appends every rule that v breaks to problems. A value of another type breaks only
// that rule.
func (n *node) check(v any, at *location, problems []Problem) []Problem {
	c := checker{at: at, value: v, problems: problems}
	if !isA(v, n.kind) {
		hint := ""
		switch v.(type) {
		case map[string]any:
			if n.kind == "string" {
				hint = "; send the JSON as one string"
			}
		case []any:
			if n.path != "" {
				hint = "; give one, and call once for each"
			}
		}
		c.broken("type", "%s is not %s%s", describe(v), article(n.kind), hint)
		return c.problems
	}
	if r := &n.rules; r.enum != nil && !slices.ContainsFunc(r.enum, func(want any) bool { return equal(v, want) }) {
		c.broken("enum", "%s is not one of %s", describe(v), choices(v, r.enum))
	}
	switch v := v.(type) {
	case json.Number:
		c.number(&n.rules, v)
	case string:
		c.text(&n.rules, v)
	case []any:
		c.array(n, v)
	case map[string]any:
		c.object(n, v)
	}
	return c.problems
}

// checker checks one value.
type checker struct {
	at       *location
	value    any
	problems []Problem
}

func (c *checker) broken(rule, format string, args ...any) {
	c.problems = append(c.problems, Problem{Pointer: c.at.pointer(), Rule: rule, Msg: fmt.Sprintf(format, args...)})
}

func (c *checker) number(r *rules, v json.Number) {
	if r.minimum != nil && r.minimum.cmp(v) < 0 {
		c.broken("minimum", "%s is less than the minimum %s", describe(v), decimal(r.minimum.rat))
	}
	if r.maximum != nil && r.maximum.cmp(v) > 0 {
		c.broken("maximum", "%s is more than the maximum %s", describe(v), decimal(r.maximum.rat))
	}
	if r.exclusiveMinimum != nil && r.exclusiveMinimum.cmp(v) <= 0 {
		c.broken("exclusiveMinimum", "%s must be more than %s", describe(v), decimal(r.exclusiveMinimum.rat))
	}
	if r.exclusiveMaximum != nil && r.exclusiveMaximum.cmp(v) >= 0 {
		c.broken("exclusiveMaximum", "%s must be less than %s", describe(v), decimal(r.exclusiveMaximum.rat))
	}
	if r.multipleOf != nil && !r.multipleOf.divides(v) {
		c.broken("multipleOf", "%s is not a multiple of %s", describe(v), decimal(r.multipleOf.rat))
	}
}

func (c *checker) text(r *rules, v string) {
	if r.minLength != nil || r.maxLength != nil {
		switch n := utf8.RuneCountInString(v); {
		case r.minLength != nil && n == 0 && *r.minLength > 0:
			c.broken("minLength", "must not be empty, at least %s", count(*r.minLength, "character"))
		case r.minLength != nil && n < *r.minLength:
			c.broken("minLength", "%s has %s, at least %d wanted", describe(v), count(n, "character"), *r.minLength)
		case r.maxLength != nil && n > *r.maxLength:
			c.broken("maxLength", "%s, at most %d allowed", count(n, "character"), *r.maxLength)
		}
	}
	if r.pattern != nil && !r.pattern.MatchString(v) {
		c.broken("pattern", "%s does not match the pattern %s", describe(v), r.pattern)
	}
	if r.formatted != nil && !r.formatted(v) {
		c.broken("format", "%s is not a valid %s", describe(v), r.format)
	}
}

func (c *checker) array(n *node, v []any) {
	r := &n.rules
	if r.minItems != nil && len(v) < *r.minItems {
		c.broken("minItems", "%s, at least %d wanted", count(len(v), "item"), *r.minItems)
	}
	if r.maxItems != nil && len(v) > *r.maxItems {
		c.broken("maxItems", "%s, at most %d allowed", count(len(v), "item"), *r.maxItems)
	}
	if r.uniqueItems {
		first := make(map[string]int, len(v))
		for i, item := range v {
			key := string(appendValue(nil, settled(item)))
			if other, twice := first[key]; twice {
				c.broken("uniqueItems", "items %d and %d are equal", other, i)
				break
			}
			first[key] = i
		}
	}
	for i, item := range v {
		c.problems = n.items.check(item, &location{c.at, "", i}, c.problems)
	}
}

func (c *checker) object(n *node, v map[string]any) {
	known := 0
	for _, p := range n.props {
		value, given := v[p.name]
		switch {
		case given:
			known++
			c.problems = p.check(value, &location{c.at, p.name, -1}, c.problems)
		case p.required:
			below := (&location{c.at, p.name, -1}).pointer()
			told := func(other Problem) bool { return other.Pointer == below } // the reason of the refusal
			if !slices.ContainsFunc(c.problems, told) {
				c.problems = append(c.problems, Problem{Pointer: below, Rule: "required", Msg: "required, missing"})
			}
		}
	}
	if known < len(v) && !n.free { // in a default: a call's arguments were corrected
		c.broken("additionalProperties", "it has keys that are not allowed")
	}
}

// equal compares JSON values; numbers are equal by their value.
func equal(a, b any) bool {
	if isContainer(a) || isContainer(b) {
		return string(appendValue(nil, settled(a))) == string(appendValue(nil, settled(b)))
	}
	return a == b || settled(a) == settled(b)
}

// settled returns a value whose numbers have one form.
func settled(v any) any {
	switch v := v.(type) {
	case json.Number:
		if whole, same, ok := integral(v); ok {
			if same && whole != "-0" {
				return v
			}
			return whole
		}
		return json.Number(rational(v).RatString())
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = settled(item)
		}
		return list
	case map[string]any:
		m := maps.Clone(v)
		for key, item := range m {
			m[key] = settled(item)
		}
		return m
	}
	return v
}

// tell sorts problems and limits their number.
func tell(problems []Problem) *Error {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Rule, b.Rule))
	})
	if more := len(problems) - maxProblems; more > 0 {
		problems = append(problems[:maxProblems:maxProblems], Problem{Rule: "more", Msg: fmt.Sprintf("and %d more", more)})
	}
	return &Error{problems}
}

// choices lists the values of an enum and the one probably meant.
func choices(got any, want []any) string {
	names := make([]string, len(want))
	for i, w := range want {
		if s, ok := w.(string); ok {
			names[i] = s
		} else {
			names[i] = describe(w)
		}
	}
	list := strings.Join(names[:min(len(names), maxValues)], ", ")
	if more := len(names) - maxValues; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	if s, ok := got.(string); ok {
		if near := Nearest(s, names); near != "" {
			list += "; did you mean " + quote(near)
		}
	}
	return list
}

func decimal(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
