package settings

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// expand replaces references in a value: ${NAME} by the variable of the environment,
// ${NAME:-TEXT} by TEXT where the variable is not set or empty, $$ by a dollar. Replaced
// text is not expanded again. expanded reports whether there was a variable.
func (d *decoder) expand(n *yaml.Node, at string) (text string, expanded, ok bool) {
	var b strings.Builder
	rest := n.Value
	ok = true
	for {
		before, after, found := strings.Cut(rest, "$")
		b.WriteString(before)
		if !found {
			return b.String(), expanded, ok
		}
		rest = after
		switch {
		case strings.HasPrefix(rest, "$"):
			b.WriteByte('$')
			rest = rest[1:]
		case strings.HasPrefix(rest, "{"):
			inner, after, closed := strings.Cut(rest[1:], "}")
			if !closed {
				d.fail(n, at, "${ without }; write $$ for a dollar")
				return "", false, false
			}
			rest, expanded = after, true
			value, problem := d.variable(inner)
			if problem != "" {
				d.fail(n, at, "%s", problem)
				ok = false
			}
			b.WriteString(value)
		case rest != "" && nameStart(rest[0]):
			d.fail(n, at, "write ${NAME} for a variable, $$ for a dollar")
			return "", false, false
		default:
			b.WriteByte('$')
		}
	}
}

func (d *decoder) variable(inner string) (value, problem string) {
	name, fallback, hasFallback := strings.Cut(inner, ":-")
	switch {
	case d.opt.Getenv == nil:
		return "", "this file cannot refer to variables of the environment; it comes with the workspace"
	case !validName(name):
		return "", quoted(name) + " is not the name of a variable; write $$ for a dollar"
	case strings.Contains(fallback, "${"):
		return "", "a variable inside another; a default is plain text"
	}
	d.doc.Variables = append(d.doc.Variables, name)
	value, set := d.opt.Getenv(name)
	switch {
	case hasFallback && value == "":
		return fallback, ""
	case !set:
		return "", "the variable " + name + " is not set; ${" + name + ":-TEXT} gives a default"
	}
	return value, ""
}

func nameStart(c byte) bool { return c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }

func validName(name string) bool {
	if name == "" || !nameStart(name[0]) {
		return false
	}
	for i := range len(name) {
		if c := name[i]; !nameStart(c) && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
