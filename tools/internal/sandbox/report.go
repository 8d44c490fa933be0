package sandbox

import (
	"fmt"
	"path/filepath"
	"strings"
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
	// Limits are those that the process meets before any of the machine, as far as that is
	// known; zero = none.
	Limits Limits
	// Countless reports that the limit of processes, which is set, does not hold here.
	Countless bool
}

// Warning says what contains a process where that is less than all, "" otherwise.
func (r Report) Warning() string {
	if r.Level == Full && !r.Countless || r.Level == 0 {
		return ""
	}
	text := fmt.Sprintf("sandbox: %s, network %s", r.Level, r.Network)
	if r.Countless && r.Level != None { // which limits nothing
		text += ", any number of processes"
	}
	if r.Level == Full {
		return text
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

// Touched is what has become of places that decide which programs run later, at the top of
// a root, while a program ran.
type Touched struct {
	Made []string // paths of what came to be
	Gone []string // paths of what was deleted; a repository counts as a whole
}

// Warning says what the user is to be told of it, "" for nothing.
func (t Touched) Warning() string {
	var parts []string
	if len(t.Gone) > 0 {
		parts = append(parts, "deleted meanwhile: "+bases(t.Gone)+", which no history of this server has: tell the user")
	}
	if len(t.Made) > 0 {
		parts = append(parts, "made meanwhile: "+bases(t.Made)+"; programs of the user follow what stands there: tell the user before anything else is done")
	}
	return strings.Join(parts, "\n")
}

func bases(paths []string) string {
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = filepath.Base(path)
	}
	return strings.Join(names, ", ")
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
