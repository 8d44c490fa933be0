package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"toolcrib/tools/internal/programs/sandbox"
)

// Forward is a port of the private network of a job that is open on the loopback device of the
// machine as long as the job runs.
type Forward struct {
	Inside, Outside int // the port of the job, and that of 127.0.0.1
	listener        net.Listener
}

// Address returns the host and port on the machine.
func (f Forward) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(f.Outside)) }

// mostForwarded is how many connections to one port are forwarded at a time.
const mostForwarded = 128

// ErrNotPrivate says that a program has the network of the machine, so that nothing need be
// forwarded, or no network at all.
var ErrNotPrivate = errors.New("the sandbox gives programs no network of their own")

// forward opens ports of a process on 127.0.0.1: each with its number if that is free, else
// with another one.
func (j *Job) forward(process *sandbox.Process, ports []int) error {
	if len(ports) > 0 && !process.Private() {
		return ErrNotPrivate
	}
	for _, port := range ports {
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			l, err = net.Listen("tcp4", "127.0.0.1:0")
		}
		if err != nil {
			j.unforward()
			return fmt.Errorf("open port %d on 127.0.0.1: %w", port, err)
		}
		f := Forward{Inside: port, Outside: l.Addr().(*net.TCPAddr).Port, listener: l}
		j.mu.Lock()
		j.opened = append(j.opened, f)
		j.mu.Unlock()
		go f.serve(process)
	}
	return nil
}

// Forwards returns the ports of the job that are open on the machine.
func (j *Job) Forwards() []Forward {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.opened
}

// unforward closes the ports.
func (j *Job) unforward() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, f := range j.opened {
		_ = f.listener.Close() // it holds nothing that could be lost
	}
	j.opened = nil
}

// Listens returns the ports of its private network at which the job listens.
func (j *Job) Listens() []int {
	if p, ok := j.reach().(*sandbox.Process); ok && !j.isDone() {
		return p.Ports()
	}
	return nil
}

// Opened reports whether a running job of a principal has opened a port of 127.0.0.1.
func (m *Manager) Opened(principal string, port int) bool {
	for _, j := range m.List(principal) {
		for _, f := range j.Forwards() {
			if f.Outside == port {
				return true
			}
		}
	}
	return false
}

// serve forwards connections until the listener is closed or the process has ended.
func (f Forward) serve(process *sandbox.Process) {
	slots := make(chan struct{}, mostForwarded)
	for {
		conn, err := f.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // a lack of descriptors or memory, which passes
			time.Sleep(10 * time.Millisecond)
			continue
		}
		select {
		case slots <- struct{}{}:
			go func() {
				defer func() { <-slots }()
				f.connect(conn, process)
			}()
		default:
			_ = conn.Close() // too many
		}
	}
}

// connect forwards one connection.
func (f Forward) connect(outer net.Conn, process *sandbox.Process) {
	defer outer.Close()
	inner, err := process.Dial(context.Background(), f.Inside)
	if err != nil {
		return // the client sees a closed connection, as of a server that has ended
	}
	defer inner.Close()
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-process.Done():
			_ = outer.SetDeadline(time.Unix(1, 0))
			_ = inner.SetDeadline(time.Unix(1, 0))
		case <-over:
		}
	}()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{outer, inner}, {inner, outer}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			if to, ok := way[0].(interface{ CloseWrite() error }); ok {
				_ = to.CloseWrite()
			}
		})
	}
	both.Wait()
}
