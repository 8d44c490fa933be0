package shell

import (
	"fmt"
	"regexp"

	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
)

// fileSizeCode is the exit code that shells give for SIGXFSZ, which the kernel sends at the
// limit.
const fileSizeCode = 128 + 25

// limitOf says which limit a program has met, and what raises it; "" = it is not known
// to have met any. What programs print of it counts only where there is such a limit, and
// the machine has no lower one.
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

// megabytes words a size as the settings have it.
func megabytes(n int64) string { return fmt.Sprintf("%d MB", n>>20) }

// What programs print when the system gives them no more. Those with a limit of their own,
// such as the heap of node or Java, name that.
const (
	noMemory  = `(?i)cannot allocate memory|\bMemoryError\b|bad_alloc|runtime: out of memory|memory exhausted|memory allocation of \d+ bytes failed|\bENOMEM\b|unable to allocate [\d.]+ .?i?b|cannot allocate \d+ bytes|(?m:^out of memory!$)`
	noProcess = `(?i)fork: (retry: )?resource temporarily unavailable|can(no|')t fork|spawn [^\n]{0,100}\bEAGAIN\b`
	again     = `(?i)resource temporarily unavailable|\bEAGAIN\b` // of many things, so only where many processes were there
	noThread  = `(?i)can't start new thread|failed to create new OS thread|pthread_create[^\n]{0,40}(failed|resource temporarily unavailable)|unable to create (native )?thread`
	noFile    = `(?i)too many open files\b|\bEMFILE\b`
	tooLarge  = `File size limit exceeded|(?m)File too large$|\bEFBIG\b`
)
