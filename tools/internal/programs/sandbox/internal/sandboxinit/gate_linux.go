package sandboxinit

import (
	"fmt"

	"golang.org/x/sys/unix"
)

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
