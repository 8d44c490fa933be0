package command

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolcrib/tools"
)

// isLight reports whether a program has no effect outside its shell.
func isLight(name string) bool {
	switch name {
	case "cd", "pwd", "echo", "printf", "true", "false", ":", "test", "[", "set", "shift", "return", "exit", "break", "continue", "wait", "read", "umask",
		"type", "hash", "getopts", "pushd", "popd", "dirs", "unset", "times", "ulimit", "jobs", "fg", "bg", "disown", "shopt", "mapfile", "readarray", "caller",
		"logout", "trap", "alias", "unalias", "sleep":
		return true
	}
	return false
}

// base returns the name that a program is known by.
func base(name string) string {
	return strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/"))), ".exe")
}

// others handles programs that run commands from their arguments, and builtins that evaluate
// text.
func (w *walker) others(name string, args []tools.Word, hides func(string)) {
	has := func(options ...string) bool {
		return slices.ContainsFunc(args, func(a tools.Word) bool {
			return slices.ContainsFunc(options, func(o string) bool {
				return a.Text == o || strings.HasPrefix(o, "--") && strings.HasPrefix(a.Text, o+"=") || len(o) == 2 && o[0] == '-' && o[1] != '-' && strings.HasPrefix(a.Text, o)
			})
		})
	}
	switch {
	case interpreter(name):
		if inline(args) {
			hides("it is given a program in this line")
		}
	case slices.Contains([]string{"test", "[", "let", "printf", "unset", "read", "declare", "typeset", "local", "readonly", "export", "mapfile", "readarray", "wait", "getopts"}, name):
		w.evaluates = true
		if (name == "mapfile" || name == "readarray") && has("-C") {
			hides("it runs its callback")
		}
		for _, a := range args { // its words are names of variables, some of which decide what runs
			if name == "export" || name == "declare" || name == "typeset" || name == "local" || name == "readonly" {
				w.variable(a)
			}
			if a.Kind == tools.Known && name != "test" && name != "[" {
				w.sets(a.Text, tools.Word{Kind: tools.Many}, "")
			}
		}
	case name == "hash" && has("-p"), name == "enable" && has("-f"), name == "complete", name == "compgen", name == "bind", name == "fc", name == "history":
		hides("it changes what names run")
	case name == "tar" && has("--to-command", "--checkpoint-action", "-I", "--use-compress-program", "--rsh-command", "-F", "--info-script", "--new-volume-script"),
		name == "rsync" && has("-e", "--rsh", "--rsync-path"), name == "scp" && has("-S", "-o"), name == "sftp" && has("-S", "-o", "-b"),
		name == "sort" && has("--compress-program"), name == "split" && has("--filter"), name == "zip" && has("-TT", "--unzip-command"),
		name == "make" && (has("--eval", "-E") || madeShell(args) || hasText(args, "$(", "${", "!=")), name == "gmake" && (has("--eval", "-E") || madeShell(args) || hasText(args, "$(", "${", "!=")),
		name == "dc" && has("-e", "--expression", "-f"),
		(name == "vim" || name == "vi" || name == "nvim" || name == "view" || name == "emacs") && (has("-c", "-s", "-S", "--cmd", "--eval", "-l", "--script", "-es") || plussed(args)),
		name == "curl" && has("-K", "--config"), name == "wget" && has("--use-askpass"), name == "psql" && has("-c", "-f"),
		(name == "sqlite3" || name == "mysql") && (has("-cmd", "-init") || hasText(args, ".shell", ".system", `\!`)),
		name == "rg" && has("--pre", "--hostname-bin"), (name == "ag" || name == "ack" || name == "bat") && has("--pager"), name == "fzf" && has("--preview", "--bind"),
		slices.Contains([]string{"gcc", "g++", "cc", "c++", "clang", "clang++", "gfortran"}, name) && (has("-B") || hasText(args, "-wrapper", "-fplugin=", "-specs", "-fuse-ld=/")),
		name == "go" && has("-exec", "-toolexec", "-vettool"), name == "cargo" && has("--config"), name == "less" && plussed(args), name == "man" && has("-P", "--pager", "-H"):
		hides("its options run others")
	case slices.Contains([]string{"sqlite3", "psql", "mysql", "vim", "vi", "nvim", "bc", "dc"}, name) && w.stdin.given:
		hides("it reads commands from its input")
	}
}

// madeShell reports whether make is given its shell, or a makefile from its standard input.
func madeShell(args []tools.Word) bool {
	for i, a := range args {
		if strings.HasPrefix(a.Text, "SHELL=") || a.Text == "-f-" || a.Text == "-f" && i+1 < len(args) && (args[i+1].Text == "-" || args[i+1].Text == "/dev/stdin") {
			return true
		}
	}
	return false
}

