package schema

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// checkTag returns the faults of a field's jsonschema tag. invopop silently drops keywords
// that it does not know, values that it cannot read and the text after a comma inside a
// description.
func checkTag(f reflect.StructField, el element, optional bool) (reasons []string) {
	fail := func(format string, args ...any) { reasons = append(reasons, fmt.Sprintf(format, args...)) }
	if f.Tag.Get("jsonschema_extras") != "" {
		fail("jsonschema_extras is not portable")
	}
	tag := f.Tag.Get("jsonschema")
	values := map[string]string{}
	for _, word := range splitTag(tag) {
		keyword, value, ok := strings.Cut(word, "=")
		switch {
		case keyword == "description":
			fail("description in the jsonschema tag is cut at a comma; write jsonschema_description")
		case !ok:
			fail("jsonschema tag %q is not keyword=value; escape commas as \\\\, (required comes from a json name without omitempty)", word)
		case value == "":
			fail("jsonschema tag %q has no value", word)
		case !slices.Contains(tagKeywords(el), keyword):
			fail("jsonschema keyword %q has no effect on %s", keyword, f.Type)
		case !validValue(keyword, value, el):
			fail("jsonschema tag %q: not a value of %s", word, f.Type)
		case keyword == "default" && !optional:
			fail("a default needs omitempty: a required argument never uses it")
		default:
			values[keyword] = value
		}
	}
	if isInteger(el.typ.Kind()) && values["enum"] == "" {
		if reason := checkBounds(values["minimum"], values["maximum"], el.typ); reason != "" {
			fail("%s", reason)
		}
	}
	return reasons
}

// splitTag splits at commas that no backslash escapes, as invopop does.
func splitTag(tag string) (words []string) {
	if tag == "" {
		return nil
	}
	for part := range strings.SplitSeq(tag, ",") {
		if last := len(words) - 1; last >= 0 && strings.HasSuffix(words[last], `\`) {
			words[last] = strings.TrimSuffix(words[last], `\`) + "," + part
			continue
		}
		words = append(words, part)
	}
	return words
}

// tagKeywords are the portable keywords that invopop takes from the tags of an element.
func tagKeywords(el element) (keywords []string) {
	switch k := el.typ.Kind(); {
	case el.slices > 1:
		return []string{"minItems", "maxItems", "uniqueItems"}
	case k == reflect.String:
		keywords = []string{"minLength", "maxLength", "pattern", "format", "enum", "default"}
	case isInteger(k), k == reflect.Float32, k == reflect.Float64:
		keywords = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "enum", "default"}
	case k == reflect.Bool:
		keywords = []string{"default"}
	}
	if el.slices > 0 {
		keywords = append(keywords, "minItems", "maxItems", "uniqueItems")
	}
	return keywords
}

func validValue(keyword, value string, el element) bool {
	if (el.slices > 0 || el.typ.Kind() != reflect.String) && strings.Contains(value, "=") {
		return false // invopop drops it
	}
	switch keyword {
	case "minLength", "maxLength", "minItems", "maxItems":
		_, err := strconv.ParseUint(value, 10, 32)
		return err == nil
	case "uniqueItems":
		return value == "true"
	case "pattern":
		_, err := regexp.Compile(value)
		return err == nil
	}
	switch k := el.typ.Kind(); {
	case k == reflect.Bool:
		return value == "true" || value == "false"
	case isInteger(k):
		n, ok := new(big.Int).SetString(value, 10)
		return ok && n.String() == value
	case k == reflect.Float32, k == reflect.Float64:
		return isNumber(value)
	}
	return true
}

// checkBounds requires both bounds of an integer, within its Go type: every value that the
// schema admits must decode.
func checkBounds(low, high string, t reflect.Type) string {
	if low == "" || high == "" {
		return "an integer needs minimum and maximum"
	}
	first, last := intRange(t)
	lo, _ := new(big.Int).SetString(low, 10)
	hi, _ := new(big.Int).SetString(high, 10)
	switch {
	case lo.Cmp(hi) > 0:
		return fmt.Sprintf("minimum %s is above maximum %s", low, high)
	case lo.Cmp(first) < 0 || hi.Cmp(last) > 0:
		return fmt.Sprintf("bounds %s to %s do not fit into %s", low, high, t)
	}
	return ""
}

func isInteger(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uint64 }

func intRange(t reflect.Type) (first, last *big.Int) {
	bits := t.Bits()
	if k := t.Kind(); k >= reflect.Uint && k <= reflect.Uint64 {
		return new(big.Int), new(big.Int).SetUint64(math.MaxUint64 >> (64 - bits))
	}
	return big.NewInt(math.MinInt64 >> (64 - bits)), big.NewInt(math.MaxInt64 >> (64 - bits))
}
