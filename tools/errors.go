package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"toolcrib/schema"
	"toolcrib/workspace"
)

// Code is the kind of an error. It determines whether the call may be tried again.
type Code string

// The codes.
const (
	InvalidArgument Code = "invalid_argument"
	NotFound        Code = "not_found"
	AlreadyExists   Code = "already_exists"
	Conflict        Code = "conflict"
	Denied          Code = "denied"
	Declined        Code = "declined"
	TooLarge        Code = "too_large"
	Timeout         Code = "timeout"
	Unavailable     Code = "unavailable"
	Unsupported     Code = "unsupported"
	Cancelled       Code = "cancelled"
	Internal        Code = "internal"
)

// Codes returns every code.
func Codes() []Code {
	return []Code{
		InvalidArgument, NotFound, AlreadyExists, Conflict, Denied, Declined, TooLarge, Timeout, Unavailable, Unsupported,
		Cancelled, Internal,
	}
}

// Retryable reports whether the same call may succeed when tried again.
func (c Code) Retryable() bool { return c == Unavailable || c == Timeout }

// Error is the error of a tool. Msg is lower case, has no full stop, names a file by the
// path that the caller wrote, and never starts with "failed to". Hint says what to call
// next.
type Error struct {
	Code Code
	Msg  string
	Hint string
	Err  error // the cause, for logs; never shown to the model
}

func (e *Error) Error() string {
	text := string(e.Code) + ": " + e.Msg
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error; the message is built as by [fmt.Sprintf].
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...)}
}

// WithHint returns a copy of the error with a hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// AsError turns any error into an *Error. Errors of workspace, schema and the file system
// get the code that fits; all others become internal. AsError(nil) is nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*workspace.Error](err); ok {
		return &Error{Code: workspaceCodes[e.Rule], Msg: e.Msg, Hint: e.Hint, Err: err}
	}
	if e, ok := errors.AsType[*schema.Error](err); ok {
		return &Error{Code: InvalidArgument, Msg: e.Error(), Err: err}
	}
	for _, m := range systemCodes {
		if errors.Is(err, m.err) {
			return &Error{Code: m.code, Msg: plain(err), Err: err}
		}
	}
	return &Error{Code: Internal, Msg: plain(err), Err: err}
}

var workspaceCodes = map[workspace.Rule]Code{
	workspace.RuleInvalid:    InvalidArgument,
	workspace.RuleOutside:    Denied,
	workspace.RuleSpecial:    Denied,
	workspace.RuleProcfs:     Denied,
	workspace.RuleLoop:       InvalidArgument,
	workspace.RuleNotFound:   NotFound,
	workspace.RuleKind:       InvalidArgument,
	workspace.RuleAccess:     Denied,
	workspace.RuleExists:     AlreadyExists,
	workspace.RuleProtected:  Denied,
	workspace.RuleDenied:     Denied,
	workspace.RuleDurability: Unavailable,
	workspace.RuleIO:         Unavailable,
}

var systemCodes = []struct {
	err  error
	code Code
}{
	{context.Canceled, Cancelled},
	{context.DeadlineExceeded, Timeout},
	{os.ErrDeadlineExceeded, Timeout},
	{fs.ErrNotExist, NotFound},
	{fs.ErrExist, AlreadyExists},
	{fs.ErrPermission, Denied},
	{errors.ErrUnsupported, Unsupported},
}

// plain formats an error without the host path that a PathError has.
func plain(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Op + ": " + e.Err.Error()
	}
	return err.Error()
}
