package jobs

import (
	"errors"
	"time"
)

// ErrNoInput says that the program reads no input.
var ErrNoInput = errors.New("its input is closed")

// inputWait is how long Write waits for the program to read.
const inputWait = 5 * time.Second

// Write writes to the program's input. The error is [os.ErrDeadlineExceeded] if the program
// does not read; n is how many bytes it took.
func (j *Job) Write(p []byte) (n int, err error) {
	j.mu.Lock()
	input := j.input
	j.mu.Unlock()
	if input == nil {
		return 0, ErrNoInput
	}
	if err := input.SetWriteDeadline(time.Now().Add(inputWait)); err != nil {
		return 0, err
	}
	return input.Write(p)
}

// Typing reports whether the last written line is incomplete, as the writer has noted with
// SetTyping.
func (j *Job) Typing() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.typing
}

// SetTyping sets the result of Typing.
func (j *Job) SetTyping(typing bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.typing = typing
}

// CloseInput closes the program's input.
func (j *Job) CloseInput() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.input == nil {
		return ErrNoInput
	}
	err := j.input.Close()
	j.input = nil
	return err
}

// Echo says whether the terminal of a job shows typed input.
type Echo uint8

// The values.
const (
	Unseen Echo = iota // not shown, or not known
	Seen               // the terminal shows it
	Edited             // the program reads single keys and shows them itself, as readline does
)
