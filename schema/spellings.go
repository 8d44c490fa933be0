package schema

import (
	"errors"
	"fmt"
	"strings"
)

// Flag is a spelling by a boolean: each of names says on or off. A nil side cannot be
// written.
func Flag(on, off map[string]any, names ...string) Spelling {
	return Spelling{Names: names, Read: func(given map[string]any) (map[string]any, error) {
		set, first := false, true
		for _, v := range given {
			value, ok := Bool(v)
			switch {
			case !ok:
				return nil, nil
			case !first && value != set:
				return nil, errors.New(strings.Join(names, " and ") + " say different things")
			}
			set, first = value, false
		}
		if set {
			return on, nil
		}
		return off, nil
	}}
}

// Same is the side of a [Flag] that changes nothing.
func Same() map[string]any { return map[string]any{} }

// Values is a spelling by the values of a property, in any case: own maps each to a valid
// value.
func Values(property string, own map[string]string) Spelling {
	return Spelling{Names: []string{property}, Read: func(given map[string]any) (map[string]any, error) {
		text := fmt.Sprint(given[property])
		if value, ok := own[string(fold(text))]; ok {
			return map[string]any{property: value}, nil
		}
		return nil, nil
	}}
}

// AtMost is a spelling by a number above a property's most, or by 0 or less for no limit.
func AtMost(property string, most int) Spelling {
	return Spelling{Names: []string{property}, Read: func(given map[string]any) (map[string]any, error) {
		if n, ok := Int(given[property]); ok && (n > most || n <= 0) {
			return map[string]any{property: most}, nil
		}
		return nil, nil
	}}
}

// One is a spelling of a property by an array of one text, also under other names. A longer
// one is refused: what says what it is of, in the plural, and several what takes them all.
func One(property, what, several string, names ...string) Spelling {
	return Spelling{Names: append([]string{property}, names...), Read: func(given map[string]any) (map[string]any, error) {
		var all []string
		for _, v := range given {
			if text, ok := v.(string); ok {
				all = append(all, text)
			} else if list, ok := Strings(v); ok {
				all = append(all, list...)
			}
		}
		switch len(all) {
		case 0:
			return nil, nil
		case 1:
			return map[string]any{property: all[0]}, nil
		}
		return nil, fmt.Errorf("%d %s, where one is read; %s", len(all), what, several)
	}}
}

// Dropped is a spelling by arguments without an effect, with any value. say is reported; ""
// = no report.
func Dropped(say string, names ...string) Spelling {
	return Spelling{Names: names, Say: say, Read: func(map[string]any) (map[string]any, error) { return Same(), nil }}
}

// Refused is a spelling by arguments that ask for a missing ability; false asks for
// nothing. why says so, and what to write instead.
func Refused(why string, names ...string) Spelling {
	return Spelling{Names: names, Read: func(given map[string]any) (map[string]any, error) {
		for _, v := range given {
			if on, ok := Bool(v); !ok || on {
				return nil, errors.New(why)
			}
		}
		return Same(), nil
	}}
}

// OnlyWith is a spelling by one argument whose known texts have no effect; others are
// refused.
func OnlyWith(why, name string, known ...string) Spelling {
	return Spelling{Names: []string{name}, Read: func(given map[string]any) (map[string]any, error) {
		text, _ := given[name].(string)
		for _, k := range known {
			if same(text, k) {
				return Same(), nil
			}
		}
		return nil, errors.New(why)
	}}
}
