package document

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Limits bound what is read from a file.
type Limits struct {
	File     int64 // bytes of the file
	Unpacked int64 // bytes of all members together
	Entries  int   // members of an archive
	Ratio    int64 // unpacked to packed bytes of a member above RatioFrom
	Depth    int   // of elements, groups and archives in each other
	Cells    int   // of all tables
	Text     int64 // bytes of text, with what is repeated and what the model needs for it
}

// RatioFrom is the unpacked size from which [Limits.Ratio] holds.
const RatioFrom = 1 << 20

// Standard returns the limits that hold unless a test says otherwise.
func Standard() Limits {
	return Limits{
		File: 200 << 20, Unpacked: 256 << 20, Entries: 10_000, Ratio: 200, Depth: 256, Cells: 2_000_000, Text: 64 << 20,
	}
}

// Cause is why a file cannot be read.
type Cause uint8

// The causes.
const (
	Unsupported Cause = iota + 1 // no reader knows the format
	Encrypted                    // it needs a password, or another one
	Truncated                    // its end is missing
	Malformed                    // it is not what it claims to be
	TooLarge                     // it exceeds the limit that the error names
	Absent                       // it lacks the page, sheet or range that was asked for
)

// Error says why a file cannot be read.
type Error struct {
	Cause Cause
	Limit string // TooLarge: the name of the limit
	Say   string // a clause: lower case, no full stop
	Opens bool   // Encrypted: the right password opens it here
	Err   error
}

func (e *Error) Error() string { return e.Say }

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an error. An error among the arguments that %w names is its cause.
func Errorf(cause Cause, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Cause: cause, Say: strings.ToValidUTF8(err.Error(), "\uFFFD"), Err: errors.Unwrap(err)}
}

// Is reports whether an error has a cause.
func Is(err error, cause Cause) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Cause == cause
}

// Budget is what a reader may still take from one file. The members of an archive share it.
type Budget struct {
	Limits
	// Recognizer reads pages that are only images; nil = they are only named.
	Recognizer Recognizer
	// RecognizeBy is when it must have read what it can; zero = some time after its first use.
	RecognizeBy time.Time
	// Recognized is how many such pages it has read, Unread how many it has not, which another
	// call may, and Late how many of those for lack of time.
	Recognized, Unread, Late int

	ctx                   context.Context
	unpacked, text        int64
	entries, cells, depth int
}

// NewBudget returns a budget. The readers stop when the context ends.
func NewBudget(ctx context.Context, limits Limits) *Budget { return &Budget{Limits: limits, ctx: ctx} }

// Context is the context of the call.
func (b *Budget) Context() context.Context { return b.ctx }

// Err is the error of the context.
func (b *Budget) Err() error { return b.ctx.Err() }

// Unpack takes bytes that a member of an archive unpacks to.
func (b *Budget) Unpack(n int64) error {
	if b.unpacked += n; b.unpacked > b.Unpacked {
		return exceeded("unpacked size", b.Unpacked, "bytes")
	}
	return nil
}

// Enter takes the entries of an archive that lies in the one that was entered last.
func (b *Budget) Enter(entries int) error {
	const deepest = 4
	if b.entries += entries; b.entries > b.Entries {
		return exceeded("entries", int64(b.Entries), "entries of archives")
	}
	if b.depth++; b.depth > deepest {
		return exceeded("nesting", deepest, "archives in each other")
	}
	return nil
}

// Leave ends the archive that was entered last.
func (b *Budget) Leave() { b.depth-- }

// TakeCells takes cells of a table, and looks at the context now and then.
func (b *Budget) TakeCells(n int) error {
	before := b.cells
	if b.cells += n; b.cells > b.Cells || n < 0 {
		return exceeded("cells", int64(b.Cells), "cells")
	}
	if before>>12 != b.cells>>12 {
		return b.Err()
	}
	return nil
}

// TakeText takes bytes of text, and looks at the context now and then.
func (b *Budget) TakeText(n int) error {
	before := b.text
	if b.text += int64(n); b.text > b.Text || n < 0 {
		return exceeded("text", b.Text, "bytes of text")
	}
	if before>>14 != b.text>>14 {
		return b.Err()
	}
	return nil
}

// TakeSpan takes a run of text with what the model needs for it.
func (b *Budget) TakeSpan(n int) error { return b.TakeText(n + 16) }

// TakeBlock takes a block, a style or the like, which cost memory although they may have no
// text.
func (b *Budget) TakeBlock() error { return b.TakeText(128) }

// TakeRepeated takes a text that a file has once and that is shown again.
func (b *Budget) TakeRepeated(spans []Span) error {
	n := 128
	for _, s := range spans {
		n += len(s.Text) + len(s.Link)
	}
	return b.TakeText(n)
}

// CheckDepth refuses elements or groups that lie too deep in each other.
func (b *Budget) CheckDepth(depth int) error {
	if depth > b.Depth {
		return exceeded("depth", int64(b.Depth), "elements in each other")
	}
	return nil
}

// CheckFile refuses a file that is too large.
func (b *Budget) CheckFile(size int64) error {
	if size > b.File {
		return exceeded("file size", b.File, "bytes")
	}
	return nil
}

// CheckRatio refuses a member that unpacks to far more than it has.
func (b *Budget) CheckRatio(packed, unpacked int64) error {
	if unpacked > RatioFrom && unpacked/max(packed, 1) > b.Ratio {
		return exceeded("ratio", b.Ratio, "times the packed size")
	}
	return nil
}

func exceeded(limit string, most int64, unit string) error {
	return &Error{Cause: TooLarge, Limit: limit, Say: fmt.Sprintf("limit of %s: at most %d %s are read", limit, most, unit)}
}
