package sandboxinit

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// send sends one message with descriptors.
func send(socket int, data []byte, fds ...int) error {
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	for {
		err := unix.Sendmsg(socket, data, rights, nil, unix.MSG_NOSIGNAL)
		if err != unix.EINTR {
			return err
		}
	}
}

// maxFDs is how many descriptors a message may have.
const maxFDs = 8

// receive reads one message and its descriptors.
func receive(socket int, data []byte) (int, []int, error) {
	rights := make([]byte, unix.CmsgSpace(maxFDs*4))
	var n, rn int
	var err error
	for {
		n, rn, _, _, err = unix.Recvmsg(socket, data, rights, unix.MSG_CMSG_CLOEXEC)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return 0, nil, err
	}
	var fds []int
	messages, err := unix.ParseSocketControlMessage(rights[:rn])
	if err != nil {
		return 0, nil, err
	}
	for _, m := range messages {
		got, err := unix.ParseUnixRights(&m)
		if err != nil {
			continue // nothing else is ever sent
		}
		fds = append(fds, got...)
	}
	if n == 0 {
		for _, fd := range fds {
			unix.Close(fd)
		}
		return 0, nil, io.EOF
	}
	return n, fds, nil
}

// SendView sends the view to a new zygote.
func SendView(socket int, v View) error { return sendFile(socket, msgView, v) }

// SendCommand asks a zygote to run a program. init is the socket of its init; streams are
// those of the command, in order. The caller closes them.
func SendCommand(socket int, c Command, init int, streams ...int) error {
	return sendFile(socket, msgCommand, c, append([]int{init}, streams...)...)
}

// SendSocket asks a zygote for a socket of its network. answer is the socket on which the event
// with it comes.
func SendSocket(socket, answer int) error { return send(socket, []byte{msgSocket}, answer) }

// giveSocket sends an unconnected TCP socket. It stays in the network of this process, wherever
// it is connected.
func giveSocket(answer int) {
	const kind = unix.SOCK_STREAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK
	fd, err := unix.Socket(unix.AF_INET6, kind, 0)
	if err != nil {
		fd, err = unix.Socket(unix.AF_INET, kind, 0)
	}
	if err != nil {
		_ = sendEvent(answer, Event{Kind: EvError, Text: err.Error()}) // fails if the server does not wait any more
		return
	}
	defer unix.Close(fd)
	_ = sendEvent(answer, Event{Kind: EvSocket}, fd)
}

// sendFile sends a description in a memory file, since it can be larger than a message.
func sendFile(socket int, kind byte, v any, fds ...int) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	fd, err := unix.MemfdCreate("toolcrib", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "description")
	defer f.Close()
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	return send(socket, []byte{kind}, append([]int{fd}, fds...)...)
}

func readFile(fd int, v any) error {
	f := os.NewFile(uintptr(fd), "description")
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	data := make([]byte, info.Size())
	if _, err := f.ReadAt(data, 0); err != nil && err != io.EOF {
		return err
	}
	return json.Unmarshal(data, v)
}

// makeGate makes a socket that listens on the loopback device of the private network. The
// server serves it: a socket stays in the network namespace in which it was made.
func makeGate() (fd, port int, err error) {
	if fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0); err != nil {
		return -1, 0, fmt.Errorf("the way to the network: %w", err)
	}
	err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	if err == nil {
		err = unix.Listen(fd, 128)
	}
	var at unix.Sockaddr
	if err == nil {
		at, err = unix.Getsockname(fd)
	}
	if err != nil {
		unix.Close(fd)
		return -1, 0, fmt.Errorf("the way to the network: %w", err)
	}
	return fd, at.(*unix.SockaddrInet4).Port, nil
}

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

// Receive reads one event and its descriptor, -1 = none, from a socket. The error is io.EOF
// if the other side is gone. The caller closes the descriptor.
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
