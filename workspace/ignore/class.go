package ignore

import "strings"

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }
func (s *byteSet) add(b byte)      { s[b>>6] |= 1 << (b & 63) }

// addRange adds lo to hi, both included; nothing if hi is before lo.
func (s *byteSet) addRange(lo, hi byte) {
	for b := int(lo); b <= int(hi); b++ {
		s.add(byte(b))
	}
}

func (s *byteSet) invert() {
	for i := range s {
		s[i] = ^s[i]
	}
}

// posixClass returns the members of a named class as pairs of first and last byte,
// "" for an unknown one. They are ASCII in every locale, and space is without
// vertical tab and form feed, as git has it.
func posixClass(name string) string {
	switch name {
	case "alnum":
		return "09AZaz"
	case "alpha":
		return "AZaz"
	case "blank":
		return "  \t\t"
	case "cntrl":
		return "\x00\x1f\x7f\x7f"
	case "digit":
		return "09"
	case "graph":
		return "!~"
	case "lower":
		return "az"
	case "print":
		return " ~"
	case "punct":
		return "!/:@[`{~"
	case "space":
		return "  \t\n\r\r"
	case "upper":
		return "AZ"
	case "xdigit":
		return "09AFaf"
	}
	return ""
}

// parseClass compiles a bracket expression whose opening bracket is before p, and
// returns what follows its closing one. It reports false for one that is not
// closed or that has an unknown named class: git matches nothing with these.
func parseClass(p string) (*byteSet, string, bool) {
	var set byteSet
	negated := p != "" && (p[0] == '!' || p[0] == '^')
	if negated {
		p = p[1:]
	}
	start := 0 // where a range may start from; 0 = nowhere, as patterns hold no NUL
	for first := true; ; first = false {
		if p == "" {
			return nil, "", false
		}
		if p[0] == ']' && !first {
			break
		}
		name, named := className(p)
		switch {
		case named:
			ranges := posixClass(name)
			if ranges == "" {
				return nil, "", false
			}
			for i := 0; i < len(ranges); i += 2 {
				set.addRange(ranges[i], ranges[i+1])
			}
			start, p = 0, p[len("[:")+len(name)+len(":]"):]
		case p[0] == '-' && start != 0 && len(p) > 1 && p[1] != ']':
			hi, rest, ok := classByte(p[1:])
			if !ok {
				return nil, "", false
			}
			set.addRange(byte(start), hi)
			start, p = 0, rest
		default:
			b, rest, ok := classByte(p)
			if !ok {
				return nil, "", false
			}
			set.add(b)
			start, p = int(b), rest
		}
	}
	if negated {
		set.invert()
	}
	return &set, p[1:], true
}

// className returns the name of the [:name:] that p begins with. The next bracket
// ends it; without a colon before that, p begins with a plain bracket.
func className(p string) (string, bool) {
	body, ok := strings.CutPrefix(p, "[:")
	if !ok {
		return "", false
	}
	body, _, closed := strings.Cut(body, "]")
	if !closed {
		return "", false
	}
	return strings.CutSuffix(body, ":")
}

// classByte takes one byte, which a backslash may quote. p is not empty.
func classByte(p string) (b byte, rest string, ok bool) {
	if p[0] == '\\' {
		p = p[1:]
	}
	if p == "" {
		return 0, "", false
	}
	return p[0], p[1:], true
}
