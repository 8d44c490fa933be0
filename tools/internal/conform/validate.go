package conform

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolcrib/tools/internal/jsondoc"
)

// Problem is one way in which a document does not conform.
type Problem struct {
	Pointer string // to the value
	At      int    // byte offset of the value
	Keyword string
	Msg     string
}

// MaxProblems is how many problems are collected.
const MaxProblems = 1000

// maxDepth is how deep schemas are applied to one another, which a schema that refers to itself
// would do for ever.
const maxDepth = 3000

// maxSteps is how many schemas are applied.
const maxSteps = 5_000_000

// Validate returns what in a document does not conform to the schema, in its order.
func (s *Schema) Validate(ctx context.Context, doc *jsondoc.Node) ([]Problem, error) {
	v := &validation{schema: s, ctx: ctx}
	var r report
	v.apply(s.root, value{doc, ""}, []*resource{s.homes[s.root]}, &r)
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return a.At - b.At })
	return r.problems, v.err
}

// validation is one run. err ends it.
type validation struct {
	schema *Schema
	ctx    context.Context
	err    error
	depth  int
	steps  int
}

// value is a part of the document.
type value struct {
	*jsondoc.Node
	pointer string
}

// report collects the problems of a schema, and which parts of the value it has looked at.
type report struct {
	problems []Problem
	keys     map[string]bool // properties that were evaluated
	items    map[int]bool    // items that were evaluated
}

func (r *report) add(v value, keyword, format string, args ...any) {
	if len(r.problems) < MaxProblems {
		r.problems = append(r.problems, Problem{v.pointer, v.At, keyword, fmt.Sprintf(format, args...)})
	}
}

// merge adds what another schema for the same value found.
func (r *report) merge(other *report) {
	r.problems = append(r.problems, other.problems[:min(len(other.problems), MaxProblems-len(r.problems))]...)
	r.evaluated(other)
}

func (r *report) evaluated(other *report) {
	for k := range other.keys {
		r.key(k)
	}
	for i := range other.items {
		r.item(i)
	}
}

func (r *report) key(k string) {
	if r.keys == nil {
		r.keys = map[string]bool{}
	}
	r.keys[k] = true
}

func (r *report) item(i int) {
	if r.items == nil {
		r.items = map[int]bool{}
	}
	r.items[i] = true
}

// try applies a schema and returns its report.
func (v *validation) try(s *jsondoc.Node, at value, scope []*resource) *report {
	var r report
	v.apply(s, at, scope, &r)
	return &r
}

// within applies a schema to a part of the value.
func (v *validation) within(s *jsondoc.Node, at value, scope []*resource, r *report) {
	r.problems = append(r.problems, v.try(s, at, scope).problems...)
	r.problems = r.problems[:min(len(r.problems), MaxProblems)]
}

// apply holds a value to a schema.
func (v *validation) apply(s *jsondoc.Node, at value, scope []*resource, r *report) {
	if v.err == nil {
		v.err = v.ctx.Err()
	}
	if v.depth++; v.depth > maxDepth && v.err == nil {
		v.err = &SchemaError{s.At, "", "the schema refers to itself without an end"}
	}
	defer func() { v.depth-- }()
	if v.steps++; v.steps > maxSteps && v.err == nil {
		v.err = &SchemaError{s.At, "", fmt.Sprintf("it takes more than %d steps", maxSteps)}
	}
	if v.err != nil {
		return
	}
	if s.Kind == jsondoc.Boolean {
		if s.Raw == "false" {
			r.add(at, "false", "nothing is allowed here")
		}
		return
	}
	if home := v.schema.homes[s]; home != scope[len(scope)-1] {
		scope = append(slices.Clip(scope), home)
	}
	v.references(s, at, scope, r)
	v.scalar(s, at, r)
	v.logic(s, at, scope, r)
	switch at.Kind {
	case jsondoc.Array:
		v.array(s, at, scope, r)
	case jsondoc.Object:
		v.object(s, at, scope, r)
	}
}

