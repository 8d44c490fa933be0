package shell

import (
	"fmt"
	"regexp"
	"strings"

	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
)

// hinted is how many bytes at the end of an output are searched for hints.
const hinted = 4000

// notExecutable is the exit code of shells for a file that is not executable.
const notExecutable = 126

// hint is advice for a known error message in an output.
type hint struct {
	shown   *regexp.Regexp
	applies func(sandbox.Report, sandbox.Exit) bool
	say     string
	more    func(sandbox.Report) string // nil = nothing
}

func hints() []hint {
	offline := func(r sandbox.Report, _ sandbox.Exit) bool { return r.Network == "off" }
	boxed := func(r sandbox.Report, _ sandbox.Exit) bool { return r.Level != sandbox.None }
	closed := func(r sandbox.Report, _ sandbox.Exit) bool { return r.Denied != "" }
	always := func(sandbox.Report, sandbox.Exit) bool { return true }
	return []hint{
		{
			regexp.MustCompile(`(?i)could not resolve host|temporary failure in name resolution|network is unreachable|EAI_AGAIN|ENOTFOUND|no such host|name or service not known|failed to resolve|getaddrinfo|connection error`),
			offline, "the network is off: network: true asks for it", nil,
		},
		{
			regexp.MustCompile(`(?m)^sudo: |sudo: command not found|no new privileges|must be run as root|are you root\?|a terminal is required to read the password`),
			always, "commands run without privileges, and nobody can type a password", nil,
		},
		{
			regexp.MustCompile(`(?i)(chmod|changing permissions|change mode|permissions? of|setting permissions|install:).*operation not permitted`),
			boxed, "commands may set no mode with the bits of set-user-ID and set-group-ID (chmod 755 in the place of 4755 or g+s), and none of files of others", nil,
		},
		{
			regexp.MustCompile(`(?i)read-only file system|permission denied|operation not permitted|resource busy`),
			closed, "the policy of the user keeps commands from ", func(r sandbox.Report) string { return r.Denied },
		},
		{
			regexp.MustCompile(`Please tell me who you are`),
			boxed, "git -c user.name=NAME -c user.email=ADDRESS commit ... names the author for one command", nil,
		},
		{
			regexp.MustCompile(`(?i)could not (write|lock) config file|unable to write .*\.git|resource busy|\.(git|claude|codex|cursor|gemini|husky|vscode|mcp\.json|toolcrib\.yaml)\b.*read-only file system|read-only file system.*\.(git|claude|codex|cursor|gemini|husky|vscode|mcp\.json|toolcrib\.yaml)\b`),
			boxed, "what decides which programs run later can only be read here, and not moved or deleted: .git/config, hooks, the configuration of agents, and what links there lead to. git -c user.name=... sets a value for one command; delete_path and move_path take a directory with the repository in it, never .git itself; the rest is for the user to do", nil,
		},
		{
			regexp.MustCompile(`(?im)read-only file system|^[^\n]*\b(cannot (create|touch|open|remove|move|mkdir|make|write|overwrite|link|truncate)|mkdir|could not (create|open|write)|unable to (create|write)|failed to (create|write|open)|writing|open|EACCES)\b[^\n]*(\s|['"‘(=])(/|~/)[^\n]*permission denied|\bline \d+: /[^\n]*: permission denied|PermissionError[^\n]*'/`),
			func(r sandbox.Report, e sandbox.Exit) bool { return boxed(r, e) && e.Code != notExecutable }, "commands may write inside the workspace, in $TMPDIR and in $HOME only, and nowhere what decides which programs run later, such as hooks and what links there lead to", nil,
		},
		{
			regexp.MustCompile(`(?i)not a terminal|not a tty|inappropriate ioctl|terminal is dumb|failed tty get|error opening terminal|stdin isn't a terminal|must be a terminal`),
			always, "terminal: true gives it a terminal, job_input types", nil,
		},
	}
}

