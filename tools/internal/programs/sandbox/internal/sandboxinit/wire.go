package sandboxinit

import "encoding/json"

// Variable is the variable of the environment that makes a process a holder, where its
// descriptor 3 is a socket that its parent made. Programs never get it.
const Variable = "TOOLCRIB_SANDBOX_ROLE"

// Levels as the sandbox names them.
const (
	None     = "none"
	Landlock = "landlock"
	Full     = "full"
)

// View is what the programs of one principal in one workspace see.
type View struct {
	Level string
	Roots []Dir // may be written, the outer before the inner
	Home  Dir   // likewise
	Temp  Dir   // holds "tmp" and "var"; likewise
	// Hide is what cannot be seen, beside the usual places of what is private; Read is
	// what can be read although it lies in such a place.
	Hide []string
	Read []string
	// Layers are directories of the host that can be read, and written into a copy.
	Layers  []Layer
	Sockets []string // of the file system, on which programs of the host listen; see hideSockets
	Places  []Cover  // of the roots, that no program moves or changes; the outer before the inner
}

// Dir is a directory of the host.
type Dir struct {
	Path          string // free of links
	Device, Inode uint64 // which directory it must be; 0 = any
	// At is where programs see it, beside Path where that is visible.
	At []string
}

// Layer is a directory that what is written over it does not change.
type Layer struct {
	Lower, Upper, Work string
	At                 string
}

// Command is a program to run.
type Command struct {
	Args, Env []string
	Dir       string
	// Streams says which of stdin, stdout and stderr come with the message; the null
	// device stands for the others.
	Streams [3]bool
	// Rows and Columns are the size of its terminal; 0 = it has none.
	Rows, Columns uint16
	Sockets       []string // of the host that are new, see View
	Places        []Cover  // likewise
	Covers        []Cover  // for this program alone; the outer before the inner
	Probe         bool     // in the place of a program: the self-test, see probe_linux.go
	Self          bool     // in the place of a program: this binary

	Memory, FileSize int64 // bytes; 0 = unbounded
	Files, Processes int   // 0 = unbounded
}

// Cover is a place that is not for a program, or not to be changed or moved by it.
type Cover struct {
	Path      string // as programs see it
	How       CoverHow
	Directory bool
}

// coverText is a Cover in JSON, whose texts cannot hold every name of a file.
type coverText struct {
	Path      []byte
	How       CoverHow
	Directory bool
}

// MarshalJSON implements [json.Marshaler].
func (c Cover) MarshalJSON() ([]byte, error) {
	return json.Marshal(coverText{[]byte(c.Path), c.How, c.Directory})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Cover) UnmarshalJSON(data []byte) error {
	var t coverText
	err := json.Unmarshal(data, &t)
	*c = Cover{string(t.Path), t.How, t.Directory}
	return err
}

// CoverHow says what a cover keeps a program from.
type CoverHow uint8

// What a cover keeps from, the least first.
const (
	CoverKeep     CoverHow = iota + 1 // moving it
	CoverReadOnly                     // likewise, and changing it
	CoverShut                         // looking into it
	CoverUnread                       // changing it, as long as the server cannot look into it
)

// Messages to a holder are one byte, with the description in a memory file and what
// belongs to it as descriptors.
const (
	msgView    = 'v' // [description]
	msgCommand = 'c' // [description, socket of the init, streams ...]
)

// Messages to an init are two bytes, the second being the number of the signal.
const (
	MsgSignal = 's' // for the program and its process group
	MsgKill   = 'k' // ends everything
)

// Kinds of events.
const (
	EvError    = 1 + iota // Text says why the holder refuses; A is 1 for a place of the user's
	EvFailed              // the program was not started: A is the stage, B the errno
	EvProcess             // comes with the descriptor of the init's process
	EvTerminal            // comes with the other end of the terminal
	EvStarted
	EvEnded // A is the wait status, B how many were left
	// EvReady is of a holder: its view is made. Text is what it could not hold, a line
	// each. With a private network come the socket of its gate and, as A, the port.
	EvReady
)

// Event is what a holder or an init says. On the wire it is 32 bytes and the text.
type Event struct {
	Kind, A, B uint32
	Memory     uint64 // KiB that the program or one that it waited for had at its most
	CPU        uint64 // µs of all
	Text       string
}

// Stages at which a program can fail to start, see EvFailed.
const (
	StageFork = 1 + iota
	StageMount
	StageSession
	StageStreams
	StageDirectory
	StageLimits
	StageCapabilities
	StageRules
	StageFilter
	StageExec
	StageCovers
)