func plussed(args []tools.Word) bool {
	return slices.ContainsFunc(args, func(a tools.Word) bool { return strings.HasPrefix(a.Text, "+") })
}

func hasText(args []tools.Word, texts ...string) bool {
	return slices.ContainsFunc(args, func(a tools.Word) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(a.Text, t) })
	})
}

// interpreter reports whether a program interprets a programming language.
func interpreter(name string) bool {
	name = strings.TrimRight(name, "0123456789.")
	return slices.Contains([]string{"python", "ipython", "pypy", "node", "nodejs", "deno", "bun", "perl", "ruby", "php", "lua", "luajit", "Rscript", "rscript", "julia", "guile", "racket", "groovy", "scala", "elixir", "erl", "ghc", "jshell", "swift", "tsx", "ts-node"}, name)
}

// inline reports whether an interpreter takes its program from the line or from its standard
// input, that is, whether no file or module comes first.
func inline(args []tools.Word) bool {
	for _, a := range args {
		switch {
		case a.Kind != tools.Known:
			return true
		case a.Text == "--version" || a.Text == "-V" || a.Text == "--help" || a.Text == "-m" || a.Text == "--test":
			return false
		case a.Text == "-" || a.Text == "eval" || a.Text == "/dev/stdin":
			return true
		case !strings.HasPrefix(a.Text, "-"):
			return false
		case strings.HasPrefix(a.Text, "--eval"), strings.HasPrefix(a.Text, "--print"), strings.HasPrefix(a.Text, "--require"), strings.HasPrefix(a.Text, "--import"):
			return true
		case !strings.HasPrefix(a.Text, "--") && strings.ContainsAny(a.Text[1:], "cepErMR"):
			return true
		}
	}
	return true
}

// find notes the commands that find runs on its matches.
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

// inner notes words as a command that runs in an unknown directory.
func (w *walker) inner(words []tools.Word) {
	if len(words) == 0 {
		return
	}
	dirs := w.dirs
	w.dirs = nil
	w.run(words)
	w.dirs = dirs
}

// after notes the words that follow one of options as a command.
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

// remote handles commands that run on another machine or as another user: rules that deny a
// command deny it there too.
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

// awkRuns reports whether a program of awk may run others.
func awkRuns(args []tools.Word) bool {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.Kind != tools.Known:
			return true
		case a.Text == "-F" || a.Text == "-v":
			i++
		case strings.HasPrefix(a.Text, "-F") || strings.HasPrefix(a.Text, "-v"):
		case strings.HasPrefix(a.Text, "-"):
			return true // -f, -e and the like
		default:
			return strings.Contains(a.Text, "system") || strings.Contains(a.Text, "|") || strings.Contains(a.Text, "getline") || strings.Contains(a.Text, "@")
		}
	}
	return false
}

// sedPlain matches what a script of sed does without other programs: substitutions,
// deletions, prints and the like, each at most at one address or range.
var sedPlain = sync.OnceValue(func() *regexp.Regexp {
	const address = `(?:\d+|\$|/(?:[^/\\]|\\.)*/)`
	commands := []string{`[pdqDPNGhHgx=]`}
	for _, delimiter := range []string{"/", `\|`, "#", ","} {
		commands = append(commands, strings.ReplaceAll(`s@(?:[^@\\]|\\.)*@(?:[^@\\]|\\.)*@[gpiIM0-9]*`, "@", delimiter))
	}
	return regexp.MustCompile(`^\s*(?:` + address + `(?:,` + address + `)?\s*!?\s*)?(?:` + strings.Join(commands, "|") + `)?\s*$`)
})

// sedRuns reports whether a script of sed may run programs: whether it has anything but
// what sedPlain matches.
func sedRuns(args []tools.Word) bool {
	var scripts []tools.Word
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case (a.Text == "-e" || a.Text == "--expression") && i+1 < len(args):
			i++
			scripts = append(scripts, args[i])
		case strings.HasPrefix(a.Text, "--file"), strings.HasPrefix(a.Text, "--expression"):
			return true
		case strings.HasPrefix(a.Text, "-i"), strings.HasPrefix(a.Text, "--"), a.Text == "-":
		case strings.HasPrefix(a.Text, "-"):
			if strings.ContainsAny(a.Text, "ef") { // -f FILE, -ne SCRIPT
				return true
			}
		case len(scripts) == 0:
			scripts = append(scripts, a)
		}
	}
	return slices.ContainsFunc(scripts, func(s tools.Word) bool {
		return s.Kind != tools.Known || !sedPlain().MatchString(s.Text) &&
			slices.ContainsFunc(strings.Split(s.Text, ";"), func(part string) bool { return !sedPlain().MatchString(part) })
	})
}
