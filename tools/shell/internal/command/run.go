package command

import (
	"path"
	"slices"
	"strings"

	"toolcrib/tools"
)

// run notes a command and what it runs in turn.
func (w *walker) run(words []tools.Word) {
	if !w.enter() {
		return
	}
	defer w.leave()
	at := len(w.line.Commands)
	w.add(tools.Command{Words: words, Told: false})
	if at >= len(w.line.Commands) || words[0].Kind != tools.Known {
		return
	}
	name := base(words[0].Text)
	c := &w.line.Commands[at]
	if strings.HasPrefix(words[0].Text, "/proc/") {
		c.Hides = "it runs what is running already"
	}
	c.Touches, c.Told = w.opens(name, words)
	c.Light = isLight(words[0].Text)
	hides := func(why string) { w.line.Commands[at].Hides = why }
	args := words[1:]
	if wrap, ok := wrapperOf(name); ok {
		c.Light = wrap.light
		w.wraps(wrap, name, args, hides)
		return
	}
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "lksh", "posh", "yash", "oksh", "osh", "bash-static", "fish", "csh", "tcsh", "pwsh":
		c.Light = true
		w.shell(name, args, hides)
	case "eval":
		c.Light = true
		w.evaluated(args, hides)
	case "source", ".":
		hides("it reads a script")
	case "trap":
		w.trap(args, hides)
	case "alias":
		w.aliases(args, hides)
	case "cd", "pushd", "chdir":
		w.cd(args)
	case "popd":
		w.dirs = nil
	case "find", "gfind":
		w.find(args, hides)
	case "fd", "fdfind":
		w.after(args, hides, "-x", "-X", "--exec", "--exec-batch")
	case "git":
		w.git(args, hides)
	case "ssh", "parallel", "at", "batch", "crontab", "screen", "tmux", "expect", "ed", "ex", "gdb", "lldb", "docker", "podman", "nerdctl",
		"kubectl", "script", "sg", "newgrp", "setarch", "linux32", "linux64", "i386", "x86_64", "prlimit", "chpst", "fakeroot", "eatmydata", "proxychains",
		"proxychains4", "torsocks", "tsocks", "dbus-run-session", "xvfb-run", "rlwrap", "valgrind", "perf", "hyperfine", "mpirun", "mpiexec", "cmd", "run-parts",
		"cpulimit", "catchsegv", "socat", "gosu", "su-exec", "tini", "dumb-init", "ifne", "rargs", "watchexec", "nodemon", "concurrently", "cross-env", "dotenv",
		"numactl", "systemd-inhibit", "faketime", "start-stop-daemon", "daemonize", "dtach", "ld.so", "unshare", "nsenter", "bwrap", "firejail", "systemd-run", "chroot", "su", "runuser", "xterm", "lua", "osascript", "tclsh", "m4", "gnuplot":
		hides("it runs what it is told to")
		w.remote(name, args)
	case "nc", "ncat", "netcat":
		if hasText(args, "-e", "-c", "--exec", "--sh-exec", "--lua-exec") {
			hides("it runs what it is told to")
		}
	case "awk", "gawk", "mawk", "nawk":
		if awkRuns(args) {
			hides("its program may run others")
		}
	case "sed", "gsed":
		if sedRuns(args) {
			hides("its program may run others")
		}
	default:
		w.others(name, args, hides)
	}
}

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

// shell looks at a shell that is started.
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

// aliases takes every alias to be used, with any arguments.
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
