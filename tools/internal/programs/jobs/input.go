package jobs

import (
	"errors"
	"time"
)

// ErrNoInput says that nothing reads what would be written.
var ErrNoInput = errors.New("its input is closed")

// inputWait is how long a program may leave what is written to it unread.
const inputWait = 5 * time.Second

// Write gives it input. An error that is [os.ErrDeadlineExceeded] says that it does not
// read; n is how much it took.
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

// Typing reports whether a part of a line was written that is not complete. SetTyping
// notes that; who writes knows it.
func (j *Job) Typing() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.typing
}

// SetTyping notes what Typing reports.
func (j *Job) SetTyping(typing bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.typing = typing
}

// CloseInput ends its input.
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
