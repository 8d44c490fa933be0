package command

import (
	"path"
	"slices"
	"strings"

	"toolcrib/tools"
)

// isLight reports whether a program does nothing by itself beyond its shell.
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

// others looks at programs that run something where their arguments say so, and at
// builtins that evaluate text.
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
		for _, a := range args { // its words are names, of which some decide on what runs
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

// madeShell reports whether make is told its shell, or to read what it does from its input.
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

// interpreter reports whether a program runs a program in a language of its own.
func interpreter(name string) bool {
	name = strings.TrimRight(name, "0123456789.")
	return slices.Contains([]string{"python", "ipython", "pypy", "node", "nodejs", "deno", "bun", "perl", "ruby", "php", "lua", "luajit", "Rscript", "rscript", "julia", "guile", "racket", "groovy", "scala", "elixir", "erl", "ghc", "jshell", "swift", "tsx", "ts-node"}, name)
}

// inline reports whether an interpreter is given its program in the line, or from its
// standard input: whether it is given no file or module first.
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
