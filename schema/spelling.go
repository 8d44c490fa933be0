package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Spelling is another form in which callers write arguments: view_range for offset and
// limit, or a list for a text.
type Spelling struct {
	// Names are the arguments that the spelling replaces: names that the schema lacks, and
	// properties. It is read if one of the former is given, or if the value of one of the
	// latter is not valid.
	Names []string
	// Read returns the arguments that the given ones of Names mean: an empty map if they
	// have no effect, nil if it cannot say. Its error says what to write instead.
	Read func(given map[string]any) (meant map[string]any, err error)
	// Always reads values of properties even if they are valid.
	Always bool
	// Say is reported if they have no effect; "" = no report.
	Say string
	// As is reported as what they are read as; "" = the arguments that they mean.
	As string
}

// Spelled returns an error for spellings that conflict with the arguments: a name that is
// read in another way before, or by several spellings.
func (t *Type) Spelled(spellings []Spelling) error {
	m, err := t.model()
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, s := range spellings {
		for _, name := range s.Names {
			if m.root.named[name] != nil {
				continue
			}
			if p := m.root.called(name); p != nil {
				return fmt.Errorf("spelling %q is another name of %s already", name, p.name)
			}
			if !strings.HasPrefix(name, "-") {
				name = string(fold(name))
			}
			if seen[name] {
				return fmt.Errorf("spelling %q is there twice", name)
			}
			seen[name] = true
		}
	}
	return nil
}

// Bool reads a boolean as Decode does.
func Bool(v any) (value, ok bool) {
	value, ok = (&coercer{}).boolean(v, nil).(bool)
	return value, ok
}

// Int reads an integer as Decode does.
func Int(v any) (int, bool) {
	num, ok := (&coercer{}).number(&node{kind: "integer"}, v, nil).(json.Number)
	if !ok {
		return 0, false
	}
	value, err := strconv.Atoi(string(num))
	return value, err == nil
}

// Strings reads a list of texts.
func Strings(v any) (list []string, ok bool) {
	items, ok := v.([]any)
	for _, item := range items {
		text, isText := item.(string)
		if !isText {
			return nil, false
		}
		list = append(list, text)
	}
	return list, ok
}

// otherForms reads arguments that are spelled in another form.
func (m *coercer) otherForms(n *node, obj map[string]any) {
	for _, s := range m.spellings {
		given, keys, wanted := s.given(n, obj)
		if !wanted {
			continue
		}
		meant, err := s.Read(given)
		if meant == nil && err == nil {
			continue
		}
		for _, key := range keys {
			delete(obj, key)
		}
		here := &location{nil, strings.Join(keys, ", /"), -1}
		if err != nil {
			m.problem(&location{nil, keys[0], -1}, "spelling", "%s", err)
			continue
		}
		sent := slices.DeleteFunc(keys, func(key string) bool { return slices.Contains(m.implied, key) })
		before := len(m.mends)
		m.means(obj, given, meant, s.Say, here)
		switch {
		case len(m.mends) == before:
		case len(sent) == 0:
			m.mends = m.mends[:before]
		case s.As != "":
			m.mends[before] = "/" + strings.Join(sent, ", /") + ": read as " + s.As
		}
	}
}

// given returns the arguments that a spelling reads, by its own names and by the keys;
// wanted reports whether it must be read.
func (s *Spelling) given(n *node, obj map[string]any) (values map[string]any, keys []string, wanted bool) {
	for _, name := range s.Names {
		p := n.named[name]
		for key, v := range obj {
			if v == nil || key != name && (p != nil || n.named[key] != nil || !same(key, name)) {
				continue
			}
			if values == nil {
				values = map[string]any{}
			}
			values[name], keys = v, append(keys, key)
			wanted = wanted || s.Always || p == nil || len(p.check(v, nil, nil)) > 0
			break
		}
	}
	return values, keys, wanted
}

// means replaces the written arguments by the meant ones.
func (m *coercer) means(obj, given, meant map[string]any, say string, here *location) {
	var told []string
	for _, name := range slices.Sorted(maps.Keys(meant)) {
		v := plainJSON(meant[name])
		if obj[name] != nil && !equal(v, obj[name]) {
			m.problem(here, "spelling", "another way to say %s, which is given too; give one", name)
			return
		}
		if obj[name] = v; given[name] != nil && equal(v, given[name]) {
			continue
		}
		if len(meant) == 1 && given[name] != nil {
			told = append(told, shorten(string(appendValue(nil, v)))) // its own name is there
			continue
		}
		told = append(told, name+" "+shorten(string(appendValue(nil, v))))
	}
	switch {
	case told != nil:
		m.mends = append(m.mends, "/"+here.key+": read as "+strings.Join(told, ", "))
	case say != "":
		m.mends = append(m.mends, "/"+here.key+": "+say)
	}
}

// plainJSON converts a value to the types of the parser.
func plainJSON(v any) any {
	switch v := v.(type) {
	case int:
		return json.Number(strconv.Itoa(v))
	case []string:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = item
		}
		return list
	case []any:
		for i, item := range v {
			v[i] = plainJSON(item)
		}
	case map[string]any:
		for key, item := range v {
			v[key] = plainJSON(item)
		}
	}
	return v
}
