// Package outlet writes messages to clients: to a pipe in pipe.go, as the answer to an HTTP
// request in stream.go.
//
// It knows bytes, not messages, and imports no package of ours. Start at [Outlet].
package outlet

import "time"

// Outlet is a stream of messages to the client.
type Outlet interface {
	// Write writes the message that take returns; nil is none. take runs while
	// nobody else writes to the outlet.
	Write(take func() []byte)
	// Finish is Write for the answer to a request, which has a status over HTTP.
	// Where the outlet belongs to the request, it is the end.
	Finish(end Ending, take func() []byte)
	// Room returns memory to make an answer in, which is the outlet's again when Finish
	// has written it; nil is as good.
	Room() []byte
	// Streams reports whether Write reaches the client before Finish does, and
	// Lumps whether the client may read both at once.
	Streams() bool
	Lumps() bool
}

// Ending is how the answer to a request ends it over HTTP.
type Ending struct {
	Status int
	Wait   time.Duration // before the client should try again; 0 = nothing is said
}
