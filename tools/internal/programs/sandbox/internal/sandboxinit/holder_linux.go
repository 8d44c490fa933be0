package sandboxinit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func init() {
	switch os.Getenv(Variable) { // exits have nothing to wait for, as the race detector would
	case "":
	case roleHolder:
		syscall.Exit(runHolder())
	case roleProbe:
		syscall.Exit(runProbe(os.Args))
	default:
		fmt.Fprintf(os.Stderr, "toolcrib: the variable %s is not for users; unset it\n", Variable)
		os.Exit(2)
	}
}

// What Variable can say.
const (
	roleHolder = "holder"
	roleProbe  = "probe"
)

// HolderEnv is the environment of a holder.
func HolderEnv() []string {
	return []string{Variable + "=" + roleHolder, "GOMAXPROCS=2", "GOTRACEBACK=none"}
}

// server is the descriptor of the socket to the server.
const server = 3

func runHolder() int {
	runtime.LockOSThread() // the first thread lasts as long as the process
	if !ofParent(server) {
		fmt.Fprintf(os.Stderr, "toolcrib: the variable %s is not for users; unset it\n", Variable)
		return 2
	}
	unix.CloseOnExec(server)
	h := &holder{inits: map[int]bool{}}
	if err := h.hold(); err != nil {
		e := Event{Kind: EvError, Text: err.Error()}
		if _, ok := errors.AsType[placeError](err); ok {
			e.A = 1
		}
		_ = sendEvent(server, e) // nobody else could be told
		return 1
	}
	return 0
}

// ofParent tells whether a descriptor is a socket that the parent of this process made,
// which the same user runs.
func ofParent(fd int) bool {
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kind != unix.SOCK_SEQPACKET {
		return false
	}
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	return err == nil && int(peer.Uid) == os.Getuid() && int(peer.Pid) == os.Getppid()
}

// holder keeps what the programs of a view share.
type holder struct {
	view   View
	tree   *tree // nil where there is no mount namespace
	exe    int   // the binary
	null   int
	rules  int
	filter unix.SockFprog
	inits  map[int]bool        // that run
	caps   [2]unix.CapUserData // that programs keep: none
}

func (h *holder) hold() error {
	if err := h.open(); err != nil {
		return err
	}
	notes, err := h.make()
	if err != nil {
		return err
	}
	return h.keep(notes)
}

// open learns from the server what to hold.
func (h *holder) open() error {
	var err error
	if h.exe, err = unix.Open("/proc/self/exe", unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open the binary: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	var kind [1]byte
	_, fds, err := receive(server, kind[:])
	if err != nil || kind[0] != msgView || len(fds) != 1 {
		return errors.New("the server has not said what to hold")
	}
	return readFile(fds[0], &h.view)
}

// keep starts programs in what was made, until the server is gone.
func (h *holder) keep(notes []string) error {
	var err error
	if h.null, err = unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return err
	}
	if err := h.ready(notes); err != nil {
		return err
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	go reapAll(ended)
	return h.serve()
}

// ready tells the server that programs can start, and gives it the gate of their network.
func (h *holder) ready(notes []string) error {
	e := Event{Kind: EvReady, Text: strings.Join(notes, "\n")}
	if h.view.Level != Full {
		return sendEvent(server, e)
	}
	fd, port, err := makeGate()
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	e.A = uint32(port)
	return sendEvent(server, e, fd)
}

// make makes the view, and returns what it could not hold.
func (h *holder) make() ([]string, error) {
	var notes []string
	switch h.view.Level {
	case Full:
		var err error
		if h.tree, err = makeTree(h.view); err != nil {
			return nil, err
		}
		notes = h.tree.notes
		if err := loopback(); err != nil {
			return nil, err
		}
	default:
		// What an init was killed above comes to the holder.
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return nil, err
		}
	}
	if h.view.Level == None {
		return notes, nil
	}
	var err error
	if h.rules, err = ruleset(h.grants(), h.view.Level == Full); err != nil {
		return nil, err
	}
	f := filter(h.view.Level == Full, LandlockVersion() >= resolvesUnix)
	h.filter = unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	return notes, nil
}

func (h *holder) grants() []grant {
	all := grantsOf(h.view)
	if h.view.Level == Landlock { // the self-test runs the binary, wherever it lies
		all = append(all, grant{fd: h.exe, rights: unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE})
	}
	return all
}

// serve starts programs until the server is gone. Where there is no PID namespace, the
// inits end what they have started meanwhile, and the holder with them.
func (h *holder) serve() error {
	for {
		var kind [1]byte
		_, fds, err := receive(server, kind[:])
		if err != nil {
			if h.view.Level != Full {
				waitForAll()
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if kind[0] != msgCommand || len(fds) < 2 {
			return errors.New("the server says what a holder does not know")
		}
		if err := h.start(fds); err != nil {
			e := Event{Kind: EvError, Text: err.Error()}
			if errors.Is(err, errNoProgram) {
				e = Event{Kind: EvFailed, A: StageExec, B: uint32(unix.ENOENT)}
			}
			_ = sendEvent(fds[1], e) // who has given it up meanwhile does not wait for it
		}
		for _, fd := range fds[1:] {
			unix.Close(fd)
		}
	}
}

// reapAll takes the inits that have ended, and without a PID namespace what has lost its
// init, which is killed.
func reapAll(ended <-chan os.Signal) {
	for range ended {
		for {
			id, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if id <= 0 || err != nil {
				break
			}
		}
	}
}

func waitForAll() {
	for {
		if _, err := unix.Wait4(-1, nil, 0, nil); err != nil && err != unix.EINTR {
			return
		}
	}
}

// loopback switches the one interface of the private network on.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("the private network: %w", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("the private network: %w", err)
	}
	return nil
}