func (v *validation) references(s *jsondoc.Node, at value, scope []*resource, r *report) {
	for _, keyword := range []string{"$ref", "$dynamicRef"} {
		ref := s.Get(keyword)
		if ref == nil {
			continue
		}
		to, err := v.schema.follow(s, ref)
		if err != nil {
			v.err = err
			return
		}
		target := to.target
		if keyword == "$dynamicRef" && to.anchor != "" {
			for _, home := range scope { // the outermost wins
				if home.dynamic[to.anchor] {
					target = home.anchors[to.anchor]
					break
				}
			}
		}
		r.merge(v.try(target, at, scope))
	}
}

// is reports whether a value has a type of JSON Schema.
func is(n *jsondoc.Node, typ string) bool {
	if typ == "integer" && n.Kind == jsondoc.Number {
		r, ok := n.Value()
		return ok && r.IsInt() || !ok && !strings.ContainsAny(n.Raw, ".-")
	}
	return string(n.Kind) == typ
}

// scalar checks the keywords that need no other schema.
func (v *validation) scalar(s *jsondoc.Node, at value, r *report) {
	if t := s.Get("type"); t != nil {
		wanted := oneOrMore(t)
		if !slices.ContainsFunc(wanted, func(t *jsondoc.Node) bool { return is(at.Node, t.Text) }) {
			var names []string
			for _, w := range wanted {
				names = append(names, w.Text)
			}
			r.add(at, "type", "%s is %s, not %s", at.Brief(40), at.Kind, strings.Join(names, " or "))
		}
	}
	if enum := s.Get("enum"); enum != nil && !slices.ContainsFunc(enum.Items, func(e *jsondoc.Node) bool { return jsondoc.Equal(e, at.Node) }) {
		r.add(at, "enum", "%s is none of %s", at.Brief(40), enum.Brief(200))
	}
	if c := s.Get("const"); c != nil && !jsondoc.Equal(c, at.Node) {
		r.add(at, "const", "%s is not %s", at.Brief(40), c.Brief(100))
	}
	switch at.Kind {
	case jsondoc.Number:
		v.number(s, at, r)
	case jsondoc.String:
		limits(s, at, r, "Length", utf8.RuneCountInString(at.Text), "characters")
		if p := s.Get("pattern"); p != nil && !v.schema.patterns[p.Text].MatchString(at.Text) {
			r.add(at, "pattern", "%s does not match %s", at.Brief(60), p.Raw)
		}
	case jsondoc.Array:
		limits(s, at, r, "Items", len(at.Items), "items")
	case jsondoc.Object:
		limits(s, at, r, "Properties", len(at.Unique()), "properties")
	}
}

// limits checks the keywords min... and max....
func limits(s *jsondoc.Node, at value, r *report, what string, n int, noun string) {
	if least, ok := count(s.Get("min" + what)); ok && n < least {
		r.add(at, "min"+what, "has %d %s, at least %d are needed", n, noun, least)
	}
	if most, ok := count(s.Get("max" + what)); ok && n > most {
		r.add(at, "max"+what, "has %d %s, at most %d are allowed", n, noun, most)
	}
}

func count(n *jsondoc.Node) (int, bool) {
	if n == nil {
		return 0, false
	}
	r, ok := n.Value()
	if !ok {
		return 0, false
	}
	f, _ := r.Float64()
	return int(f), true
}

