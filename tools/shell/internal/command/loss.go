package command

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolcrib/tools"
)

// Loss is an entry that a line certainly deletes or replaces, if it exists and the line comes
// that far.
type Loss struct {
	Kind LossKind
	// Path is for Resolve. If Glob is set, its last component is a pattern of names.
	Path string
	Glob bool
	// Of Deletes:
	Tree  bool   // a directory with all that is in it
	Named string // only the files in it whose names match this pattern
	// Of Replaces:
	Verb, Source string // "move", and what takes the place
	Into         bool   // if Path is a directory, it is the entry in it with the name of Source
	Follow       bool   // through links
	// Of Cleans:
	Ignored bool // also what git ignores
}

// LossKind says what happens to an entry.
type LossKind uint8

// The kinds.
const (
	Deletes    LossKind = iota
	Overwrites          // its content, through links
	Replaces            // another file takes its place
	Cleans              // what git does not track, with Tree also in directories without tracked files
)

// maxLosses is the most losses of a line that are noted.
const maxLosses = 1000

// lose notes a loss, once for each directory that its path may be relative to. Words that are
// not known, but for patterns of names, are left out.
func (w *walker) lose(word tools.Word, l Loss) {
	for _, word := range w.meant(word) {
		l.Glob = word.Kind == tools.Many && pattern(word.Text)
		if l.Glob {
			word.Kind = tools.Known
		}
		at, _ := w.touch(nil, word, true)
		for _, t := range at {
			if l.Path = t.Path; len(w.line.Losses) < maxLosses && !slices.Contains(w.line.Losses, l) {
				w.line.Losses = append(w.line.Losses, l)
			}
		}
	}
}

// oneVariable matches a word of one variable, and of literal text or a pattern around it.
var oneVariable = sync.OnceValue(func() *regexp.Regexp {
	const literal, name = "([^\\s\"'\\\\$`*?\\[\\]{}()~!]*)", `[A-Za-z_]\w*|[1-9@*]`
	return regexp.MustCompile(`^` + literal + `("?)` + literal + `\$(?:(` + name + `)|\{((?:` + name + `)(?:\[[@*]\])?)\})` + literal + `("?)(` + "[^\\s\"'\\\\$`{}()~!]*" + `)$`)
})

// meant returns the words that a word with a variable stands for, if the line gives it literal
// values; else the word itself.
func (w *walker) meant(word tools.Word) []tools.Word {
	m := oneVariable().FindStringSubmatch(strings.Replace(word.Text, "$(pwd)", "$PWD", 1))
	if word.Kind == tools.Known || m == nil || m[2] != m[7] {
		return []tools.Word{word}
	}
	var words []tools.Word
	values := w.values[strings.Replace(m[4]+m[5], "*", "@", 1)]
	if m[4]+m[5] == "PWD" && m[1]+m[3] == "" {
		values = []tools.Word{{Text: "."}}
	}
	for _, v := range values {
		v.Text = m[1] + m[3] + v.Text + m[6] + m[8]
		if strings.ContainsAny(m[8], "*?[") {
			v.Kind = tools.Many
		}
		if m[2] == "" && v.Kind == tools.Known {
			if strings.ContainsAny(v.Text, " \t\n") {
				continue // it is several words
			}
			if strings.ContainsAny(v.Text, "*?[") {
				v.Kind = tools.Many
			}
		}
		words = append(words, v)
	}
	if words == nil {
		return []tools.Word{word}
	}
	return words
}

// holds notes the literal values of a variable, none if they are not known.
func (w *walker) holds(name string, values ...tools.Word) {
	w.values[name] = slices.DeleteFunc(values, func(v tools.Word) bool { return v.Kind != tools.Known && !pattern(v.Text) })
}

// pattern reports whether a word as written is nothing but a pattern whose last component
// names files.
func pattern(text string) bool {
	return !strings.ContainsAny(text, "$`\"'\\{}()~!^") && !strings.ContainsAny(path.Dir(text), "*?[") && strings.ContainsAny(text, "*?[")
}

