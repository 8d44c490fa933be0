package command

import (
	"slices"
	"strings"

	"toolcrib/tools"
)

// wrapper is a program that runs its arguments as a command.
type wrapper struct {
	light  bool     // it has no effect of its own
	flags  string   // letters of options without a value
	values string   // letters of options with one
	long   []string // long options without a value
	longer []string // long options with one
	words  []string // words that must come first: run, exec
	skip   int      // operands before the command
	sets   bool     // NAME=VALUE may come before it
	adds   bool     // it adds words to the command
	text   bool     // the command is the text of a line
}

func wrapperOf(name string) (wrapper, bool) {
	switch name {
	case "env":
		return wrapper{light: true, flags: "i0v", values: "uCS", long: []string{"ignore-environment", "null", "debug"}, longer: []string{"unset", "chdir", "split-string"}, sets: true}, true
	case "command":
		return wrapper{light: true, flags: "p"}, true
	case "builtin", "nohup", "chronic", "unbuffer", "busybox", "toybox":
		return wrapper{light: true}, true
	case "exec":
		return wrapper{light: true, flags: "cl", values: "a"}, true
	case "nice":
		return wrapper{light: true, flags: "0123456789", values: "n", longer: []string{"adjustment"}}, true
	case "ionice":
		return wrapper{light: true, flags: "t", values: "cn", long: []string{"ignore"}, longer: []string{"class", "classdata"}}, true
	case "timeout", "gtimeout":
		return wrapper{light: true, flags: "v", values: "ks", long: []string{"foreground", "preserve-status", "verbose"}, longer: []string{"kill-after", "signal"}, skip: 1}, true
	case "time", "gtime":
		return wrapper{light: true, flags: "pvaq", values: "of", long: []string{"portability", "verbose", "append", "quiet"}, longer: []string{"output", "format"}}, true
	case "setsid":
		return wrapper{light: true, flags: "cfw", long: []string{"ctty", "fork", "wait"}}, true
	case "stdbuf":
		return wrapper{light: true, values: "ioe", longer: []string{"input", "output", "error"}}, true
	case "taskset":
		return wrapper{light: true, flags: "ac", long: []string{"all-tasks", "cpu-list"}, skip: 1}, true
	case "chrt":
		return wrapper{light: true, flags: "bfiorRv", values: "TPD", skip: 1}, true
	case "caffeinate":
		return wrapper{light: true, flags: "disumd", values: "t"}, true
	case "ssh-agent":
		return wrapper{light: true, flags: "cDdks", values: "aEOPt"}, true
	case "xargs", "gxargs":
		return wrapper{light: true, flags: "0rtpxo", values: "IndLPsaE", long: []string{"null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty"},
			longer: []string{"max-args", "delimiter", "max-procs", "max-chars", "arg-file", "replace", "max-lines", "eof"}, adds: true}, true
	case "sudo":
		return wrapper{flags: "nEHSbPABkK", values: "ughpCRTDrt", long: []string{"non-interactive", "preserve-env", "set-home", "stdin", "background"},
			longer: []string{"user", "group", "host", "prompt", "chdir", "chroot"}, sets: true}, true
	case "doas":
		return wrapper{flags: "n", values: "uC"}, true
	case "strace", "ltrace":
		return wrapper{flags: "fFqrtTvxyikCcdDhnSzZ", values: "eoPsauEOXIb", long: []string{"follow-forks"}}, true
	case "flock":
		return wrapper{flags: "nsxuoFv", values: "wE", long: []string{"nonblock", "shared", "exclusive", "close", "no-fork", "verbose"}, longer: []string{"timeout", "wait"}, skip: 1}, true
	case "setpriv", "pkexec":
		return wrapper{}, true
	case "watch":
		return wrapper{flags: "tdbegcwx", values: "nq", longer: []string{"interval"}, text: true}, true
	case "entr":
		return wrapper{flags: "acdnprsxz"}, true
	case "npx", "bunx", "uvx":
		return wrapper{flags: "yq", values: "pw", long: []string{"yes", "no", "quiet", "no-install"}, longer: []string{"package", "from", "with", "python"}}, true
	case "uv", "poetry", "pipenv", "rye", "pdm", "hatch", "pipx":
		return wrapper{words: []string{"run"}, flags: "q", long: []string{"no-sync", "frozen", "locked", "quiet"}, longer: []string{"with", "python", "extra", "group"}}, true
	case "conda", "mamba", "micromamba":
		return wrapper{words: []string{"run"}, flags: "v", values: "np", long: []string{"no-capture-output", "live-stream"}, longer: []string{"name", "prefix", "cwd"}}, true
	case "pyenv", "rbenv", "nodenv", "goenv", "jenv", "plenv", "volta":
		return wrapper{words: []string{"exec", "run"}}, true
	case "bundle", "pnpm", "yarn", "npm", "direnv", "mise", "asdf":
		return wrapper{words: []string{"exec", "x", "dlx"}, flags: "y", values: "C", long: []string{"yes"}}, true
	}
	return wrapper{}, false
}

