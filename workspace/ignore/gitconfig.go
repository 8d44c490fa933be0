package ignore

import "strings"

// ExcludesFile returns the value of core.excludesFile in the text of a git
// configuration file, the last one if there are several, and whether there is one.
// A leading ~/ is left as it is, and include directives are not followed.
func ExcludesFile(config []byte) (value string, ok bool) {
	s := configScanner{text: strings.ReplaceAll(strings.TrimPrefix(string(config), utf8BOM), "\r\n", "\n")}
	section := ""
	for s.skipBlank(); s.text != ""; s.skipBlank() {
		if s.text[0] == '[' {
			section = s.section()
			continue
		}
		key, val := s.variable()
		if section == "core" && key == "excludesfile" {
			value, ok = val, true
		}
	}
	return value, ok
}

// configScanner reads a git configuration file; text is the rest of it.
type configScanner struct{ text string }

// skipBlank goes on to the next section or variable.
func (s *configScanner) skipBlank() {
	for {
		s.text = strings.TrimLeft(s.text, " \t\n\r")
		if s.text == "" || s.text[0] != '#' && s.text[0] != ';' {
			return
		}
		_, s.text, _ = strings.Cut(s.text, "\n")
	}
}

// section reads [name] or [name "sub"] and returns the text between the brackets, in lower
// case. A variable may follow on the same line.
func (s *configScanner) section() string {
	quoted := false
	for i := 1; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '\n' || c == ']' && !quoted:
			name := s.text[1:i]
			s.text = s.text[i+1:]
			return strings.ToLower(name)
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		}
	}
	s.text = ""
	return ""
}

// variable reads "key = value" to the end of its line, or of the lines that a
// backslash joins to it. The key is returned in lower case.
func (s *configScanner) variable() (key, value string) {
	end := strings.IndexAny(s.text, "=\n#;")
	if end < 0 {
		end = len(s.text)
	}
	key = strings.ToLower(strings.TrimSpace(s.text[:end]))
	s.text = s.text[end:]
	if !strings.HasPrefix(s.text, "=") {
		_, s.text, _ = strings.Cut(s.text, "\n")
		return key, ""
	}
	s.text = strings.TrimLeft(s.text[1:], " \t")

	var b strings.Builder
	quoted := false
	keep := 0 // bytes of b without the unquoted blanks at its end
	for i := 0; i < len(s.text); i++ {
		c := s.text[i]
		switch {
		case c == '\n':
			s.text = s.text[i+1:]
			return key, b.String()[:keep]
		case (c == '#' || c == ';') && !quoted:
			_, s.text, _ = strings.Cut(s.text[i:], "\n")
			return key, b.String()[:keep]
		case c == '"':
			quoted = !quoted
			keep = b.Len()
			continue
		case c == '\\' && i+1 < len(s.text):
			i++
			if s.text[i] == '\n' {
				continue
			}
			b.WriteByte(unescape(s.text[i]))
			keep = b.Len()
			continue
		}
		b.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			keep = b.Len()
		}
	}
	s.text = ""
	return key, b.String()[:keep]
}

// unescape returns the byte that a backslash and c mean in a value.
func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	}
	return c
}
