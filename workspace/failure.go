package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"

	"toolcrib/workspace/internal/fsys"
)

// word words the errors of an attempt.
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

// wordCause words the error that ended an attempt.
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

func (w *work) fail(err error) error {
	if err == nil {
		return nil
	}
	return &stepError{w, w.path, err}
}

func (w *work) failFrom(err error) error {
	if err == nil {
		return nil
	}
	return &stepError{w, w.op.From, err}
}

// changedError says that a file is not what it was when the change was computed.
type changedError struct {
	work *work
	old  Old // what stands there instead
}

func (e *changedError) Error() string { return e.work.path.String() + " has changed meanwhile" }

// undoError says that a change that failed could not be undone either.
type undoError struct {
	err  error
	left bool // it was, but for temporary entries that could not be removed
}

func (e *undoError) Error() string {
	if e.left {
		return "a temporary file of it could not be removed (" + fsys.Cause(e.err) + "); the next start of the server tries again"
	}
	return "it could not be undone (" + fsys.Cause(e.err) + "); the next start of the server tries again"
}

func (e *undoError) Unwrap() error { return e.err }

// stateFailed words an error of the state, so that nobody takes it for one of the
// file that is to be changed. What ended with ctx, or is worded already, stays.
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
