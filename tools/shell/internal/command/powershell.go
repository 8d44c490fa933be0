package command

import (
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
)

// PowerShell returns what a line of PowerShell certainly deletes or replaces. It reads simple
// commands with literal words; what has functions, here-strings or backticks is not read.
func PowerShell(line string, at Location) []Loss {
	if len(line) > maxText || strings.Contains(line, "`") || strings.Contains(line, "@'") || strings.Contains(line, `@"`) {
		return nil
	}
	for word := range strings.FieldsSeq(line) {
		if lower := strings.ToLower(word); lower == "function" || lower == "filter" {
			return nil
		}
	}
	w := &walker{dirs: []string{at.Dir}, values: map[string][]tools.Word{}, until: time.Now().Add(maxTime)}
	if at.Anywhere {
		w.dirs = nil
	}
	for line != "" {
		var words []tools.Word
		if words, line = w.powershellWords(line); len(words) > 0 && words[0].Kind == tools.Known {
			w.powershellLoses(words)
		}
	}
	return w.line.Losses
}

// powershellWords reads a command to its end, and notes its redirections. A list has its elements
// as words.
func (w *walker) powershellWords(line string) (words []tools.Word, rest string) {
	into := false // the next word is the target of a redirection
	for line != "" {
		switch c := line[0]; {
		case strings.IndexByte(" \t,", c) >= 0:
			line = line[1:]
			continue
		case strings.IndexByte(";\n\r|&(){}", c) >= 0:
			return words, line[1:]
		case c == '#':
			_, line, _ = strings.Cut(line, "\n")
			return words, line
		case c == '>' || len(line) > 1 && line[1] == '>' && strings.IndexByte("123456*", c) >= 0:
			line = line[strings.IndexByte(line, '>')+1:]
			if into = !strings.HasPrefix(line, ">") && !strings.HasPrefix(line, "&"); !into {
				line = line[1:]
			}
			continue
		}
		var word tools.Word
		if word, line = powershellWord(line); into {
			into = false
			w.lose(word, Loss{Kind: Overwrites})
			continue
		}
		words = append(words, word)
	}
	return words, ""
}

// powershellWord reads a word.
func powershellWord(line string) (word tools.Word, rest string) {
	var text strings.Builder
	for line != "" && strings.IndexByte(" \t,;\n\r|&(){}>", line[0]) < 0 {
		quote := line[0]
		if quote != '\'' && quote != '"' {
			if quote == '$' {
				word.Kind = tools.Some
			}
			text.WriteByte(quote)
			line = line[1:]
			continue
		}
		inside, after, _ := strings.Cut(line[1:], string(quote))
		if quote == '"' && strings.Contains(inside, "$") || strings.HasPrefix(after, string(quote)) {
			word.Kind = tools.Some
		}
		text.WriteString(inside)
		line = after
	}
	word.Text = text.String()
	return word, line
}

// cmdlet is what a command of PowerShell does with its paths.
type cmdlet struct {
	kind   LossKind
	verb   string // of Replaces
	paths  int    // how many of its first operands are paths, 0 = all
	forced bool   // it replaces only with -Force
}

// cmdletOf returns the command of a name in small letters.
func cmdletOf(name string) (cmdlet, bool) {
	switch name {
	case "remove-item", "ri", "del", "erase", "rd":
		return cmdlet{kind: Deletes}, true
	case "clear-content", "clc":
		return cmdlet{kind: Overwrites}, true
	case "set-content", "out-file", "tee-object":
		return cmdlet{kind: Overwrites, paths: 1}, true
	case "new-item", "ni":
		return cmdlet{kind: Overwrites, paths: 1, forced: true}, true
	case "move-item", "mi", "move":
		return cmdlet{kind: Replaces, verb: "move", forced: true}, true
	case "copy-item", "cpi", "copy":
		return cmdlet{kind: Replaces, verb: "copy"}, true
	}
	return cmdlet{}, false
}

// powershellLoses notes what a command deletes and replaces. The programs of the system are those
// of other shells.
func (w *walker) powershellLoses(words []tools.Word) {
	name := strings.ToLower(words[0].Text)
	switch name {
	case "cd", "set-location", "sl", "chdir", "push-location", "pushd":
		if len(words) == 2 {
			w.moves(words[1])
		} else {
			w.dirs = nil
		}
		return
	case "pop-location", "popd":
		w.dirs = nil
		return
	}
	c, ok := cmdletOf(name)
	if !ok {
		if !slices.ContainsFunc(words, func(v tools.Word) bool { return v.Kind != tools.Known || strings.ContainsAny(v.Text, "*?[") }) {
			w.loses(base(words[0].Text), words)
		}
		return
	}
	given, operands, ok := parameters(words[1:])
	if _, force := given["force"]; !ok || c.forced && !force || c.paths == 1 && given["append"] != nil {
		return
	}
	for _, p := range []string{"path", "literalpath", "filepath"} {
		operands = append(slices.Clip(given[p]), operands...)
	}
	for i, o := range operands {
		o.Text = strings.ReplaceAll(o.Text, `\`, "/")
		if o.Kind == tools.Known && strings.ContainsAny(o.Text, "*?[") && given["literalpath"] == nil {
			o.Kind = tools.Many
		}
		operands[i] = o
	}
	if c.paths > 0 {
		operands = operands[:min(c.paths, len(operands))]
	}
	switch c.kind {
	case Deletes:
		for _, o := range operands {
			w.lose(o, Loss{Kind: Deletes, Tree: given["recurse"] != nil})
		}
	case Overwrites:
		w.overwritten(operands)
	default:
		operands = append(operands, given["destination"]...)
		w.replaced(c.verb, c.verb == "copy", nil, operands)
	}
}

// parameters reads the parameters of a cmdlet in small letters, each with its values, and its other
// words; false if one decides on more than names.
func parameters(args []tools.Word) (given map[string][]tools.Word, operands []tools.Word, ok bool) {
	given = map[string][]tools.Word{}
	for i := 0; i < len(args); i++ {
		text, _, joined := strings.Cut(strings.ToLower(args[i].Text), ":")
		if !strings.HasPrefix(text, "-") || len(text) < 2 {
			operands = append(operands, args[i])
			continue
		}
		if args[i].Kind != tools.Known || joined {
			return nil, nil, false
		}
		switch name := text[1:]; name {
		case "recurse", "r", "rec", "force", "f", "fo", "append", "verbose", "v", "nonewline", "passthru":
			full := map[string]string{"r": "recurse", "rec": "recurse", "f": "force", "fo": "force"}[name]
			if full == "" {
				full = name
			}
			given[full] = []tools.Word{}
		case "path", "literalpath", "filepath", "destination", "value", "itemtype", "encoding", "erroraction", "ea", "inputobject", "width":
			if i++; i >= len(args) {
				return nil, nil, false
			}
			given[name] = append(given[name], args[i])
		default:
			return nil, nil, false
		}
	}
	return given, operands, true
}
