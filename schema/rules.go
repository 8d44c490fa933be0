package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"time"
)

// rules are the constraints of a schema on its values besides the type, ready to check.
type rules struct {
	enum                 []any
	minimum, maximum     *bound
	exclusiveMinimum     *bound
	exclusiveMaximum     *bound
	multipleOf           *bound
	minLength, maxLength *int
	minItems, maxItems   *int
	uniqueItems          bool
	pattern              *regexp.Regexp
	format               string
	formatted            func(string) bool // nil = the format is not checked
}

// bound is a number of the schema. Numbers are compared exactly, never as floats.
type bound struct {
	rat   *big.Rat
	whole int64 // valid if small
	small bool
}

// cmp compares a value with the bound.
func (b *bound) cmp(v json.Number) int {
	if b.small {
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			switch {
			case n < b.whole:
				return -1
			case n > b.whole:
				return 1
			}
			return 0
		}
	}
	return rational(v).Cmp(b.rat)
}

// divides reports whether a value is a multiple of the bound.
func (b *bound) divides(v json.Number) bool {
	return new(big.Rat).Quo(rational(v), b.rat).IsInt()
}

// rational converts a number that parse has accepted.
func rational(v json.Number) *big.Rat {
	r, _ := new(big.Rat).SetString(string(v))
	return r
}

// compile prepares the rules of a portable schema and of all below it, and proves that the
// defaults satisfy them.
func (n *node) compile(at string) error {
	if err := n.read(); err != nil {
		return fmt.Errorf("schema: %s: %w", at, err)
	}
	if n.items != nil {
		if err := n.items.compile(at + "/items"); err != nil {
			return err
		}
	}
	for _, p := range n.props {
		if err := p.compile(at + "/" + p.name); err != nil {
			return err
		}
	}
	if fallback, ok := n.doc["default"]; ok {
		if problems := n.check(fallback, nil, nil); len(problems) > 0 {
			return fmt.Errorf("%s: default: %w", at, &Error{problems})
		}
	}
	return nil
}

// read reads the keywords that have a rule.
func (n *node) read() (err error) {
	r := &n.rules
	r.enum, _ = n.doc["enum"].([]any)
	for keyword, to := range map[string]**bound{
		"minimum": &r.minimum, "maximum": &r.maximum,
		"exclusiveMinimum": &r.exclusiveMinimum, "exclusiveMaximum": &r.exclusiveMaximum,
		"multipleOf": &r.multipleOf,
	} {
		if v, ok := n.doc[keyword]; ok {
			if *to, err = newBound(v); err != nil {
				return fmt.Errorf("%s: %w", keyword, err)
			}
		}
	}
	if r.multipleOf != nil && r.multipleOf.rat.Sign() <= 0 {
		return errors.New("multipleOf: not above 0")
	}
	for keyword, to := range map[string]**int{
		"minLength": &r.minLength, "maxLength": &r.maxLength, "minItems": &r.minItems, "maxItems": &r.maxItems,
	} {
		if v, ok := n.doc[keyword]; ok {
			if *to, err = newSize(v); err != nil {
				return fmt.Errorf("%s: %w", keyword, err)
			}
		}
	}
	if v, ok := n.doc["uniqueItems"]; ok {
		if r.uniqueItems, ok = v.(bool); !ok {
			return fmt.Errorf("uniqueItems: %s is not a boolean", describe(v))
		}
	}
	if v, ok := n.doc["format"]; ok {
		if r.format, ok = v.(string); !ok {
			return fmt.Errorf("format: %s is not a string", describe(v))
		}
		r.formatted = formats(r.format)
	}
	if v, ok := n.doc["pattern"]; ok {
		text, ok := v.(string)
		if !ok {
			return fmt.Errorf("pattern: %s is not a string", describe(v))
		}
		if r.pattern, err = regexp.Compile(text); err != nil {
			return fmt.Errorf("pattern: %w", err)
		}
	}
	return nil
}

func newBound(v any) (*bound, error) {
	text, ok := v.(json.Number)
	if !ok {
		return nil, fmt.Errorf("%s is not a number", describe(v))
	}
	b := &bound{rat: rational(text)}
	n, err := strconv.ParseInt(string(text), 10, 64)
	b.whole, b.small = n, err == nil
	return b, nil
}

func newSize(v any) (*int, error) {
	text, ok := v.(json.Number)
	if ok {
		if whole, _, is := integral(text); is {
			if n, err := strconv.ParseUint(string(whole), 10, 31); err == nil {
				size := int(n)
				return &size, nil
			}
		}
	}
	return nil, fmt.Errorf("%s is not a size", describe(v))
}

// formats returns the check of a format, nil if there is none: JSON Schema lets a validator
// ignore most formats.
func formats(name string) func(string) bool {
	parses := func(layout string) func(string) bool {
		return func(s string) bool {
			_, err := time.Parse(layout, s)
			return err == nil
		}
	}
	switch name {
	case "date":
		return parses(time.DateOnly)
	case "date-time":
		return parses(time.RFC3339)
	case "ipv4", "ipv6":
		return func(s string) bool {
			ip, err := netip.ParseAddr(s)
			return err == nil && ip.Zone() == "" && ip.Is4() == (name == "ipv4")
		}
	case "uri":
		return func(s string) bool {
			u, err := url.Parse(s)
			return err == nil && u.IsAbs()
		}
	}
	return nil
}
