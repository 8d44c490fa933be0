// Package sandboxinit is the part of the sandbox that runs between the server and a program.
// It is the server's binary, executed again.
//
// The server starts one zygote for each principal and workspace. The zygote makes the
// namespaces and mounts (tree_linux.go) and keeps them: the private network, the private
// temporary directory, HOME. For each program it forks an init (init_linux.go). The init is
// pid 1 of a new PID namespace, if there is one. It restricts and starts the program
// (program_linux.go), forwards signals, reaps, and ends everything when the program has
// ended or the server is gone (watch_linux.go).
//
// The zygote forks without exec, so that a call does not pay for a process start. The init
// has only one of the threads of Go's runtime, and therefore uses raw system calls and
// nothing of the runtime: it does not allocate, grow its stack or take locks.
//
// If [Variable] says so, the init function of the package turns the process into a zygote,
// before main. The package imports only the standard library and x/sys. Start reading at
// wire.go, then run in zygote_linux.go.
package sandboxinit

import "encoding/json"

// Variable is the environment variable that makes a process a zygote, if its descriptor 3 is
// a socket of its parent. Programs never get it.
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
	Roots []Dir // writable, the outer before the inner
	Home  Dir   // writable
	Temp  Dir   // contains "tmp" and "var"; writable
	// Hide are paths that programs cannot see, in addition to the private ones. Read are
	// paths that they can read although a hidden or private path contains them.
	Hide []string
	Read []string
	// Layers are directories of the host; programs read them and write to an overlay.
	Layers    []Layer
	Sockets   []string      // Unix sockets on which programs of the host listen; see hideSockets
	Protected []Restriction // protected paths of the roots; the outer before the inner
}

// Dir is a directory of the host.
type Dir struct {
	Path          string // free of links
	Device, Inode uint64 // which directory it must be; 0 = any
	// At are the paths where programs see it, in addition to Path if that is visible.
	At []string
}

// Names are all paths where programs may see it.
func (d Dir) Names() []string { return append([]string{d.Path}, d.At...) }

// Layer is an overlay: programs see Lower at At, and their writes go to Upper.
type Layer struct {
	Lower, Upper, Work string
	At                 string
}

// Command is a program to run.
type Command struct {
	Args, Env []string
	Dir       string
	// Streams says which of stdin, stdout and stderr come with the message. The others are
	// the null device.
	Streams [3]bool
	// Rows and Columns are the size of its terminal; 0 = it has none.
	Rows, Columns uint16
	Sockets       []string      // new ones of the host, see View
	Protected     []Restriction // new ones, see View
	Denied        []Restriction // denied paths, for this program alone; the outer before the inner
	ReadOnly      bool          // it changes nothing in the roots
	Probe         bool          // run the self-test instead of a program, see probe_linux.go
	Self          bool          // run this binary instead of a program
	Reports       bool          // report its changes of files, see EvReports

	Memory, FileSize int64 // bytes; 0 = unbounded
	Files, Processes int   // 0 = unbounded
}

// Restriction is a path that programs cannot move, change or read.
type Restriction struct {
	Path      string // as programs see it
	Kind      RestrictionKind
	Directory bool
}

// restrictionText is a Restriction in JSON. Path has bytes because a JSON string cannot hold
// every file name.
type restrictionText struct {
	Path      []byte
	Kind      RestrictionKind
	Directory bool
}

// MarshalJSON implements [json.Marshaler].
func (c Restriction) MarshalJSON() ([]byte, error) {
	return json.Marshal(restrictionText{[]byte(c.Path), c.Kind, c.Directory})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Restriction) UnmarshalJSON(data []byte) error {
	var t restrictionText
	err := json.Unmarshal(data, &t)
	*c = Restriction{string(t.Path), t.Kind, t.Directory}
	return err
}

// RestrictionKind says what programs cannot do with a path.
type RestrictionKind uint8

// The kinds, the weakest first.
const (
	Pinned     RestrictionKind = iota + 1 // cannot be moved
	ReadOnly                              // cannot be moved or changed
	Masked                                // cannot be read
	Unreadable                            // cannot be changed until the server can look into it
)

// A message to a zygote is one byte with descriptors, the first of which is a memory file
// with the description.
const (
	msgView    = 'v' // [description]
	msgCommand = 'c' // [description, socket of the init, streams ...]
	msgSocket  = 's' // [socket for the answer]: it wants a socket of the private network
)

// A message to an init is two bytes; the second is the number of the signal.
const (
	MsgSignal = 's' // signals the program and its process group
	MsgKill   = 'k' // ends everything
)

// Kinds of events.
const (
	EvError    = 1 + iota // Text says why the zygote refuses; A is 1 if a path of the user is the cause
	EvFailed              // the program was not started: A is the stage, B the errno
	EvProcess             // comes with the descriptor of the init's process
	EvTerminal            // comes with the other end of the terminal
	EvStarted
	EvEnded // A is the wait status, B the number of processes left behind
	// EvReady comes from a zygote that has made its view. Text has notes about paths that it
	// could not mount, one a line. With a private network the socket of its gate comes too,
	// and A is the port. B is 0 if changes can be reported, else the errno that says why not.
	EvReady
	EvReports // comes with the listener of the reports of a program, before it starts
	EvSocket  // comes with an unconnected TCP socket, for IPv6 and IPv4 if the kernel has IPv6
)

// Event is a message of a zygote or an init. On the wire it is 32 bytes and the text.
type Event struct {
	Kind, A, B uint32
	Memory     uint64 // peak KiB of the program or of a process that it waited for
	CPU        uint64 // µs of all processes
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
	StageDenied
)
