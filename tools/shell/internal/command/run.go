package command

import (
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
