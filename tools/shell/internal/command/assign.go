package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolcrib/tools"
)

// assigns walks assignments. Some variables decide on what runs.
func (w *walker) assigns(list []*syntax.Assign) {
	for _, a := range list {
		w.arithm(a.Index)
		w.word(a.Value)
		if a.Array != nil {
			for _, elem := range a.Array.Elems {
				w.arithm(elem.Index)
				w.word(elem.Value)
			}
		}
		switch {
		case a.Name == nil: // export "$x", declare -n x
			w.evaluates = true
			if a.Value != nil {
				w.variable(w.value(a.Value))
			}
		case a.Value != nil:
			v := w.value(a.Value)
			w.sets(a.Name.Value, v, w.source(a.Value))
		case a.Array != nil:
			w.sets(a.Name.Value, tools.Word{Kind: tools.Many}, "")
		}
	}
}

// variable reads NAME=VALUE from a word.
func (w *walker) variable(word tools.Word) {
	name, value, ok := strings.Cut(word.Text, "=")
	switch {
	case word.Kind == tools.Known && ok:
		w.sets(name, tools.Word{Text: value}, value)
	case word.Kind != tools.Known && ok && isName(name):
		w.sets(name, tools.Word{Kind: tools.Many}, value)
	case word.Kind != tools.Known:
		w.unknown("it sets a variable whose name nobody can tell")
	}
}

// sets looks at a variable that is set. written is its value as it stands in the text.
func (w *walker) sets(name string, v tools.Word, written string) {
	switch name {
	case "PATH":
		for _, before := range []string{"$PATH:", "${PATH}:"} {
			if strings.HasPrefix(strings.TrimPrefix(written, `"`), before) {
				return // what was found is found
			}
		}
		w.unknown("it sets PATH, by which programs are found")
	case "BASH_ALIASES", "BASH_CMDS", "BASH_ENV", "ENV", "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "PS4", "PROMPT_COMMAND", "PYTHONSTARTUP", "PYTHONPATH",
		"PERL5OPT", "PERL5LIB", "RUBYOPT", "RUBYLIB", "NODE_OPTIONS", "NODE_PATH", "GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_COUNT",
		"GIT_CONFIG_PARAMETERS", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "SHELLOPTS", "BASHOPTS", "MAKEFLAGS", "JAVA_TOOL_OPTIONS":
		w.unknown("it sets %s, by which programs run others", name)
	case "PAGER", "GIT_PAGER", "MANPAGER", "EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_ASKPASS", "SSH_ASKPASS",
		"GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "LESSOPEN", "LESSCLOSE", "BROWSER", "RUSTC_WRAPPER", "CC", "CXX", "SHELL":
		if v.Kind != tools.Known {
			w.unknown("it sets %s to a command that nobody can tell", name)
			return
		}
		w.text(v.Text)
	}
	if strings.HasPrefix(name, "BASH_FUNC_") || strings.HasPrefix(name, "GIT_CONFIG_KEY_") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_") {
		w.unknown("it sets %s, by which programs run others", name)
	}
}

func isName(text string) bool {
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == "" && (text[0] < '0' || text[0] > '9')
}
