package command

import (
	"slices"
	"strings"

	"toolcrib/tools"
)

// find looks for what find runs on what it finds.
func (w *walker) find(args []tools.Word, hides func(string)) {
	for i := 0; i < len(args); i++ {
		switch args[i].Text {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].Text != ";" && (args[end].Text != "+" || args[end-1].Text != "{}") {
				end++
			}
			inner := slices.Clone(args[i+1 : end])
			for j := range inner {
				if strings.Contains(inner[j].Text, "{}") {
					inner[j] = tools.Word{Text: inner[j].Text, Kind: tools.Some}
				}
			}
			w.inner(inner)
			i = end
		}
	}
	for _, a := range args {
		if a.Kind == tools.Many && !strings.ContainsAny(a.Text, "*?[{") {
			hides("nobody can tell whether it runs others")
		}
	}
}

// inner runs words as a command, in a directory that nobody can tell.
func (w *walker) inner(words []tools.Word) {
	if len(words) == 0 {
		return
	}
	dirs := w.dirs
	w.dirs = nil
	w.run(words)
	w.dirs = dirs
}

// after runs the words that follow one of options.
func (w *walker) after(args []tools.Word, hides func(string), options ...string) {
	for i, a := range args {
		if slices.Contains(options, a.Text) {
			w.inner(append(slices.Clone(args[i+1:]), tools.Word{Text: "...", Kind: tools.Many}))
			return
		}
		if a.Kind == tools.Many {
			hides("nobody can tell whether it runs others")
		}
		for _, o := range options {
			if strings.HasPrefix(a.Text, o+"=") || len(o) == 2 && strings.HasPrefix(a.Text, o) {
				hides("it runs what it is told to")
			}
		}
	}
}

// remote looks at what runs in another place, or as another user: what is denied here is
// taken to be denied there.
func (w *walker) remote(name string, args []tools.Word) {
	dirs := w.dirs
	w.dirs = nil
	defer func() { w.dirs = dirs }()
	for i, a := range args {
		switch {
		case a.Kind != tools.Known:
		case (name == "su" || name == "runuser" || name == "script" || name == "sg") && (a.Text == "-c" || a.Text == "--command") && i+1 < len(args):
			w.evaluated(args[i+1:i+2], func(string) {})
		case name == "ssh" && a.Text != "" && a.Text[0] != '-' && i+1 < len(args):
			w.evaluated(args[i+1:], func(string) {}) // an option's value may be taken for the host
		}
	}
}
