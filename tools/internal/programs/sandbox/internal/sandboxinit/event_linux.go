package sandboxinit

import (
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"
)

const eventSize = 32

func (e Event) bytes() []byte {
	b := make([]byte, eventSize, eventSize+len(e.Text))
	binary.NativeEndian.PutUint32(b, e.Kind)
	binary.NativeEndian.PutUint32(b[4:], e.A)
	binary.NativeEndian.PutUint32(b[8:], e.B)
	binary.NativeEndian.PutUint64(b[16:], e.Memory)
	binary.NativeEndian.PutUint64(b[24:], e.CPU)
	return append(b, e.Text...)
}

func eventOf(b []byte) (Event, error) {
	if len(b) < eventSize {
		return Event{}, errors.New("a message of the sandbox is cut short")
	}
	return Event{
		Kind: binary.NativeEndian.Uint32(b), A: binary.NativeEndian.Uint32(b[4:]), B: binary.NativeEndian.Uint32(b[8:]),
		Memory: binary.NativeEndian.Uint64(b[16:]), CPU: binary.NativeEndian.Uint64(b[24:]), Text: string(b[eventSize:]),
	}, nil
}

// maxText bounds the text of an event.
const maxText = 8 << 10

// Receive reads one event and the descriptor that came with it, -1 if none did, from a
// socket; io.EOF where the other side is gone. A descriptor is the caller's.
func Receive(socket int) (e Event, fd int, err error) {
	var data [eventSize + maxText]byte
	n, fds, err := receive(socket, data[:])
	if err != nil {
		return Event{}, -1, err
	}
	fd = -1
	for i, got := range fds {
		if i == 0 {
			fd = got
			continue
		}
		unix.Close(got)
	}
	e, err = eventOf(data[:n])
	if err != nil && fd >= 0 {
		unix.Close(fd)
		fd = -1
	}
	return e, fd, err
}

func sendEvent(socket int, e Event, fds ...int) error {
	if len(e.Text) > maxText {
		e.Text = e.Text[:maxText]
	}
	return send(socket, e.bytes(), fds...)
}
