package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolcrib/tools"
)

// delimiter has the characters of a word at which all shells end a here-document.
const delimiter = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.!:+"

// redirects returns the files that redirections open. Their standard input holds until the
// statement ends.
func (w *walker) redirects(list []*syntax.Redirect) (touches []tools.Touch, told bool) {
	told = true
	for _, r := range list {
		if r.Hdoc != nil {
			w.parts(r.Hdoc.Parts)
		}
		var word tools.Word
		if r.Word != nil {
			w.parts(r.Word.Parts)
			word = w.value(r.Word)
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Word == nil || strings.Trim(strings.Trim(w.source(r.Word), `'"\`), delimiter) != "" {
				w.unknown("a here-document ends at a word that shells read in different ways")
			}
			w.stdin = w.document(r.Hdoc, r.Word.Lit() == "" || strings.Contains(r.Word.Lit(), `\`))
			continue
		case syntax.WordHdoc:
			w.stdin = stdin{given: true, known: word.Kind == tools.Known, text: word.Text + "\n"}
			continue
		case syntax.DplIn:
			w.stdin = stdin{given: true}
			continue
		case syntax.DplOut:
			if word.Kind == tools.Known && strings.Trim(word.Text, "0123456789-") == "" {
				continue
			}
		case syntax.RdrIn, syntax.RdrInOut:
			w.stdin = stdin{given: true, known: word == tools.Word{Text: "/dev/null"}}
		}
		if strings.HasPrefix(word.Text, "/dev/tcp/") || strings.HasPrefix(word.Text, "/dev/udp/") {
			continue // no file
		}
		writes := r.Op != syntax.RdrIn
		w.line.Writes = w.line.Writes || writes && !passing(word)
		var ok bool
		touches, ok = w.touch(touches, word, writes)
		told = told && ok
		if writes && r.Op != syntax.AppOut && r.Op != syntax.AppAll && r.Op != syntax.RdrInOut {
			w.lose(word, Loss{Kind: Overwrites})
		}
	}
	return touches, told
}

// passing reports whether text written to a file is kept nowhere.
func passing(file tools.Word) bool {
	switch file.Text {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2":
		return file.Kind == tools.Known
	}
	return false
}

// document returns a here-document as standard input.
func (w *walker) document(body *syntax.Word, quoted bool) stdin {
	if body == nil {
		return stdin{given: true, known: true}
	}
	var b strings.Builder
	for _, part := range body.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return stdin{given: true}
		}
		if quoted {
			b.WriteString(lit.Value)
		} else {
			b.WriteString(inDocument(lit.Value))
		}
	}
	return stdin{given: true, known: true, text: b.String()}
}

// inDocument reads the text of a here-document whose delimiter is not quoted.
func inDocument(text string) string {
	return strings.NewReplacer("\\\n", "", `\$`, "$", "\\`", "`", `\\`, `\`).Replace(text)
}
