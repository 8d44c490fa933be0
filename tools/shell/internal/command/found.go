package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolcrib/tools"
)

// removal is what rm does with a word.
type removal struct {
	word tools.Word
	loss Loss
}

// findLoses notes what find deletes, if that depends on names alone.
func (w *walker) findLoses(args []tools.Word) {
	if list, deletes := found(args); deletes {
		for _, r := range list {
			w.lose(r.word, r.loss)
		}
	}
}

// found returns the files that find finds, if that depends on names alone. deletes reports whether
// it deletes them too.
func found(args []tools.Word) (list []removal, deletes bool) {
	n := slices.IndexFunc(args, func(a tools.Word) bool { return strings.HasPrefix(a.Text, "-") || a.Text == "!" || a.Text == "(" })
	if n < 0 {
		n = len(args)
	}
	all := Loss{Kind: Deletes, Tree: true}
	for i := n; i < len(args); i++ {
		next := func(texts ...string) bool {
			i++
			return i < len(args) && args[i].Kind == tools.Known && (texts == nil || slices.Contains(texts, args[i].Text))
		}
		ok := !deletes
		switch args[i].Text {
		case "-name":
			ok = ok && all.Named == "" && next()
			if ok {
				all.Named = args[i].Text
			}
		case "-type":
			ok = ok && next("f")
		case "-mindepth":
			ok = ok && next("1")
		case "-depth", "-xdev", "-print", "-print0":
			ok = true
		case "-delete":
			deletes = true
		case "-exec":
			for ok = ok && next("rm", "/bin/rm"); ok && next("-f", "-r", "-rf", "-fr", "--", "-v", "{}"); {
				deletes = deletes || args[i].Text == "{}"
			}
			ok = ok && deletes && i < len(args) && slices.Contains([]string{";", "+"}, args[i].Text)
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
	}
	for _, dir := range args[:n] {
		list = append(list, removal{dir, all})
	}
	if n == 0 {
		list = append(list, removal{tools.Word{Text: "."}, all})
	}
	return list, deletes
}

// printed returns the files whose names a statement prints, as far as they are certain.
func (w *walker) printed(s *syntax.Stmt) (list []removal) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return nil
	}
	var words []tools.Word
	for _, a := range call.Args {
		words = append(words, w.meant(w.value(a))...)
	}
	args := words[1:]
	switch words[0].Text {
	case "find":
		list, _ = found(args)
		return list
	case "printf":
		if len(args) == 0 || !slices.Contains([]string{`%s\n`, `%s\0`, "%s "}, args[0].Text) {
			return nil
		}
		args = args[1:]
	case "echo":
	default:
		return nil
	}
	for _, a := range args {
		list = append(list, removals(a)...)
	}
	return list
}

// removals returns the words that xargs makes of one.
func removals(word tools.Word) (list []removal) {
	if word.Kind != tools.Known {
		return []removal{{word, Loss{Kind: Deletes}}}
	}
	for name := range strings.FieldsSeq(word.Text) {
		if !strings.ContainsAny(name, `'"\`) && !strings.HasPrefix(name, "-") {
			list = append(list, removal{tools.Word{Text: name}, Loss{Kind: Deletes}})
		}
	}
	return list
}

// xargsLoses notes what xargs has rm delete.
func (w *walker) xargsLoses(words []tools.Word) {
	if name := base(words[0].Text); name != "rm" && name != "unlink" {
		return
	}
	list := w.stdin.printed
	if w.stdin.known {
		list = removals(tools.Word{Text: w.stdin.text})
	}
	given, _ := options("", words[1:])
	for _, r := range list {
		for _, recursive := range []string{"r", "R", "recursive"} {
			if _, ok := given[recursive]; ok {
				r.loss.Tree = true
			}
		}
		w.lose(r.word, r.loss)
	}
}