// hintOf returns the hint for a failure, "" if there is none.
func hintOf(j *jobs.Job) string {
	exit, why := j.Exit()
	refused := exit.Refused != "" && j.Report().Network != "off" // without the network, that is no news
	if exit.Err != nil || exit.Code == 0 && !refused && why != jobs.ByScreen {
		return ""
	}
	if exit.Refused != "" {
		return "hint: " + exit.Refused
	}
	switch why {
	case jobs.ByItself, jobs.ByTimeout:
	case jobs.ByScreen:
		return "hint: terminal: true gives it a terminal, job_input types; many programs have options that need no keys, such as git commit -m"
	default:
		return ""
	}
	text := ""
	if e := j.Log().Extent(); e.Bytes > 0 {
		raw, _, err := j.Log().Read(e.Bytes-min(e.Bytes, hinted), hinted)
		if err != nil {
			return ""
		}
		text = string(raw)
	}
	if say := limitOf(j.Report(), exit, why, text); say != "" {
		return "hint: " + say
	}
	if why == jobs.ByTimeout {
		return "hint: a longer timeout, or background: true for what runs on"
	}
	for _, h := range hints() {
		if h.applies(j.Report(), exit) && h.shown.MatchString(text) {
			if h.more != nil {
				return "hint: " + h.say + h.more(j.Report())
			}
			return "hint: " + h.say
		}
	}
	if exit.Code == 127 && strings.Contains(text, "command not found") {
		return "hint: that program is not installed, or not on the PATH of commands"
	}
	return ""
}

// fileSizeCode is the exit code of shells for SIGXFSZ, which the kernel sends at the limit of
// file size.
const fileSizeCode = 128 + 25

// limitOf returns which limit a program has reached and how to raise it, "" if none is known.
// Messages of programs count only if the server sets such a limit and the machine has no lower
// one.
func limitOf(r sandbox.Report, exit sandbox.Exit, why jobs.Why, text string) string {
	died := exit.Code > 128 && why == jobs.ByItself
	prints := func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(text) }
	l := r.Limits
	switch {
	case died && exit.Starved:
		return "the machine ran out of memory and ended it: no limit of this server; use less, such as fewer parallel jobs"
	case l.FileSize > 0 && exit.Code == fileSizeCode:
		return met("of "+megabytes(l.FileSize)+" for a file", "file_size")
	case l.Memory > 0 && (prints(noMemory) || died && exit.Memory >= l.Memory/4*3):
		return met("of "+megabytes(l.Memory)+" of memory for a process", "memory")
	case l.Processes > 0 && (prints(noProcess) || exit.Left >= l.Processes/2 && prints(again)):
		return met(fmt.Sprintf("of %d processes and threads", l.Processes), "processes")
	case l.Processes > 0 && l.Memory > 0 && prints(noThread):
		return met(fmt.Sprintf("of %d processes and threads, or of %s of memory for a process, of which each thread has a stack", l.Processes, megabytes(l.Memory)), "processes or programs.memory")
	case l.Files > 0 && prints(noFile):
		return met(fmt.Sprintf("of %d open files for a process", l.Files), "files")
	case l.FileSize > 0 && prints(tooLarge):
		return met("of "+megabytes(l.FileSize)+" for a file", "file_size")
	}
	return ""
}

func met(limit, setting string) string {
	return "it has probably met the limit " + limit + ": do with less; the user can raise programs." + setting + " in the configuration of the server"
}

// megabytes returns a size in the unit of the settings.
func megabytes(n int64) string { return fmt.Sprintf("%d MB", n>>20) }

// What programs print when the system refuses more of a resource. Programs with their own
// limit, such as the heap of node or Java, name that limit.
const (
	noMemory  = `(?i)cannot allocate memory|\bMemoryError\b|bad_alloc|runtime: out of memory|memory exhausted|memory allocation of \d+ bytes failed|\bENOMEM\b|unable to allocate [\d.]+ .?i?b|cannot allocate \d+ bytes|(?m:^out of memory!$)`
	noProcess = `(?i)fork: (retry: )?resource temporarily unavailable|can(no|')t fork|spawn [^\n]{0,100}\bEAGAIN\b`
	again     = `(?i)resource temporarily unavailable|\bEAGAIN\b` // it has many causes, so it counts only if there were many processes
	noThread  = `(?i)can't start new thread|failed to create new OS thread|pthread_create[^\n]{0,40}(failed|resource temporarily unavailable)|unable to create (native )?thread`
	noFile    = `(?i)too many open files\b|\bEMFILE\b`
	tooLarge  = `File size limit exceeded|(?m)File too large$|\bEFBIG\b`
)
