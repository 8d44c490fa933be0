package repository

import "strings"

// Config has the paths in a file of git's configuration that decide which programs run.
// They are as written: they may be relative or begin with "~/".
type Config struct {
	HooksPath string   // core.hooksPath, relative to the top of the worktree
	Worktree  string   // core.worktree, relative to the directory of the repository
	Includes  []string // include.path and includeIf.*.path, relative to the directory of the file
}

// Parse reads a file of git's configuration, as git-config(1) describes it. It skips lines
// that git would refuse.
func Parse(text string) Config {
	var c Config
	section := ""
	for len(text) > 0 {
		text = strings.TrimLeft(text, " \t\r\n\ufeff")
		switch {
		case text == "":
			return c
		case text[0] == '#' || text[0] == ';':
			_, text, _ = strings.Cut(text, "\n")
		case text[0] == '[':
			section, text = header(text[1:])
		default:
			var name, value string
			name, value, text = variable(text)
			c.set(section, strings.ToLower(name), value)
		}
	}
	return c
}

func (c *Config) set(section, name, value string) {
	switch section + "." + name {
	case "core.hookspath":
		c.HooksPath = value
	case "core.worktree":
		c.Worktree = value
	case "include.path", "includeif.path":
		if value != "" {
			c.Includes = append(c.Includes, value)
		}
	}
}

// header reads the rest of a section's header: its name without the subsection, which
// may hold a bracket between its quotes.
func header(text string) (section, rest string) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			return "", text[i:]
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == ']' && !quoted:
			name := strings.ToLower(strings.TrimSpace(text[:i]))
			if at := strings.IndexAny(name, " \t\"."); at >= 0 {
				name = name[:at]
			}
			return name, text[i+1:]
		}
	}
	return "", ""
}

// variable reads a variable with its value, which quotes, escapes and lines that go on
// belong to.
func variable(text string) (name, value, rest string) {
	end := strings.IndexAny(text, " \t\r\n=#;")
	if end < 0 {
		return text, "", ""
	}
	name, text = text[:end], strings.TrimLeft(text[end:], " \t")
	if !strings.HasPrefix(text, "=") {
		_, rest, _ = strings.Cut(text, "\n")
		return name, "", rest
	}
	text = strings.TrimLeft(text[1:], " \t")
	var b strings.Builder
	quoted, kept := false, 0 // kept: the length without the blanks at the end
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			return name, b.String()[:kept], text[i+1:]
		case !quoted && (c == '#' || c == ';'):
			_, rest, _ = strings.Cut(text[i:], "\n")
			return name, b.String()[:kept], rest
		case c == '"':
			quoted = !quoted
			kept = b.Len()
		case c == '\\' && i+1 < len(text):
			i++
			switch text[i] {
			case '\n':
				continue
			case '\r':
				if i+1 < len(text) && text[i+1] == '\n' {
					i++
					continue
				}
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'b':
				b.WriteByte('\b')
			default:
				b.WriteByte(text[i])
			}
			kept = b.Len()
		default:
			b.WriteByte(c)
			if quoted || c != ' ' && c != '\t' && c != '\r' {
				kept = b.Len()
			}
		}
	}
	return name, b.String()[:kept], ""
}
