package tools

import "strings"

// Access is the permission class of a tool. The zero value is invalid, so that
// a declaration cannot forget it.
type Access uint8

const (
	// Read changes nothing.
	Read Access = iota + 1
	// Write changes files of the workspace or state of the server.
	Write
	// Exec runs programs or code.
	Exec
	// External talks to hosts outside this machine.
	External
	// Delegates calls other tools; the policy judges each inner call.
	Delegates
)

var accessNames = [...]string{"invalid", "read", "write", "exec", "external", "delegates"}

func (a Access) String() string {
	if int(a) < len(accessNames) {
		return accessNames[a]
	}
	return accessNames[0]
}

func (a Access) valid() bool { return a >= Read && a <= Delegates }

// Effects is a set of side effects that a tool can have. The zero value is invalid: a
// tool without effects says [None].
type Effects uint16

const (
	// None is no side effect; it excludes every other effect.
	None Effects = 1 << iota
	// Workspace changes files inside the roots.
	Workspace
	// Outside changes files or settings of this machine outside the roots.
	Outside
	// Process starts, feeds or ends processes.
	Process
	// Network sends requests to other hosts. An external tool that has no other effect only
	// reads there; one that may change something there has Destroys as well.
	Network
	// State changes the server's own data: memories, schedules, jobs.
	State
	// Destroys may delete or overwrite data that cannot be recreated.
	Destroys
)

var effectNames = [...]string{"none", "workspace", "outside", "process", "network", "state", "destroys"}

// Has reports whether every effect of f is in e.
func (e Effects) Has(f Effects) bool { return e&f == f }

func (e Effects) String() string {
	var names []string
	for i, name := range effectNames {
		if e&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

func (e Effects) valid() bool {
	return e != 0 && e < 1<<len(effectNames) && (e&None == 0 || e == None)
}

// Reads reports whether a call of the tool changes nothing itself, here or on another machine.
func (t Tool) Reads() bool {
	return t.Access == Read || t.Access == Delegates || t.Access == External && t.Effects == Network
}

// MayRead reports whether some calls of the tool only read: which, its plan says.
func (t Tool) MayRead() bool {
	return t.Reads() || t.Least == Read || t.Access == External && t.Plans()
}

// Leads reports whether the tool finds or calls the tools that a list does not show. It goes
// with every toolset; calls through it are judged as if made directly.
func (t Tool) Leads() bool {
	return t.Category == "bridge" && (t.Access == Read || t.Access == Delegates)
}

// Classes names the access of the tool, and that of its calls which do least if it is another.
func (t Tool) Classes() string {
	if t.Least == t.Access {
		return t.Access.String()
	}
	return t.Access.String() + " or " + t.Least.String()
}

// Mildest returns the tool as the policy judges those of its calls that do least.
func (t Tool) Mildest() Tool {
	if t.Least == Read {
		t.Access, t.Effects = Read, None
	}
	return t
}

// Annotations are the hints that a client reads before it lets a tool run.
type Annotations struct {
	ReadOnly, Destructive, Idempotent, OpenWorld bool
}

// annotations derives the hints. A tool that delegates gets the worst case, because its
// inner calls are not known yet when a client lists the tools.
func annotations(a Access, e Effects, repeatable bool) Annotations {
	if a == Delegates {
		return Annotations{Destructive: true, OpenWorld: true}
	}
	return Annotations{
		ReadOnly:    a == Read,
		Destructive: e.Has(Destroys),
		Idempotent:  repeatable,
		OpenWorld:   a == External || e.Has(Network),
	}
}
