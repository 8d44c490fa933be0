package schema

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

const (
	maxProblems = 20 // of one call, that are told
	maxValues   = 30 // of an enum, that are told
)

// compile makes the validator and proves that the defaults pass it.
func compile(doc map[string]any, root *node) (*jsonschema.Schema, error) {
	const url = "toolcrib:schema"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(noLoader{})
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return s, checkDefaults(root, s, "")
}

// noLoader refuses every reference out of the schema; the validator's own loader
// would open file URLs.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to %s: a schema must not refer to another", url)
}

func checkDefaults(n *node, s *jsonschema.Schema, at string) error {
	if fallback, ok := n.doc["default"]; ok {
		if problems := validate(s, fallback); len(problems) > 0 {
			return fmt.Errorf("%s: default: %w", at, &Error{problems})
		}
	}
	if n.items != nil && s.Items2020 != nil {
		if err := checkDefaults(n.items, s.Items2020, at+"/items"); err != nil {
			return err
		}
	}
	for _, p := range n.props {
		if err := checkDefaults(p, s.Properties[p.name], at+"/"+p.name); err != nil {
			return err
		}
	}
	return nil
}

// validate returns every rule that v breaks.
func validate(s *jsonschema.Schema, v any) (problems []Problem) {
	err := s.Validate(v)
	if err == nil {
		return nil
	}
	root, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []Problem{{Rule: "json", Msg: err.Error()}}
	}
	var leaves func(e *jsonschema.ValidationError)
	leaves = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			leaves(cause)
		}
		if len(e.Causes) == 0 {
			problems = append(problems, word(e, v)...)
		}
	}
	leaves(root)
	return problems
}

// tell sorts problems and caps them.
func tell(problems []Problem) *Error {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Rule, b.Rule))
	})
	if more := len(problems) - maxProblems; more > 0 {
		problems = append(problems[:maxProblems:maxProblems], Problem{Rule: "more", Msg: fmt.Sprintf("and %d more", more)})
	}
	return &Error{problems}
}

// word says what one leaf of the validator's error means.
func word(e *jsonschema.ValidationError, v any) []Problem {
	var at strings.Builder
	for _, token := range e.InstanceLocation {
		at.WriteString("/" + escape(token))
		v = child(v, token)
	}
	rule := strings.Join(e.ErrorKind.KeywordPath(), "/")
	one := func(format string, args ...any) []Problem {
		return []Problem{{Pointer: at.String(), Rule: rule, Msg: fmt.Sprintf(format, args...)}}
	}
	got := describe(v)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		var all []Problem
		for _, name := range k.Missing {
			all = append(all, Problem{Pointer: at.String() + "/" + escape(name), Rule: rule, Msg: "required, missing"})
		}
		return all
	case *kind.Type:
		hint := ""
		if _, object := v.(map[string]any); object && slices.Contains(k.Want, "string") {
			hint = "; send the JSON as one string"
		}
		return one("%s is not %s%s", got, article(strings.Join(k.Want, " or ")), hint)
	case *kind.Enum:
		return one("%s is not one of %s", got, choices(v, k.Want))
	case *kind.Minimum:
		return one("%s is less than the minimum %s", got, decimal(k.Want))
	case *kind.Maximum:
		return one("%s is more than the maximum %s", got, decimal(k.Want))
	case *kind.ExclusiveMinimum:
		return one("%s must be more than %s", got, decimal(k.Want))
	case *kind.ExclusiveMaximum:
		return one("%s must be less than %s", got, decimal(k.Want))
	case *kind.MultipleOf:
		return one("%s is not a multiple of %s", got, decimal(k.Want))
	case *kind.MinLength:
		if k.Got == 0 {
			return one("must not be empty, at least %s", count(k.Want, "character"))
		}
		return one("%s has %s, at least %d wanted", got, count(k.Got, "character"), k.Want)
	case *kind.MaxLength:
		return one("%s, at most %d allowed", count(k.Got, "character"), k.Want)
	case *kind.MinItems:
		return one("%s, at least %d wanted", count(k.Got, "item"), k.Want)
	case *kind.MaxItems:
		return one("%s, at most %d allowed", count(k.Got, "item"), k.Want)
	case *kind.UniqueItems:
		return one("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Pattern:
		return one("%s does not match the pattern %s", got, k.Want)
	case *kind.Format:
		return one("%s is not a valid %s", got, k.Want)
	}
	return one("%s", e.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
}

// choices lists the values of an enum and the one that was meant, if that shows.
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

func child(v any, token string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[token]
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i < len(v) {
			return v[i]
		}
	}
	return nil
}
