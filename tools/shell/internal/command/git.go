package command

import (
	"slices"
	"strings"

	"toolcrib/tools"
)

// git finds the commands that git runs because of its configuration or its options.
func (w *walker) git(args []tools.Word, hides func(string)) {
	defer func(dirs []string) { w.dirs = dirs }(w.dirs)
	i := 0
	for ; i < len(args); i++ {
		a := args[i]
		if a.Kind != tools.Known {
			break
		}
		switch {
		case a.Text == "-c" || a.Text == "--config-env":
			if i++; i < len(args) {
				w.gitSets(args[i], hides)
			}
		case strings.HasPrefix(a.Text, "--exec-path="), strings.HasPrefix(a.Text, "--config-env="):
			hides("its options say what it runs")
		case a.Text == "-C":
			if i++; i < len(args) {
				w.dirs = w.into(args[i])
			}
		case a.Text == "--git-dir" || a.Text == "--work-tree" || a.Text == "--namespace":
			i++
		case !strings.HasPrefix(a.Text, "-"):
			w.gitCommand(a.Text, args[i+1:], hides)
			return
		}
	}
}

// gitSets checks a setting, KEY=VALUE.
func (w *walker) gitSets(word tools.Word, hides func(string)) {
	key, value, _ := strings.Cut(word.Text, "=")
	key = strings.ToLower(key)
	runs := strings.HasPrefix(key, "alias.") || strings.HasPrefix(key, "pager.") || strings.HasPrefix(key, "include") ||
		slices.ContainsFunc([]string{".pager", ".editor", ".sshcommand", ".fsmonitor", ".askpass", ".external", ".command", ".textconv", ".clean", ".smudge", ".process",
			".driver", ".helper", ".program", ".hookspath", ".cmd", ".path", ".gitproxy", ".uploadpack", ".receivepack", ".vcs", ".tool", ".diffmerge", ".templatedir", ".sendmail", ".smtpserver", ".allow"},
			func(end string) bool { return strings.HasSuffix(key, end) })
	switch {
	case word.Kind != tools.Known:
		hides("nobody can tell what it sets")
	case strings.HasPrefix(key, "alias.") && !strings.HasPrefix(value, "!"):
		w.text("git " + value + ` "$@"`)
	case strings.HasPrefix(key, "alias."):
		w.text(value[1:] + ` "$@"`)
	case runs:
		hides("its settings say what it runs")
		w.text(strings.TrimPrefix(value, "!"))
	}
}

// gitRuns has the options of git's commands whose values are commands.
var gitRuns = map[string][]string{
	"rebase": {"-x", "--exec"}, "difftool": {"-x", "--extcmd"}, "grep": {"-O", "--open-files-in-pager"},
	"clone": {"-u", "--upload-pack"}, "fetch": {"--upload-pack"}, "pull": {"--upload-pack"}, "ls-remote": {"--upload-pack", "--exec"},
	"archive": {"--exec"}, "push": {"--receive-pack", "--exec"},
}

func (w *walker) gitCommand(name string, args []tools.Word, hides func(string)) {
	switch name {
	case "config":
		for i, a := range args {
			if a.Kind != tools.Known {
				hides("nobody can tell what it sets")
			}
			if i+1 < len(args) && strings.Contains(a.Text, ".") && !strings.HasPrefix(a.Text, "-") {
				w.gitSets(tools.Word{Text: a.Text + "=" + args[i+1].Text, Kind: args[i+1].Kind}, hides)
			}
		}
	case "clean":
		w.gitCleans(args)
	case "clone":
		for i, a := range args {
			if (a.Text == "-c" || a.Text == "--config") && i+1 < len(args) {
				w.gitSets(args[i+1], hides)
			}
		}
	case "bisect":
		if len(args) > 1 && args[0].Text == "run" {
			w.inner(args[1:])
		}
	case "submodule":
		i := slices.IndexFunc(args, func(a tools.Word) bool { return a.Text == "foreach" })
		if i < 0 {
			return
		}
		rest := args[i+1:]
		for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") {
			rest = rest[1:]
		}
		dirs := w.dirs
		w.dirs = nil
		w.evaluated(rest, hides)
		w.dirs = dirs
	case "subtree": // its push and pull are those of git
		if i := slices.IndexFunc(args, func(a tools.Word) bool { return a.Text == "push" || a.Text == "pull" }); i >= 0 {
			w.run(append([]tools.Word{{Text: "git"}}, args[i:]...))
		}
	case "filter-branch":
		hides("its options say what it runs")
	}
	for i, a := range args {
		for _, option := range gitRuns[name] {
			value, joined := strings.CutPrefix(a.Text, option)
			switch {
			case a.Kind != tools.Known || !joined || strings.HasPrefix(option, "--") && value != "" && value[0] != '=':
				continue
			case value != "":
				w.text(strings.TrimPrefix(value, "="))
			case i+1 < len(args) && args[i+1].Kind == tools.Known:
				w.text(args[i+1].Text)
			}
			hides("its options say what it runs")
		}
		if strings.HasPrefix(a.Text, "ext::") {
			hides("its address is a command")
			w.text(a.Text[5:])
		}
	}
}

// gitCleans notes what git clean deletes, if that depends on what git tracks and ignores alone.
func (w *walker) gitCleans(args []tools.Word) {
	given, operands := options("e", args)
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { _, ok := given[n]; return ok })
	}
	if !has("f", "force") || has("n", "dry-run", "i", "interactive", "X", "e", "exclude") {
		return
	}
	if len(operands) == 0 {
		operands = []tools.Word{{Text: "."}}
	}
	for _, o := range operands {
		w.lose(o, Loss{Kind: Cleans, Tree: has("d"), Ignored: has("x")})
	}
}
