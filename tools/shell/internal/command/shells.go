package command

import (
	"slices"
	"strings"

	"toolcrib/tools"
)

// shell handles a shell that is started.
func (w *walker) shell(name string, args []tools.Word, hides func(string)) {
	foreign := name == "fish" || name == "csh" || name == "tcsh" || name == "pwsh"
	text := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.Kind == tools.Many || a.Kind != tools.Known && !text:
			hides("nobody can tell what it is told to run")
			return
		case text && (a.Kind != tools.Known || a.Text == "" || a.Text[0] != '-' && a.Text[0] != '+'), text && a.Text == "--" && i+1 < len(args):
			if a.Text == "--" {
				a = args[i+1]
			}
			if a.Kind != tools.Known || foreign {
				hides("nobody can tell what it is told to run")
				return
			}
			dirs := w.dirs
			w.text(a.Text)
			w.dirs = dirs
			return
		case a.Text == "--version" || a.Text == "--help":
			return
		case a.Text == "--rcfile" || a.Text == "--init-file" || a.Text == "-i" || a.Text == "-l" || a.Text == "--login":
			hides("it reads a script as it starts")
			if strings.HasSuffix(a.Text, "file") {
				i++
			}
		case a.Text == "-o" || a.Text == "+o" || a.Text == "-O" || a.Text == "+O":
			i++
		case a.Text == "-s":
			i = len(args) // the rest are its parameters
		case a.Text == "-" || a.Text == "--":
		case strings.HasPrefix(a.Text, "--"):
			if a.Text == "--command" {
				text = true
			}
		case a.Text != "" && (a.Text[0] == '-' || a.Text[0] == '+'):
			if a.Text[0] == '-' && strings.ContainsAny(a.Text[1:], "il") {
				hides("it reads a script as it starts")
			}
			if a.Text[0] == '-' && strings.Contains(a.Text, "c") {
				text = true
			}
			if strings.HasSuffix(a.Text, "o") || strings.HasSuffix(a.Text, "O") {
				i++
			}
		default:
			hides("it reads a script")
			return
		}
	}
	switch {
	case text || foreign || !w.stdin.known:
		hides("it reads what it runs from its input")
	default:
		dirs, stdin := w.dirs, w.stdin
		w.text(stdin.text)
		w.dirs, w.stdin = dirs, stdin
	}
}

// evaluated walks words that are evaluated as one text.
func (w *walker) evaluated(args []tools.Word, hides func(string)) {
	if len(args) > 0 && args[0].Kind == tools.Known && args[0].Text == "--" {
		args = args[1:]
	}
	texts := make([]string, len(args))
	for i, a := range args {
		if a.Kind != tools.Known {
			hides("nobody can tell what it evaluates")
			return
		}
		texts[i] = a.Text
	}
	w.text(strings.Join(texts, " "))
}

func (w *walker) trap(args []tools.Word, hides func(string)) {
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) < 2 || args[0].Text == "-" || args[0].Text == "-p" || args[0].Text == "-l" {
		return
	}
	w.evaluated(args[:1], hides)
}

// aliases assumes that every alias is used, with any arguments.
func (w *walker) aliases(args []tools.Word, hides func(string)) {
	for _, a := range args {
		if a.Kind != tools.Known {
			hides("nobody can tell what the alias is")
			continue
		}
		if _, text, ok := strings.Cut(a.Text, "="); ok {
			w.text(text + ` "$@"`)
		}
	}
}

func (w *walker) cd(args []tools.Word) {
	for len(args) > 0 && args[0].Kind == tools.Known && slices.Contains([]string{"-P", "-L", "-e", "-@", "--"}, args[0].Text) {
		args = args[1:]
	}
	switch len(args) {
	case 0:
		w.moves(tools.Word{Text: "~"})
	case 1:
		w.moves(args[0])
	default:
		w.dirs = nil
	}
}
