package command

import (
	"path"
	"slices"
	"strings"

	"toolcrib/tools"
)

// run notes a command and the commands that it runs in turn.
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
	c.Hides = w.fileRun(words[0].Text)
	c.Touches, c.Told = w.opens(name, words)
	w.loses(name, words)
	c.Light = isLight(words[0].Text)
	hides := func(why string) { w.line.Commands[at].Hides = why }
	args := words[1:]
	if wrap, ok := wrapperOf(name); ok {
		c.Light = wrap.light
		w.wraps(wrap, name, args, hides)
		return
	}
	if isShell(name) {
		c.Light = true
		w.shell(name, args, hides)
		return
	}
	switch name {
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
		"kubectl", "script", "sg", "newgrp", "setarch", "proot", "capsh", "prlimit", "chpst", "fakeroot", "eatmydata", "proxychains",
		"proxychains4", "torsocks", "tsocks", "dbus-run-session", "xvfb-run", "rlwrap", "valgrind", "perf", "hyperfine", "mpirun", "mpiexec", "cmd", "run-parts",
		"cpulimit", "catchsegv", "socat", "gosu", "su-exec", "tini", "dumb-init", "ifne", "rargs", "watchexec", "nodemon", "concurrently", "cross-env", "dotenv",
		"numactl", "systemd-inhibit", "faketime", "start-stop-daemon", "daemonize", "dtach", "unshare", "nsenter", "bwrap", "firejail", "systemd-run", "chroot", "su", "runuser", "xterm", "lua", "osascript", "tclsh", "m4", "gnuplot":
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
		if verb, ok := strings.CutPrefix(name, "git-"); ok && verb != "" {
			w.run(append([]tools.Word{{Text: "git"}, {Text: verb}}, args...))
		} else if !w.known && !plain(name) {
			w.guess(args, hides)
		}
	}
}

// fileRun returns why a program named by a path is unknown, "" if it belongs to the system or
// does not exist.
func (w *walker) fileRun(program string) string {
	first := !w.ran
	w.ran = true
	clean := path.Clean(program)
	switch {
	case !strings.Contains(program, "/"):
		return ""
	case strings.HasPrefix(clean, "/proc/"):
		return "it runs what is running already"
	case strings.HasPrefix(clean, "/tmp/"), strings.HasPrefix(clean, "/var/tmp/"), strings.HasPrefix(clean, "/dev/"), isScript(base(clean)):
		return "it is a file that may be a script"
	case w.has == nil:
		return ""
	}
	touches, told := w.touch(nil, tools.Word{Text: program}, false)
	if !told || !first && !path.IsAbs(clean) || slices.ContainsFunc(touches, func(t tools.Touch) bool { return w.has(t.Path) }) {
		return "it is a file of the workspace, which may be a script"
	}
	return ""
}
