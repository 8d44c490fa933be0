package rules

import (
	"errors"
	"path"
	"slices"
	"strings"

	"toolcrib/tools"
)

// CommandPattern is a pattern over the words of a command, such as "git push *". Words
// are matched one by one, each may be a glob, and "*" by itself matches any words.
type CommandPattern struct {
	words []glob
	rank  int
}

// ParseCommandPattern reads a pattern.
func ParseCommandPattern(text string) (CommandPattern, error) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return CommandPattern{}, errors.New("it names no program")
	}
	var x CommandPattern
	letters := 0
	for i, word := range fields {
		if word != "-" && strings.ContainsAny(word, "'\"\\$`;|&<>(){}") {
			return CommandPattern{}, errors.New(word + ": a pattern is a program and words, as they are after the shell has read them, without quotes, variables or operators")
		}
		g := newGlob(word)
		if g.rank == 0 && word != "*" {
			return CommandPattern{}, errors.New(word + ": it fits any word; write *")
		}
		if x.words = append(x.words, g); g.rank == 0 {
			continue
		}
		if x.rank += 1 << 12; i > 0 || g.rank == named {
			letters += len(word) - strings.Count(word, "*") - strings.Count(word, "?")
		}
	}
	x.rank += min(letters, 1<<12-1)
	return x, nil
}

// fit says how surely a pattern matches.
type fit uint8

const (
	not     fit = iota
	perhaps     // depending on unknown parts of the command
	surely
)

// Matches reports whether the pattern matches a command, or may. Words after those of the
// pattern do not matter, nor do options before and between them; an option of the pattern
// may be at any position. Rules that ask or deny match in this way.
func (x CommandPattern) Matches(c *tools.Command) bool { return x.match(c) != not }

func (x CommandPattern) match(c *tools.Command) fit {
	if len(c.Words) == 0 {
		return not
	}
	first := c.Words[0]
	if first.Kind != tools.Known {
		return perhaps
	}
	if !x.program(first.Text, false) {
		return not
	}
	var plain []glob
	found := surely
	for _, g := range x.words[1:] {
		switch {
		case g.rank == 0: // any words, which may come between others too
			plain = append(plain, g)
		case strings.HasPrefix(g.text, "-") && len(g.text) > 1:
			found = min(found, hasOption(g, c.Words[1:]))
		default:
			plain = append(plain, g)
		}
	}
	if found == not {
		return not
	}
	return min(found, runsThrough(plain, c.Words[1:]))
}

// runsThrough matches the words of a pattern that are no options.
func runsThrough(plain []glob, words []tools.Word) fit {
	found := surely
	free := false // behind "*" anything may be passed over
	i := 0
	for _, g := range plain {
		if g.rank == 0 {
			free = true
			continue
		}
		for ; ; i++ {
			if i == len(words) {
				return not
			}
			w := words[i]
			if w.Kind != tools.Known { // it may be this word, or an option before it
				return perhaps
			}
			if g.matches(w.Text) {
				break
			}
			if !free && !isOption(w) && (i == 0 || !isOption(words[i-1])) {
				return not
			}
		}
		i, free = i+1, false
	}
	return found
}

func isOption(w tools.Word) bool {
	return w.Kind == tools.Known && len(w.Text) > 1 && w.Text[0] == '-' && w.Text != "--"
}

// hasOption looks for an option of a pattern: -rf is there too as -fr or -r -f, --force
// as --forc, which many programs understand.
func hasOption(g glob, words []tools.Word) fit {
	found := not
	missing := ""
	if short := g.text[1:]; g.rank == named && len(g.text) <= 5 && !strings.ContainsAny(short, "-=") {
		missing = short
	}
	for _, w := range words {
		if w.Kind != tools.Known {
			found = perhaps
			continue
		}
		name, _, _ := strings.Cut(w.Text, "=")
		if g.matches(w.Text) || g.matches(name) ||
			len(name) >= 4 && strings.HasPrefix(name, "--") && g.rank == named && strings.HasPrefix(g.text, name) {
			return surely
		}
		if missing != "" && isOption(w) && w.Text[1] != '-' {
			missing = strings.Map(func(r rune) rune {
				if strings.ContainsRune(w.Text[1:], r) {
					return -1
				}
				return r
			}, missing)
			if missing == "" {
				return surely
			}
		}
	}
	return found
}

// spells reports whether the pattern matches the whole command, word by word. Rules that
// allow match in this way: unknown words of a command match only "*".
func (x CommandPattern) spells(c *tools.Command) bool {
	if len(c.Words) == 0 || c.Words[0].Kind != tools.Known {
		return false
	}
	if x.words[0].rank == 0 {
		return spelt(x.words, c.Words)
	}
	return x.program(c.Words[0].Text, true) && spelt(x.words[1:], c.Words[1:])
}

func spelt(pattern []glob, words []tools.Word) bool {
	star, back := -1, 0
	i, j := 0, 0
	for i < len(words) {
		switch {
		case j < len(pattern) && pattern[j].rank == 0:
			star, back = j, i
			j++
		case j < len(pattern) && words[i].Kind == tools.Known && pattern[j].matches(words[i].Text):
			i++
			j++
		case star >= 0:
			back++
			i, j = back, star+1
		default:
			return false
		}
	}
	return !slices.ContainsFunc(pattern[j:], func(g glob) bool { return g.rank > 0 })
}

// systemDirs are the directories whose programs are trusted to be what their names say.
var systemDirs = [...]string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin"}

// program matches the program of a command. A program given by a path is also matched by
// its base name; for rules that allow, only in systemDirs.
func (x CommandPattern) program(name string, allow bool) bool {
	g := x.words[0]
	if g.rank == 0 || g.matches(name) {
		return true
	}
	name = strings.ReplaceAll(name, `\`, "/")
	clean := path.Clean(name)
	if strings.Contains(g.text, "/") {
		return g.matches(clean)
	}
	dir, base := path.Split(clean)
	if allow {
		return dir != "" && slices.Contains(systemDirs[:], path.Clean(dir)) && g.matches(base)
	}
	base = strings.TrimSuffix(strings.ToLower(base), ".exe") // some file systems and systems do not tell them apart
	return newGlob(strings.ToLower(g.text)).matches(base)
}

// runs returns how far the rule concerns a command, and how specific it is in that
// respect. A rule without commands concerns every command.
func (r *Compiled) runs(c *tools.Command) (doing int, ok fit) {
	if len(r.Commands) == 0 {
		return 0, surely
	}
	if c == nil {
		return 0, not
	}
	for _, x := range r.Commands {
		f := not
		if r.Effect == Allow {
			if x.spells(c) {
				f = surely
			}
		} else {
			f = x.match(c)
		}
		if f > ok {
			ok, doing = f, x.rank
		} else if f == ok && f != not {
			doing = max(doing, x.rank)
		}
	}
	if c.Perhaps {
		ok = min(ok, perhaps)
	}
	return doing, ok
}
