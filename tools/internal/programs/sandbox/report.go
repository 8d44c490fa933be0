package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Report says what contains a process.
type Report struct {
	Level   Level
	Network string // "off", "on", or by which hosts it is bounded
	// Closed names places that the policy keeps it from, and the rules; "" = none.
	Closed string
	// Open names likewise those that its level cannot keep it from.
	Open string
	// Earlier is what is to be said of earlier programs and was not: why not all that
	// decides which programs run later is protected, and what one that nobody asked for
	// its end has touched. "" = nothing.
	Earlier string
	// Limits are those that the process meets before any of the machine, as far as that is
	// known; zero = none.
	Limits Limits
	// Countless reports that the limit of processes, which is set, does not hold here.
	Countless bool
}

// Warning says what contains a process where that is less than all, "" otherwise.
func (r Report) Warning() string {
	if r.Level == Full && !r.Countless || r.Level == 0 {
		return r.Earlier
	}
	text := fmt.Sprintf("sandbox: %s, network %s", r.Level, r.Network)
	if r.Countless && r.Level != None { // which limits nothing
		text += ", any number of processes"
	}
	if r.Level == Full {
		return strings.TrimSpace(text + "\n" + r.Earlier)
	}
	if r.Open != "" {
		text += "; it does not keep programs from " + r.Open
	}
	return text
}

// Meta is the report for programs, in the _meta of a result; nil = nothing ran.
func (r Report) Meta() map[string]any {
	if r.Level == 0 {
		return nil
	}
	return map[string]any{"toolcrib/sandbox": map[string]any{"level": r.Level.String(), "network": r.Network}}
}

// Exit is how a process ended.
type Exit struct {
	Code   int    // 128 + the number of the signal where one ended it, as shells have it
	Signal string // such as "SIGKILL"; "" = it ended by itself
	Left   int    // processes that it had left behind, which were ended
	Memory int64  // bytes that one of its processes had at its most; 0 = unknown
	// Starved reports that the machine ran out of memory while it ran, and ended something
	// for that.
	Starved bool
	CPU     time.Duration
	Err     error // why nothing is known of its end
	// Refused says which hosts it was not let to and why, "" = none.
	Refused string
	Touched
}

// Touched is what has become of places that decide which programs run later while a
// program ran, by their paths as tools name them.
type Touched struct {
	Made    []string // came to be
	Gone    []string // were deleted, or moved away with what they lie in; a repository counts as a whole
	Swapped []string // are other files or directories now, or cannot be looked at

	told *atomic.Bool // whether anybody has asked for the warning; nil = nobody minds
}

// Warning says what the user is to be told of it, "" for nothing.
func (t Touched) Warning() string {
	if t.told != nil {
		t.told.Store(true)
	}
	var parts []string
	for _, p := range []struct {
		paths []string
		what  string
	}{
		{t.Gone, "deleted or moved away meanwhile: %s, which no history of this server has: tell the user"},
		{t.Made, "made meanwhile: %s; programs of the user follow it: tell the user before anything else is done"},
		{t.Swapped, "replaced meanwhile: %s; programs of the user follow what is there now: tell the user before anything else is done"},
	} {
		if len(p.paths) > 0 {
			parts = append(parts, fmt.Sprintf(p.what, shortened(p.paths)))
		}
	}
	return strings.Join(parts, "\n")
}

// shortened names paths; of many in one directory at the top only how many they are.
func shortened(paths []string) string {
	const most = 8
	if len(paths) > most {
		count := map[string]int{}
		for _, path := range paths {
			count[top(path)]++
		}
		paths = slices.Clone(paths)
		for i, path := range paths {
			if n := count[top(path)]; n > 1 {
				paths[i] = fmt.Sprintf("%s/ (%d places)", top(path), n)
			}
		}
		paths = slices.Compact(paths)
	}
	if more := len(paths) - 2*most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:2*most], ", "), more)
	}
	return strings.Join(paths, ", ")
}

// top is the directory at the top of its root that a path lies in, as far as it tells.
func top(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	name, _, _ := strings.Cut(path, "/")
	return name
}

// Orphans words the processes that it had left behind, "" for none.
func (e Exit) Orphans() string {
	switch e.Left {
	case 0:
		return ""
	case 1:
		return "1 process that it left behind was ended with it"
	}
	return fmt.Sprintf("%d processes that it left behind were ended with it", e.Left)
}