func (v *validation) number(s *jsondoc.Node, at value, r *report) {
	bounds := []struct {
		keyword string
		wrong   func(cmp int) bool
		say     string
	}{
		{"minimum", func(c int) bool { return c < 0 }, "is less than"},
		{"maximum", func(c int) bool { return c > 0 }, "is more than"},
		{"exclusiveMinimum", func(c int) bool { return c <= 0 }, "is not more than"},
		{"exclusiveMaximum", func(c int) bool { return c >= 0 }, "is not less than"},
	}
	for _, b := range bounds {
		limit := s.Get(b.keyword)
		if limit != nil && limit.Kind == jsondoc.Boolean { // draft 4
			if limit.Raw == "false" {
				continue
			}
			limit = s.Get(strings.ToLower(strings.TrimPrefix(b.keyword, "exclusive")))
		}
		if limit == nil || limit.Kind != jsondoc.Number {
			continue
		}
		x, ok := at.Value()
		y, ok2 := limit.Value()
		if !ok || !ok2 {
			r.add(at, b.keyword, "%s and %s have too many digits to be compared", at.Brief(30), limit.Brief(30))
		} else if b.wrong(x.Cmp(y)) {
			r.add(at, b.keyword, "%s %s %s", at.Raw, b.say, limit.Raw)
		}
	}
	if m := s.Get("multipleOf"); m != nil {
		x, ok := at.Value()
		y, ok2 := m.Value()
		if !ok || !ok2 || y.Sign() == 0 || !new(big.Rat).Quo(x, y).IsInt() {
			r.add(at, "multipleOf", "%s is no multiple of %s", at.Raw, m.Raw)
		}
	}
}

func (v *validation) logic(s *jsondoc.Node, at value, scope []*resource, r *report) {
	if all := s.Get("allOf"); all != nil {
		for _, sub := range all.Items {
			r.merge(v.try(sub, at, scope))
		}
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		list := s.Get(keyword)
		if list == nil {
			continue
		}
		var fit, why []string
		for i, sub := range list.Items {
			tried := v.try(sub, at, scope)
			if len(tried.problems) == 0 {
				fit = append(fit, strconv.Itoa(i+1))
				r.evaluated(tried)
			} else if p := tried.problems[0]; len(why) < 5 {
				where := strings.TrimPrefix(p.Pointer, at.pointer)
				if where != "" {
					where += " "
				}
				why = append(why, fmt.Sprintf("%d: %s%s", i+1, where, p.Msg))
			}
		}
		switch {
		case len(fit) == 0:
			r.add(at, keyword, "fits none of %d schemas (%s)", len(list.Items), strings.Join(why, "; "))
		case len(fit) > 1 && keyword == "oneOf":
			r.add(at, keyword, "fits schemas %s, but only one is allowed", strings.Join(fit, ", "))
		}
	}
	if not := s.Get("not"); not != nil && len(v.try(not, at, scope).problems) == 0 {
		r.add(at, "not", "%s fits what is excluded", at.Brief(40))
	}
	if cond := s.Get("if"); cond != nil {
		tried, branch := v.try(cond, at, scope), "else"
		if len(tried.problems) == 0 {
			branch = "then"
			r.evaluated(tried)
		}
		if sub := s.Get(branch); sub != nil {
			r.merge(v.try(sub, at, scope))
		}
	}
}

func (at value) nth(i int) value {
	return value{at.Items[i], at.pointer + "/" + strconv.Itoa(i)}
}

func (v *validation) array(s *jsondoc.Node, at value, scope []*resource, r *report) {
	prefix, rest := s.Get("prefixItems"), s.Get("items")
	if rest != nil && rest.Kind == jsondoc.Array { // before 2020-12
		prefix, rest = rest, s.Get("additionalItems")
	}
	start := 0
	if prefix != nil {
		start = min(len(prefix.Items), len(at.Items))
		for i := range start {
			v.within(prefix.Items[i], at.nth(i), scope, r)
			r.item(i)
		}
	}
	if rest != nil {
		for i := start; i < len(at.Items); i++ {
			v.within(rest, at.nth(i), scope, r)
			r.item(i)
		}
	}
	if sub := s.Get("contains"); sub != nil {
		found := 0
		for i := range at.Items {
			if len(v.try(sub, at.nth(i), scope).problems) == 0 {
				found++
				r.item(i)
			}
		}
		least, ok := count(s.Get("minContains"))
		if !ok {
			least = 1
		}
		if found < least {
			r.add(at, "contains", "%d items fit contains, at least %d are needed", found, least)
		}
		if most, ok := count(s.Get("maxContains")); ok && found > most {
			r.add(at, "maxContains", "%d items fit contains, at most %d are allowed", found, most)
		}
	}
	if u := s.Get("uniqueItems"); u != nil && u.Raw == "true" {
		seen := map[string]int{}
		for i, item := range at.Items {
			key := item.Canonical()
			if first, twice := seen[key]; twice {
				r.add(at.nth(i), "uniqueItems", "is the same as item %d", first)
			} else {
				seen[key] = i
			}
		}
	}
	if sub := s.Get("unevaluatedItems"); sub != nil {
		for i := range at.Items {
			if !r.items[i] {
				v.within(sub, at.nth(i), scope, r)
				r.item(i)
			}
		}
	}
}

