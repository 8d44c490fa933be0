package code

import "io"

// NewCapture lets tests see what is kept of a program's output.
func NewCapture(mark string) (w io.Writer, since func(from int64, most int) ([]byte, int64), text func() (string, []byte)) {
	c := newCapture(mark)
	return c, c.since, func() (string, []byte) {
		output, report := c.text()
		return output.text, report
	}
}
