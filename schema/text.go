package schema

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
)

// text returns v as a string if it is another form of one: a number, an array of one path,
// a value of an enum in other case or with other separators.
func (m *coercer) text(n *node, v any, at *location) any {
	switch given := v.(type) {
	case json.Number:
		if len(n.units) > 0 {
			return m.bare(n, v, given, at)
		}
		if n.rules.enum == nil {
			m.mended(at, "%s read as text", given)
			return string(given)
		}
	case []any:
		if n.path == "" || len(given) != 1 || !isA(given[0], "string") || given[0] == "" {
			return v
		}
		m.mended(at, "an array of one read as %s", describe(given[0]))
		return given[0]
	case string:
		if number := strings.TrimSpace(given); len(n.units) > 0 && isNumber(number) && inRange(number) {
			return m.bare(n, v, json.Number(number), at)
		}
		return m.choice(n, given, at)
	}
	return v
}

// choice returns the value of an enum that differs from text only in case and separators.
func (m *coercer) choice(n *node, text string, at *location) any {
	if n.rules.enum == nil || slices.Contains(n.rules.enum, any(text)) {
		return text
	}
	for _, v := range n.rules.enum {
		if value, ok := v.(string); ok && same(text, value) {
			m.mended(at, "%s read as %s", quote(text), quote(value))
			return value
		}
	}
	return text
}

// manySeconds is the bare number from which a time counts as milliseconds: commands are
// given minutes, and thousands of seconds are rare.
var manySeconds = big.NewRat(1000, 1)

// bare returns a number as a time: below manySeconds in the first unit, else in the second.
func (m *coercer) bare(n *node, v any, num json.Number, at *location) any {
	text, ok := digits(num)
	if !ok {
		return v
	}
	unit := n.units[0]
	if rational(num).Cmp(manySeconds) >= 0 {
		unit = n.units[1]
	}
	m.mended(at, "%s read as %s", text, text+unit)
	return text + unit
}

// digits returns a number written without an exponent.
func digits(num json.Number) (string, bool) {
	if whole, _, ok := integral(num); ok {
		return string(whole), true
	}
	return string(num), !strings.ContainsAny(string(num), "eE")
}

// measures are the endings that name the unit of a time, with the unit.
var measures = [...]struct{ ending, unit string }{
	{"milliseconds", "ms"}, {"millis", "ms"}, {"ms", "ms"}, {"seconds", "s"}, {"secs", "s"}, {"sec", "s"},
	{"minutes", "m"}, {"mins", "m"},
}

// measured returns the property that a key with a unit, such as timeout_ms, names, and its
// value; nil if there is none.
func (n *node) measured(key string, v any) (*node, any) {
	name := string(fold(key[:min(len(key), maxWord)]))
	for _, m := range measures {
		base, ok := strings.CutSuffix(name, m.ending)
		if !ok {
			continue
		}
		p := n.called(base)
		if p == nil || len(p.units) == 0 {
			return nil, v
		}
		if text, ok := v.(string); ok && isNumber(text) && inRange(text) {
			v = json.Number(text)
		}
		if num, ok := v.(json.Number); ok {
			if text, ok := digits(num); ok {
				v = text + m.unit
			}
		}
		return p, v
	}
	return nil, v
}