func (v *validation) object(s *jsondoc.Node, at value, scope []*resource, r *report) {
	members := at.Unique()
	if required := s.Get("required"); required != nil {
		missing(required, at, r, "required", "")
	}
	properties, patterns, additional := s.Get("properties"), s.Get("patternProperties"), s.Get("additionalProperties")
	names := s.Get("propertyNames")
	var byPattern []jsondoc.Member
	if patterns != nil {
		byPattern = patterns.Unique()
	}
	for _, m := range members {
		child, known := value{m.Value, jsondoc.Pointer(at.pointer, m.Key)}, false
		if properties != nil {
			if sub := properties.Get(m.Key); sub != nil {
				known = true
				v.within(sub, child, scope, r)
			}
		}
		for _, p := range byPattern {
			if v.schema.patterns[p.Key].MatchString(m.Key) {
				known = true
				v.within(p.Value, child, scope, r)
			}
		}
		if !known && additional != nil {
			known = true
			v.unexpected(additional, "additionalProperties", m, child, scope, r)
		}
		if known {
			r.key(m.Key)
		}
		if names != nil {
			name := value{&jsondoc.Node{Kind: jsondoc.String, At: m.At, Raw: m.Raw, Text: m.Key}, child.pointer}
			for _, p := range v.try(names, name, scope).problems {
				r.add(name, "propertyNames", "the name %s is not allowed: %s", m.Raw, p.Msg)
			}
		}
	}
	v.dependent(s, at, scope, r)
	if sub := s.Get("unevaluatedProperties"); sub != nil {
		for _, m := range members {
			if !r.keys[m.Key] {
				v.unexpected(sub, "unevaluatedProperties", m, value{m.Value, jsondoc.Pointer(at.pointer, m.Key)}, scope, r)
				r.key(m.Key)
			}
		}
	}
}

// unexpected applies the schema for properties that no other keyword names.
func (v *validation) unexpected(sub *jsondoc.Node, keyword string, m jsondoc.Member, child value, scope []*resource, r *report) {
	if sub.Raw == "false" {
		child.Node = &jsondoc.Node{At: m.At}
		r.add(child, keyword, "the property %s is not allowed", m.Raw)
		return
	}
	v.within(sub, child, scope, r)
}

// missing reports the properties of a list that the value does not have.
func missing(list *jsondoc.Node, at value, r *report, keyword, because string) {
	for _, name := range list.Items {
		if at.Get(name.Text) == nil {
			r.add(at, keyword, "the property %s is missing%s", name.Raw, because)
		}
	}
}

// dependent applies what the presence of a property asks for.
func (v *validation) dependent(s *jsondoc.Node, at value, scope []*resource, r *report) {
	for _, keyword := range []string{"dependentRequired", "dependentSchemas", "dependencies"} {
		dependencies := s.Get(keyword)
		if dependencies == nil {
			continue
		}
		for _, d := range dependencies.Unique() {
			switch {
			case at.Get(d.Key) == nil:
			case d.Value.Kind == jsondoc.Array:
				missing(d.Value, at, r, keyword, ", which "+d.Raw+" needs")
			default:
				r.merge(v.try(d.Value, at, scope))
			}
		}
	}
}
