package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/egress"
	"toolcrib/tools/internal/programs/sandbox/internal/sandboxinit"
)

// platform is the part of an engine that depends on the system.
type platform struct {
	zygotes map[string]*zygote // by key
	temps   map[string]*temp   // of zygotes that ended because they were idle, by owner
	proxy   *egress.Proxy      // nil until the first gate
	tested  map[string]bool    // see zygote.test
	leftOut uintptr            // namespaces that tests leave out
}

// zygote is a process that owns the namespaces and mounts which the programs of a principal
// in a workspace share, and that forks their inits. See package sandboxinit.
type zygote struct {
	engine *Engine
	opt    Options
	key    string // owner, directories and the options of the view
	whose  string // the owner: level, principal and workspace
	view   sandboxinit.View
	home   string // HOME of programs
	temp   *temp
	gate   *gate           // nil unless the network is private
	hidden map[string]bool // sockets that the zygote knows
	free   func()          // unlocks the layers of the view

	protection *protection
	unreported syscall.Errno // why changes are not reported, 0 = they are

	starved   starvation     // of the machine
	abandoned sync.WaitGroup // programs whose start has failed

	// Under engine.mu.
	users  int         // programs that run or are being started
	idle   *time.Timer // ends it; nil while it has users
	ending bool
	ended  chan struct{} // closed when it is cleaned up

	ready  chan struct{} // closed when open has returned
	err    error
	cmd    *exec.Cmd
	gone   chan struct{} // closed when its process has ended
	sendMu sync.Mutex
	socket *os.File
}

func (z *zygote) open(s *tools.SessionInfo) error {
	if err := z.look(s); err != nil {
		return err
	}
	if err := z.launch(); err != nil {
		return err
	}
	return z.test(s)
}

// launch starts the process, which makes the view.
func (z *zygote) launch() error {
	ours, theirs, err := pair()
	if err != nil {
		return err
	}
	z.socket = ours
	their := os.NewFile(uintptr(theirs), "socket")
	defer their.Close()
	if err := unix.SetNonblock(theirs, false); err != nil {
		return err
	}
	for _, ids := range mappings() {
		z.cmd = &exec.Cmd{
			Path: "/proc/self/exe", Args: []string{"toolcrib-sandbox"}, Env: sandboxinit.ZygoteEnv(), Dir: "/",
			ExtraFiles: []*os.File{their}, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
		}
		if z.opt.Level == Full {
			a := z.cmd.SysProcAttr
			a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
			a.Cloneflags &^= z.engine.platform.leftOut
			a.UidMappings, a.GidMappings = ids[0], ids[1]
			a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_RESOURCE}
		}
		if err = z.cmd.Start(); err == nil {
			break
		}
	}
	if err != nil {
		z.cmd = nil
		return &UnavailableError{Level: z.opt.Level, Missing: "a process in namespaces of its own cannot be started" + whyNoNamespaces(), Err: err}
	}
	go func() {
		_ = z.cmd.Wait() // it has reported errors over the socket
		close(z.gone)
	}()
	their.Close() // so that reading fails if the process ends
	if err := z.locked(func(socket int) error { return sandboxinit.SendView(socket, z.view) }); err != nil {
		return fmt.Errorf("send the view to the sandbox: %w", err)
	}
	e, fd, err := (&running{control: z.socket}).next()
	if fd >= 0 {
		var refused error
		if z.gate, refused = z.engine.openGate(z.opt, fd, int(e.A)); refused != nil {
			return fmt.Errorf("the gate of programs to the network: %w", refused)
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		return &UnavailableError{Level: z.opt.Level, Missing: "its zygote ended"}
	case err != nil:
		return err
	case e.Kind != sandboxinit.EvReady:
		return &UnavailableError{Level: z.opt.Level, Missing: e.Text, UserPath: e.A == 1}
	}
	z.unreported = syscall.Errno(e.B)
	for line := range strings.Lines(e.Text) {
		z.opt.Log.Info("the sandbox", "note", strings.TrimSpace(line))
	}
	return nil
}

// mappings returns the user and group mappings of the namespace, to be tried in order: all
// ids of this namespace, which only root may map, then the user alone.
func mappings() [][2][]syscall.SysProcIDMap {
	self := [2][]syscall.SysProcIDMap{
		{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
		{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
	}
	if os.Geteuid() != 0 {
		return [][2][]syscall.SysProcIDMap{self}
	}
	all := [2][]syscall.SysProcIDMap{}
	for i, name := range []string{"/proc/self/uid_map", "/proc/self/gid_map"} {
		f, err := os.Open(name)
		if err != nil {
			return [][2][]syscall.SysProcIDMap{self}
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var inside, outside, size int
			if n, err := fmt.Sscan(lines.Text(), &inside, &outside, &size); n == 3 && err == nil {
				all[i] = append(all[i], syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: size})
			}
		}
		f.Close()
	}
	return [][2][]syscall.SysProcIDMap{all, self}
}

// command asks the zygote to start a program.
func (z *zygote) command(c sandboxinit.Command, control int, streams []int) error {
	err := z.locked(func(socket int) error { return sandboxinit.SendCommand(socket, c, control, streams...) })
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.ENOTCONN) || errors.Is(err, os.ErrClosed) {
		return errZygoteGone
	}
	return err
}

// locked calls f with the socket, one call at a time.
func (z *zygote) locked(f func(socket int) error) error {
	z.sendMu.Lock()
	defer z.sendMu.Unlock()
	conn, err := z.socket.SyscallConn()
	if err != nil {
		return err
	}
	waited := conn.Write(func(socket uintptr) bool {
		err = f(int(socket))
		return err != unix.EAGAIN
	})
	return errors.Join(waited, err)
}

func (z *zygote) close() error {
	var errs []error
	if z.socket != nil {
		errs = append(errs, z.socket.Close())
	}
	if z.cmd != nil {
		<-z.gone
	}
	z.abandoned.Wait()
	z.gate.close()
	z.free()
	return errors.Join(errs...)
}

// network describes which hosts a program reaches.
func (z *zygote) network(p *egress.Pass) string {
	switch {
	case z.opt.Level == None:
		return "on"
	case p == nil:
		return "off"
	}
	return p.Reach()
}

// pair makes a pair of sockets. Ours does not block.
func pair() (*os.File, int, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, -1, err
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, -1, errors.Join(err, unix.Close(fds[0]), unix.Close(fds[1]))
	}
	return os.NewFile(uintptr(fds[0]), "sandbox"), fds[1], nil
}

// sockets returns the Unix sockets in the file system on which programs of the host listen.
// It leaves out sockets in roots, which sandboxed programs may use.
func sockets(roots []sandboxinit.Dir) []string {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil
	}
	defer f.Close()
	var paths []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		_, path, ok := strings.Cut(lines.Text(), " /")
		if path = "/" + path; ok && !within(path, roots) {
			paths = append(paths, path)
		}
	}
	return paths
}

// newSockets are those that the zygote does not know yet.
func (z *zygote) newSockets() []string {
	if z.opt.Level != Full {
		return nil
	}
	z.sendMu.Lock()
	defer z.sendMu.Unlock()
	var list []string
	for _, path := range sockets(z.view.Roots) {
		if !z.hidden[path] {
			list = append(list, path)
			z.hidden[path] = true
		}
	}
	return list
}
