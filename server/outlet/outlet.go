// Package outlet writes messages to clients: to a pipe in pipe.go, as the answer to an HTTP
// request in stream.go.
//
// It knows bytes, not messages, and must not import another package of toolcrib. Start at
// [Outlet].
package outlet

import (
	"context"
	"time"
)

// Outlet is a stream of messages to the client.
type Outlet interface {
	// Write writes the message that take returns; nil is none. take runs while
	// nobody else writes to the outlet.
	Write(take func() []byte)
	// Finish writes the answer to a request, which has a status over HTTP. If the outlet
	// belongs to the request, this ends the outlet.
	Finish(end Ending, take func() []byte)
	// Room returns memory for an answer, or nil. It belongs to the outlet again when
	// Finish has written the answer.
	Room() []byte
	// Streams reports whether the output of Write reaches the client before that of
	// Finish.
	Streams() bool
	// Settle waits until what is written next does not reach the client together with what
	// was written before; last is when that was.
	Settle(ctx context.Context, last time.Time)
}

// Ending has the HTTP status of the answer to a request, and how long to wait before the
// next try.
type Ending struct {
	Status int
	Wait   time.Duration // before the client should try again; 0 = nothing is said
}
