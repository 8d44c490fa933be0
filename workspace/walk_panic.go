package workspace

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// walkPanic carries a panic from a goroutine of a walk to the one that called
// Walk, whose caller may be ready for it: in the goroutine of the walk it would end
// the process.
type walkPanic struct {
	value any
	stack []byte // of the goroutine that panicked
}

func (p *walkPanic) Error() string {
	return fmt.Sprintf("walk: %v\n\n%s", p.value, p.stack)
}

// Unwrap returns the value of the panic where that is an error.
func (p *walkPanic) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// caught calls f and makes a panic of it an error.
func caught(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &walkPanic{value, debug.Stack()}
		}
	}()
	return f()
}

func isPanic(err error) bool {
	_, ok := errors.AsType[*walkPanic](err)
	return ok
}