// loses notes what a command deletes and replaces.
func (w *walker) loses(name string, words []tools.Word) {
	if f, ok := w.functions[words[0].Text]; ok {
		w.functionLoses(f, words[1:])
		return
	}
	if !usual(words[0].Text) {
		return
	}
	var args []tools.Word
	for _, a := range words[1:] {
		args = append(args, w.meant(a)...)
	}
	switch name {
	case "set", "shift":
		w.positional(nil)
		return
	case "dd":
		w.ddLoses(args)
		return
	case "find":
		w.findLoses(args)
		return
	case "rm", "unlink", "shred", "truncate", "tee", "sed", "gsed":
	case "mv", "cp", "ln", "install":
		if len(args) != len(words)-1 {
			return // a loop has several of them
		}
	default:
		return
	}
	f, _ := filedOf(name)
	given, operands := options(f.values, args)
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { _, ok := given[n]; return ok })
	}
	switch name {
	case "rm", "unlink":
		tree := has("r", "R", "recursive")
		for _, o := range operands {
			w.lose(o, Loss{Kind: Deletes, Tree: tree})
		}
	case "truncate":
		if size := given["s"] + given["size"]; strings.HasPrefix(size, "+") || strings.HasPrefix(size, ">") {
			return // it only grows
		}
		w.overwritten(operands)
	case "tee":
		if !has("a", "append") {
			w.overwritten(operands)
		}
	case "shred":
		w.overwritten(operands)
	case "sed", "gsed":
		if !has("i", "in-place") || given["i"]+given["in-place"] != "" { // a suffix keeps a copy
			return
		}
		if !has("e", "f", "expression", "file") {
			operands = operands[min(1, len(operands)):]
		}
		w.overwritten(operands)
	case "ln":
		if has("f", "force") {
			w.replaced("link", false, given, operands)
		}
	case "mv":
		w.replaced("move", false, given, operands)
	default:
		w.replaced("copy", name == "cp", given, operands)
	}
}

func (w *walker) overwritten(operands []tools.Word) {
	for _, o := range operands {
		w.lose(o, Loss{Kind: Overwrites})
	}
}

// replaced notes that the operands but the last take the place of the last, or go into it.
func (w *walker) replaced(verb string, follow bool, given map[string]string, operands []tools.Word) {
	for _, keeps := range []string{"n", "no-clobber", "b", "backup", "S", "suffix", "d", "directory"} {
		if _, ok := given[keeps]; ok && (keeps != "d" && keeps != "directory" || verb == "copy" && !follow) {
			return // what is there stays, or gets another name
		}
	}
	target, ok := given["t"]
	if !ok {
		target, ok = given["target-directory"]
	}
	to := tools.Word{Text: target}
	if !ok {
		if len(operands) < 2 {
			return
		}
		to, operands = operands[len(operands)-1], operands[:len(operands)-1]
	}
	_, exact := given["T"]
	for _, o := range operands {
		if o.Kind == tools.Known && to.Kind == tools.Known {
			w.lose(to, Loss{Kind: Replaces, Verb: verb, Source: o.Text, Into: !exact, Follow: follow})
		}
	}
}

func (w *walker) ddLoses(args []tools.Word) {
	for _, a := range args {
		if strings.HasPrefix(a.Text, "oflag=") && strings.Contains(a.Text, "append") {
			return
		}
	}
	for _, a := range args {
		if file, ok := strings.CutPrefix(a.Text, "of="); ok {
			w.lose(tools.Word{Text: file, Kind: a.Kind}, Loss{Kind: Overwrites})
		}
	}
}

// options reads the options of a command with their values, and its other words. values has
// the letters of options with a value; those of others have an empty one.
func options(values string, args []tools.Word) (given map[string]string, operands []tools.Word) {
	given = map[string]string{}
	for i := 0; i < len(args); i++ {
		text := args[i].Text
		switch {
		case args[i].Kind != tools.Known || len(text) < 2 || text[0] != '-':
			operands = append(operands, args[i])
		case text == "--":
			return given, append(operands, args[i+1:]...)
		case strings.HasPrefix(text, "--"):
			name, value, ok := strings.Cut(text[2:], "=")
			if !ok && (name == "target-directory" || name == "size" || name == "expression" || name == "file") && i+1 < len(args) {
				i++
				value = args[i].Text
			}
			given[name] = value
		default:
			i += cluster(given, values, text[1:], args[i+1:])
		}
	}
	return given, operands
}

// cluster reads short options that are one word, and returns how many more words they take.
func cluster(given map[string]string, values, letters string, next []tools.Word) int {
	for j := range len(letters) {
		letter := letters[j : j+1]
		switch rest := letters[j+1:]; {
		case letter == "i" && strings.Contains(values, "e"): // of sed: the rest is a suffix
			given[letter] = rest
			return 0
		case !strings.Contains(values, letter):
			given[letter] = ""
		case rest != "":
			given[letter] = rest
			return 0
		case len(next) > 0:
			given[letter] = next[0].Text
			return 1
		}
	}
	return 0
}
