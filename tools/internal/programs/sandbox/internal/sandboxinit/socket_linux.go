package sandboxinit

import (
	"encoding/json"
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

// SendView tells a new holder what it is to make.
func SendView(socket int, v View) error { return sendFile(socket, msgView, v) }

// SendCommand asks a holder to run a program. init is the socket of its init; streams
// are those of the command, in order. All stay the caller's.
func SendCommand(socket int, c Command, init int, streams ...int) error {
	return sendFile(socket, msgCommand, c, append([]int{init}, streams...)...)
}

// sendFile sends a description in a memory file: it can be larger than a message.
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
// server serves it: a socket belongs to the network that it was made in, whoever has it.
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
