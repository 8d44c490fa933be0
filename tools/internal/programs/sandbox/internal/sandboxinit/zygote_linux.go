package sandboxinit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

func init() {
	switch os.Getenv(Variable) { // syscall.Exit: os.Exit would wait for the race detector
	case "":
	case roleZygote:
		syscall.Exit(runZygote())
	case roleProbe:
		syscall.Exit(runProbe(os.Args))
	default:
		fmt.Fprintf(os.Stderr, "toolcrib: the variable %s is not for users; unset it\n", Variable)
		os.Exit(2)
	}
}

// Values of Variable.
const (
	roleZygote = "zygote"
	roleProbe  = "probe"
)

// ZygoteEnv returns the environment of a zygote.
func ZygoteEnv() []string {
	return []string{Variable + "=" + roleZygote, "GOMAXPROCS=2", "GOTRACEBACK=none"}
}

// server is the descriptor of the socket to the server.
const server = 3

func runZygote() int {
	runtime.LockOSThread() // the first thread lasts as long as the process
	if !ofParent(server) {
		fmt.Fprintf(os.Stderr, "toolcrib: the variable %s is not for users; unset it\n", Variable)
		return 2
	}
	unix.CloseOnExec(server)
	z := &zygote{}
	if err := z.run(); err != nil {
		e := Event{Kind: EvError, Text: err.Error()}
		if _, ok := errors.AsType[userPathError](err); ok {
			e.A = 1
		}
		_ = sendEvent(server, e) // nobody else could be told
		return 1
	}
	return 0
}

// ofParent reports whether a descriptor is a socket that the parent of this process made, as
// the same user.
func ofParent(fd int) bool {
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kind != unix.SOCK_SEQPACKET {
		return false
	}
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	return err == nil && int(peer.Uid) == os.Getuid() && int(peer.Pid) == os.Getppid()
}

// zygote keeps the namespaces and mounts that the programs of a view share.
type zygote struct {
	view   View
	tree   *tree // nil = there is no mount namespace
	exe    int   // this binary
	null   int
	rules  int
	filter unix.SockFprog
	caps   [2]unix.CapUserData // of programs: none

	ending    [2]int // a pipe: it holds a byte when the server is gone; an init that was just forked has both ends too
	reporting sync.WaitGroup
}

func (z *zygote) run() error {
	if err := z.open(); err != nil {
		return err
	}
	notes, err := z.make()
	if err != nil {
		return err
	}
	return z.keep(notes)
}

// open receives the view from the server.
func (z *zygote) open() error {
	var err error
	if z.exe, err = unix.Open("/proc/self/exe", unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open the binary: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	var kind [1]byte
	_, fds, err := receive(server, kind[:])
	if err != nil || kind[0] != msgView || len(fds) != 1 {
		return errors.New("the server has not sent the view")
	}
	return readFile(fds[0], &z.view)
}

// keep starts programs in the view until the server is gone.
func (z *zygote) keep(notes []string) error {
	var err error
	if z.null, err = unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return err
	}
	if err := unix.Pipe2(z.ending[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	if err := z.ready(notes); err != nil {
		return err
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	go reapAll(ended)
	return z.serve()
}

// ready tells the server that programs can start, and gives it the gate of their network.
func (z *zygote) ready(notes []string) error {
	e := Event{Kind: EvReady, Text: strings.Join(notes, "\n"), B: uint32(canReport())}
	if z.view.Level != Full {
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

// make makes the view. It returns notes about paths that it could not mount.
func (z *zygote) make() ([]string, error) {
	var notes []string
	switch z.view.Level {
	case Full:
		var err error
		if z.tree, err = makeTree(z.view); err != nil {
			return nil, err
		}
		notes = z.tree.notes
		if err := loopback(); err != nil {
			return nil, err
		}
	default:
		// The zygote becomes the parent of processes whose init was killed.
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return nil, err
		}
	}
	if z.view.Level == None {
		return notes, nil
	}
	var err error
	if z.rules, err = ruleset(z.grants(false), z.view.Level == Full); err != nil {
		return nil, err
	}
	f := filter(z.view.Level == Full, LandlockVersion() >= resolvesUnix)
	z.filter = unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	return notes, nil
}

func (z *zygote) grants(readOnly bool) []grant {
	all := grantsOf(z.view, readOnly)
	if z.view.Level == Landlock { // the self-test runs the binary, wherever it lies
		all = append(all, grant{fd: z.exe, rights: unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE})
	}
	return all
}

// serve starts programs until the server is gone. Without a PID namespace it then waits until
// the inits have ended everything that they started.
func (z *zygote) serve() error {
	for {
		var kind [1]byte
		_, fds, err := receive(server, kind[:])
		if err != nil {
			_, _ = unix.Write(z.ending[1], []byte{0}) // the pipe is empty
			z.reporting.Wait()
			if z.view.Level != Full {
				waitForAll()
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		switch {
		case kind[0] == msgSocket && len(fds) == 1:
			giveSocket(fds[0])
		case kind[0] == msgCommand && len(fds) >= 2:
			if err := z.start(fds); err != nil {
				e := Event{Kind: EvError, Text: err.Error()}
				if errors.Is(err, errNoProgram) {
					e = Event{Kind: EvFailed, A: StageExec, B: uint32(unix.ENOENT)}
				}
				_ = sendEvent(fds[1], e) // fails if the server does not wait any more
			}
			fds = fds[1:] // the description is closed
		default:
			return errors.New("the server sent an unknown message")
		}
		for _, fd := range fds {
			unix.Close(fd)
		}
	}
}

// reapAll reaps inits that have ended and, without a PID namespace, processes whose init was
// killed.
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

// loopback switches on the only interface of the private network.
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
