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

// platform is what an engine has of the system: the holders by what they hold.
type platform struct {
	holders map[string]*holder
	temps   map[string]*temp // of holders that had nothing to do any more, by whose they are
	proxy   *egress.Proxy    // nil until the first gate
	tested  map[string]bool  // see holder.test
	leftOut uintptr          // namespaces that tests do without
}

// holder is the process that keeps what the programs of a principal in a workspace
// share, see package sandboxinit.
type holder struct {
	engine *Engine
	opt    Options
	key    string // whose it is, and with which settings it was made
	whose  string // level, principal and workspace
	view   sandboxinit.View
	home   string // where programs have it
	temp   *temp
	gate   *gate           // nil where the network is that of the machine, or none
	hidden map[string]bool // the sockets that the holder knows
	free   func()          // gives up what the view holds

	protection *protection

	starved starvation // of the machine

	// Under engine.mu.
	users  int         // programs that run or are to be started
	idle   *time.Timer // until the end for want of users; nil = it has some
	ending bool
	ended  chan struct{} // closed when nothing of it is left

	ready  chan struct{} // closed once it is known whether it works
	err    error
	cmd    *exec.Cmd
	gone   chan struct{} // closed when its process has ended
	sendMu sync.Mutex
	socket *os.File
}

func (h *holder) open(s *tools.SessionInfo) error {
	if err := h.look(s); err != nil {
		return err
	}
	if err := h.launch(); err != nil {
		return err
	}
	return h.test(s)
}

// launch starts the process and has it make the view.
func (h *holder) launch() error {
	ours, theirs, err := pair()
	if err != nil {
		return err
	}
	h.socket = ours
	their := os.NewFile(uintptr(theirs), "socket")
	defer their.Close()
	if err := unix.SetNonblock(theirs, false); err != nil {
		return err
	}
	for _, ids := range mappings() {
		h.cmd = &exec.Cmd{
			Path: "/proc/self/exe", Args: []string{"toolcrib-sandbox"}, Env: sandboxinit.HolderEnv(), Dir: "/",
			ExtraFiles: []*os.File{their}, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
		}
		if h.opt.Level == Full {
			a := h.cmd.SysProcAttr
			a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
			a.Cloneflags &^= h.engine.platform.leftOut
			a.UidMappings, a.GidMappings = ids[0], ids[1]
			a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_RESOURCE}
		}
		if err = h.cmd.Start(); err == nil {
			break
		}
	}
	if err != nil {
		h.cmd = nil
		return &UnavailableError{Level: h.opt.Level, Missing: "a process in namespaces of its own cannot be started" + whyNoNamespaces(), Err: err}
	}
	go func() {
		_ = h.cmd.Wait() // what it has to say came before
		close(h.gone)
	}()
	their.Close() // so that its end shows
	if err := h.locked(func(socket int) error { return sandboxinit.SendView(socket, h.view) }); err != nil {
		return fmt.Errorf("tell the sandbox what to hold: %w", err)
	}
	e, fd, err := (&running{control: h.socket}).next()
	if fd >= 0 {
		var refused error
		if h.gate, refused = h.engine.openGate(h.opt, fd, int(e.A)); refused != nil {
			return fmt.Errorf("the way of programs to the network: %w", refused)
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		return &UnavailableError{Level: h.opt.Level, Missing: "the process that is to hold it ended"}
	case err != nil:
		return err
	case e.Kind != sandboxinit.EvReady:
		return &UnavailableError{Level: h.opt.Level, Missing: e.Text, Place: e.A == 1}
	}
	for line := range strings.Lines(e.Text) {
		h.opt.Log.Info("the sandbox", "note", strings.TrimSpace(line))
	}
	return nil
}

// mappings are the users and groups that the namespace has: all that this one has, which
// only a superuser may give, and else the user alone.
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

// command asks for a program.
func (h *holder) command(c sandboxinit.Command, control int, streams []int) error {
	err := h.locked(func(socket int) error { return sandboxinit.SendCommand(socket, c, control, streams...) })
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.ENOTCONN) || errors.Is(err, os.ErrClosed) {
		return errHolderGone
	}
	return err
}

// locked calls f with the socket, one call at a time.
func (h *holder) locked(f func(socket int) error) error {
	h.sendMu.Lock()
	defer h.sendMu.Unlock()
	conn, err := h.socket.SyscallConn()
	if err != nil {
		return err
	}
	waited := conn.Write(func(socket uintptr) bool {
		err = f(int(socket))
		return err != unix.EAGAIN
	})
	return errors.Join(waited, err)
}

func (h *holder) close() error {
	var errs []error
	if h.socket != nil {
		errs = append(errs, h.socket.Close())
	}
	if h.cmd != nil {
		<-h.gone
	}
	h.gate.close()
	h.free()
	return errors.Join(errs...)
}

// network words how far a program reaches.
func (h *holder) network(p *egress.Pass) string {
	switch {
	case h.opt.Level == None:
		return "on"
	case p == nil:
		return "off"
	}
	return p.Reach()
}

// pair makes a pair of sockets: ours, which does not block, and theirs.
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

// sockets are those of the file system on which programs of the host listen and which do
// not lie in a root: what listens there is for the programs of the root to use.
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

// newSockets are those that the holder does not know yet.
func (h *holder) newSockets() []string {
	if h.opt.Level != Full {
		return nil
	}
	h.sendMu.Lock()
	defer h.sendMu.Unlock()
	var list []string
	for _, path := range sockets(h.view.Roots) {
		if !h.hidden[path] {
			list = append(list, path)
			h.hidden[path] = true
		}
	}
	return list
}
