package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"

	"toolcrib/workspace/internal/fsys"
)

// word turns the error of an attempt into that of the change.
func (t *transaction) word(err error) error {
	worded := t.wordCause(err)
	u, ok := errors.AsType[*undoError](err)
	if !ok {
		return worded
	}
	e, ok := errors.AsType[*Error](worded)
	switch {
	case !u.left:
		return &Error{
			Rule: RuleIO, Path: t.works[0].path.written(), Err: err, Msg: worded.Error() + "; " + u.Error(),
			Hint: "look at the files before anything else: they may be changed in part",
		}
	case ok:
		both := *e
		both.Msg += "; " + u.Error()
		return &both
	}
	if e, ok := errors.AsType[*ConflictError](worded); ok {
		both := *e
		both.Left = u.Error()
		return &both
	}
	return fmt.Errorf("%w; %s", worded, u.Error())
}

// wordCause does so for the error that ended the attempt, without that of its undo.
func (t *transaction) wordCause(err error) error {
	if cause := context.Cause(t.ctx); cause != nil && errors.Is(err, cause) {
		return cause
	}
	if e, ok := errors.AsType[*changedError](err); ok {
		if e.work.op.Expect == (Expect{}) {
			return &Error{
				Rule: RuleIO, Path: e.work.path.written(), Err: err,
				Msg:  fsys.Show(e.work.path.written()) + " changes too fast: another program writes it all the time",
				Hint: "nothing was changed; try again",
			}
		}
		return e.work.conflict(e.old)
	}
	if e, ok := errors.AsType[*stepError](err); ok {
		return e.path.refuseChange(e.err)
	}
	return err
}

// stepError is an error of the system in one operation.
type stepError struct {
	work *work
	path Path
	err  error
}

func (e *stepError) Error() string { return e.path.String() + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

func (w *work) fail(err error) error     { return w.failAt(w.path, err) }
func (w *work) failFrom(err error) error { return w.failAt(w.op.From, err) }

func (w *work) failAt(p Path, err error) error {
	if err == nil {
		return nil
	}
	return &stepError{w, p, err}
}

// changedError says that a file has changed since the operation was planned.
type changedError struct {
	work *work
	old  Old // as it is now
}

func (e *changedError) Error() string { return e.work.path.String() + " has changed meanwhile" }

// undoError says that a failed change could not be undone.
type undoError struct {
	err  error
	left bool // it was undone, but temporary entries are left
}

func (e *undoError) Error() string {
	if e.left {
		return "a temporary file of it could not be removed (" + fsys.Cause(e.err) + "); the next start of the server tries again"
	}
	return "it could not be undone (" + fsys.Cause(e.err) + "); the next start of the server tries again"
}

func (e *undoError) Unwrap() error { return e.err }

// stateFailed returns an error of the state as one that cannot be taken for an error of the
// changed file. The cause of ctx and an *[Error] stay as they are.
func (w *Workspace) stateFailed(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, os.ErrClosed) {
		return stateError(err)
	}
	if cause := context.Cause(ctx); cause != nil && (errors.Is(err, cause) || errors.Is(err, ctx.Err())) {
		return err
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{
		Rule: RuleIO, Path: w.state.Base(), Err: err,
		Msg:  "nothing was changed: the server cannot keep its state in " + fsys.Show(w.state.Base()) + ": " + fsys.Cause(err),
		Hint: "it is not about the file: make room there or give the server the right to write it, or another --state-dir",
	}
}