// wraps finds the command among the arguments of a program that runs it.
func (w *walker) wraps(wrap wrapper, name string, args []tools.Word, hides func(string)) {
	if len(wrap.words) > 0 {
		i := slices.IndexFunc(args, func(a tools.Word) bool { return a.Kind == tools.Known && slices.Contains(wrap.words, a.Text) })
		if i < 0 || i > 0 && !strings.HasPrefix(args[0].Text, "-") {
			return // it does not run a command
		}
		args = args[i+1:]
	}
	rest, ok := w.options(wrap, name, args, hides)
	if !ok {
		hides("its options leave open what it runs")
	}
	for range wrap.skip {
		if len(rest) > 0 && rest[0].Kind != tools.Many {
			rest = rest[1:]
		}
	}
	if name == "flock" && len(rest) > 1 && (rest[0].Text == "-c" || rest[0].Text == "--command") {
		w.evaluated(rest[1:2], hides)
		return
	}
	if len(rest) == 0 {
		return
	}
	if wrap.text {
		w.evaluated(rest, hides)
		return
	}
	if wrap.adds {
		w.xargsLoses(rest)
		rest = append(slices.Clone(rest), tools.Word{Text: "...", Kind: tools.Many})
	}
	w.run(rest)
}

// options skips the options and the variables before a command. ok is false if one is unknown,
// so that nobody can tell where the command begins.
func (w *walker) options(wrap wrapper, name string, args []tools.Word, hides func(string)) (rest []tools.Word, ok bool) {
	ok = true
	replaced := ""
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a.Kind != tools.Known {
			if wrap.sets && strings.Contains(a.Text, "=") && a.Kind == tools.Some {
				w.variable(a)
				continue
			}
			return args[i:], ok
		}
		switch {
		case a.Text == "--":
			return w.assigned(wrap, args[i+1:]), ok
		case strings.HasPrefix(a.Text, "--"):
			long, _, given := strings.Cut(a.Text[2:], "=")
			takes := slices.Contains(wrap.longer, long)
			switch {
			case long == "split-string" && name == "env":
				hides("it splits a text into a command")
				return nil, true
			case !takes && !slices.Contains(wrap.long, long):
				ok = false
			case takes && !given:
				i++
			}
		case a.Text == "-" && name == "env":
		case len(a.Text) > 1 && a.Text[0] == '-':
			for j := 1; j < len(a.Text); j++ {
				letter := a.Text[j]
				if strings.IndexByte(wrap.values, letter) >= 0 {
					value := tools.Word{Text: a.Text[j+1:]}
					if value.Text == "" && i+1 < len(args) {
						i++
						value = args[i]
					}
					if name == "env" && letter == 'S' {
						return w.split(value, args[min(i+1, len(args)):], hides), ok
					}
					if name == "env" && letter == 'C' {
						w.moves(value)
					}
					if name == "xargs" && letter == 'I' {
						replaced = value.Text
					}
					break
				}
				if strings.IndexByte(wrap.flags, letter) < 0 {
					if name == "command" && (letter == 'v' || letter == 'V') {
						return nil, true // it only looks
					}
					ok = false
				}
			}
		case wrap.sets && isAssignment(a):
			w.variable(a)
		default:
			return unfilled(args[i:], replaced), ok
		}
	}
	return nil, ok
}

// assigned skips the variables that still come.
func (w *walker) assigned(wrap wrapper, args []tools.Word) []tools.Word {
	for wrap.sets && len(args) > 0 && args[0].Kind == tools.Known && isAssignment(args[0]) {
		w.variable(args[0])
		args = args[1:]
	}
	return args
}

func isAssignment(a tools.Word) bool {
	name, _, ok := strings.Cut(a.Text, "=")
	return ok && name != ""
}

// split reads the text that env -S splits into words, as a line without operators.
func (w *walker) split(value tools.Word, rest []tools.Word, hides func(string)) []tools.Word {
	if value.Kind != tools.Known || strings.ContainsAny(value.Text, "\\$'\"#") {
		hides("it splits a text into a command")
		return nil
	}
	var words []tools.Word
	for field := range strings.FieldsSeq(value.Text) {
		words = append(words, tools.Word{Text: field})
	}
	return w.assigned(wrapper{sets: true}, append(words, rest...))
}

// unfilled marks the words in which a program replaces a part.
func unfilled(words []tools.Word, mark string) []tools.Word {
	if mark == "" {
		return words
	}
	words = slices.Clone(words)
	for i := range words {
		if strings.Contains(words[i].Text, mark) {
			words[i].Kind = max(words[i].Kind, tools.Some)
		}
	}
	return words
}
