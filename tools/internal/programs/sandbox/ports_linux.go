package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/tools/internal/programs/sandbox/internal/sandboxinit"
)

// dialTime is how long a connection in the private network may take.
const dialTime = 2 * time.Second

// dial connects to a port of the loopback device of the private network, over IPv4 or IPv6. A
// socket of the zygote is in that network, whoever connects it.
func (z *zygote) dial(ctx context.Context, port int) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	var first error
	for _, host := range [][16]byte{{10: 0xff, 0xff, 127, 0, 0, 1}, {15: 1}} {
		conn, err := z.connect(ctx, host, port)
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, fmt.Errorf("port %d in the sandbox: %w", port, first)
}

func (z *zygote) connect(ctx context.Context, host [16]byte, port int) (net.Conn, error) {
	fd, err := z.newSocket(ctx)
	if err != nil {
		return nil, err
	}
	var to unix.Sockaddr = &unix.SockaddrInet6{Addr: host, Port: port}
	if domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN); err == nil && domain == unix.AF_INET {
		to = &unix.SockaddrInet4{Addr: [4]byte(host[12:]), Port: port}
	}
	if err = unix.Connect(fd, to); errors.Is(err, unix.EINPROGRESS) {
		err = connected(fd)
	}
	socket := os.NewFile(uintptr(fd), "port")
	defer socket.Close() // the connection has a copy
	if err != nil {
		return nil, err
	}
	return net.FileConn(socket)
}

// connected waits until a connection is made.
func connected(fd int) error {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, int(dialTime.Milliseconds()))
		if err == nil && n == 0 {
			return unix.ETIMEDOUT
		}
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return err
		}
	}
	errno, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = unix.Errno(errno)
	}
	return err
}

// newSocket returns an unconnected socket of the private network.
func (z *zygote) newSocket(ctx context.Context) (int, error) {
	answer, theirs, err := pair()
	if err != nil {
		return -1, err
	}
	defer answer.Close()
	err = z.locked(func(socket int) error { return sandboxinit.SendSocket(socket, theirs) })
	unix.Close(theirs)
	if err != nil {
		return -1, err
	}
	if end, ok := ctx.Deadline(); ok {
		if err := answer.SetReadDeadline(end); err != nil {
			return -1, err
		}
	}
	e, fd, err := (&running{control: answer}).next()
	switch {
	case err != nil:
		return -1, err
	case e.Kind != sandboxinit.EvSocket || fd < 0:
		return -1, errors.New(e.Text)
	}
	return fd, nil
}

// ports returns the TCP ports at which processes of the program listen.
func (r *running) ports() []int {
	sockets := listening(r.zygote.cmd.Process.Pid)
	if len(sockets) == 0 {
		return nil
	}
	var list []int
	for _, pid := range descendants(r.initPID()) {
		links, err := filepath.Glob("/proc/" + pid + "/fd/*")
		if err != nil {
			continue
		}
		for _, link := range links {
			if to, err := os.Readlink(link); err == nil && sockets[to] != 0 {
				list = append(list, sockets[to])
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// listening returns the ports of the sockets that listen in the network of a process, by
// their names in /proc.
func listening(pid int) map[string]int {
	ports := map[string]int{}
	for _, table := range []string{"tcp", "tcp6"} {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/net/" + table)
		if err != nil {
			continue // without IPv6 there is none
		}
		for line := range bytes.Lines(data) {
			const listens = "0A"
			f := strings.Fields(string(line))
			if len(f) < 10 || f[3] != listens {
				continue
			}
			_, hex, _ := strings.Cut(f[1], ":")
			if n, err := strconv.ParseUint(hex, 16, 16); err == nil {
				ports["socket:["+f[9]+"]"] = int(n)
			}
		}
	}
	return ports
}

// initPID returns the id of the init, "" = it has ended.
func (r *running) initPID() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	data, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(r.pidfd))
	if err != nil {
		return ""
	}
	_, pid, _ := strings.Cut(string(data), "\nPid:")
	pid, _, _ = strings.Cut(strings.TrimSpace(pid), "\n")
	if pid == "-1" {
		return ""
	}
	return pid
}

// descendants returns the processes below a process, as far as they are found.
func descendants(pid string) (list []string) {
	if pid == "" {
		return nil
	}
	threads, err := filepath.Glob("/proc/" + pid + "/task/*/children")
	if err != nil {
		return nil
	}
	for _, name := range threads {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		for child := range strings.FieldsSeq(string(data)) {
			list = append(append(list, child), descendants(child)...)
		}
	}
	return list
}
