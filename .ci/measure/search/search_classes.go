package search

import (
	"strconv"

	"toolcrib/.ci/measure/harness"
)

// searchForm is the form of a search's results.
type searchForm int

const (
	linesForm searchForm = iota // matching lines, all pages
	filesForm                   // files with matches, all pages
	firstForm                   // matching lines of the first files: one page
	listForm                    // files by name, all pages
)

// firstLines is how many lines of each file firstForm asks for, so that a page
// holds those of a hundred files.
const firstLines = 3

// searchClass is a kind of search, and what it may cost: CPU as a ratio to
// ripgrep, 0 = not judged.
type searchClass struct {
	name        string
	form        searchForm
	fold, multi bool
	patterns    map[string]string  // by tree
	cold        map[string]float64 // a process for each search, by tree
	warm        float64            // a server whose index is ready
	stat        bool               // of a server that may not watch and validates by stat
}

// on is the class's search of a tree.
func (k searchClass) on(t tree) searchQuery {
	return searchQuery{pattern: k.patterns[t.name], form: k.form, fold: k.fold, multi: k.multi}
}

func searchClasses() []searchClass {
	both := func(p string) map[string]string { return map[string]string{"linux": p, "gosrc": p} }
	each := func(linux, gosrc string) map[string]string { return map[string]string{"linux": linux, "gosrc": gosrc} }
	least := func(r float64) map[string]float64 { return map[string]float64{"linux": r, "gosrc": r} }
	selective := map[string]float64{"linux": 1.1, "gosrc": 0.85}
	rare := each("mmap_write_lock_killable", "readGCStats")
	word := each(`\bPM_RESUME\b`, `\bErrNoProgress\b`)
	return []searchClass{
		{name: "rare literal", patterns: rare, cold: selective, warm: 0.01},
		{name: "no match", patterns: both("zzqxj_nothing_here"), cold: selective, warm: 0.01},
		{name: `\b word`, patterns: word, cold: selective, warm: 0.05},
		{name: "case-insensitive literal", fold: true, patterns: each("mmap_write_lock", "evalsymlinks"), cold: selective, warm: 0.05},
		{name: "regex with a literal", patterns: each(`static\s+int\s+\w+_probe_\w+\(`, `func\s+\(\w+ \*\w+\)\s+readFrom\w*\(`), cold: selective, warm: 0.05},
		{name: "alternation of four", cold: selective, warm: 0.1, patterns: each(
			"PM_RESUME|mmap_write_lock_killable|kmem_cache_shrink|blk_mq_freeze_queue_wait", "ErrNoProgress|readGCStats|EvalSymlinks|LockOSThread")},
		{name: "common literal, files only", form: filesForm, patterns: both("return"), cold: least(0.75), warm: 0.4},
		{name: "common literal, first 100 files with lines", form: firstForm, patterns: both("return"), cold: least(0.1), warm: 0.01},
		{name: "multiline with a literal", multi: true, patterns: each(`struct \w+ \{\n\tint irq_base;`, `struct \{\n\tmu +sync\.Mutex`), cold: least(1), warm: 0.01},
		{name: "regex without a literal", patterns: both(`\w{5}\s+\w{5}\s+\w{5}\s+\w{5}\s+\w{5}`), cold: least(2), warm: 2},
		{name: "list of all files", form: listForm, patterns: both("**"), cold: least(1.1), warm: 0.01},
		{name: "`**/*.c`", form: listForm, patterns: both("**/*.c"), cold: least(1.1), warm: 0.01},
		{name: "`**/Makefile`", form: listForm, patterns: both("**/Makefile"), cold: least(1.1), warm: 0.01},
		{name: "rare literal, validated by stat", patterns: rare, warm: 0.25, stat: true},
		{name: `\b word, validated by stat`, patterns: word, warm: 0.25, stat: true},
	}
}

// searchQuery is one search, as each program spells it.
type searchQuery struct {
	pattern     string
	form        searchForm
	fold, multi bool
	fresh       bool // by a scan of all files, whatever the server holds
}

// call is the search as a call of a tool, its first page.
func (q searchQuery) call() harness.Call {
	args := map[string]any{"pattern": q.pattern, "limit": 1000}
	if q.fresh {
		args["fresh"] = true
	}
	if q.form == listForm {
		args["pattern"], args["hidden"] = []string{q.pattern}, true
		return harness.Call{Tool: "glob", Args: args}
	}
	args["case"], args["context"] = "sensitive", 0
	if q.fold {
		args["case"] = "insensitive"
	}
	if q.multi {
		args["multiline"] = true
	}
	switch q.form {
	case filesForm:
		args["mode"] = "files"
	case firstForm:
		args["max_per_file"] = firstLines
	}
	return harness.Call{Tool: "grep", Args: args}
}

// rg is the search as arguments of ripgrep. Of the first files too it has to
// search all: it has no such limit, and its order is not that of the paths.
func (q searchQuery) rg() []string {
	args := []string{"--no-config", "--no-unicode", "--hidden", "-g", "!.git", "--color=never"}
	switch q.form {
	case listForm:
		if q.pattern != "**" {
			args = append(args, "-g", q.pattern)
		}
		return append(args, "--files", ".")
	case filesForm:
		args = append(args, "--files-with-matches")
	case firstForm:
		args = append(args, "--max-count", strconv.Itoa(firstLines), "--line-number", "--null")
	case linesForm:
		args = append(args, "--line-number", "--null")
	}
	if q.fold {
		args = append(args, "--ignore-case")
	}
	if q.multi {
		args = append(args, "--multiline")
	}
	return append(args, "-e", q.pattern, ".")
}
