package sandboxinit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Targets are things outside that the self-test tries to reach from inside. The server
// makes all of them for it.
type Targets struct {
	Level    string
	File     string // writable by everybody
	Socket   string // in the file system, with a listener
	Abstract string // the name of an abstract socket, likewise
	// Port is of 127.0.0.2, likewise. What listens inside, and a connection that TCP makes
	// from a socket to itself, have 127.0.0.1 and may have the same port.
	Port   int
	Server int // the process
	// Namespaces are the server's, see Namespaces.
	Namespaces string
}

// Namespaces names the namespaces of this process, such as "net:[4026531840]", of the kinds
// that programs at level full share with nobody outside.
func Namespaces() string {
	var list []string
	for _, kind := range []string{"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"} {
		if name, err := os.Readlink("/proc/self/ns/" + kind); err == nil {
			list = append(list, name)
		}
	}
	return strings.Join(list, " ")
}

// Probe returns the command of the self-test. It prints its findings, a line each, or only
// Passed if there are none.
func Probe(t Targets, dir string) Command {
	return Command{
		Args: []string{"toolcrib-probe", t.Level, t.File, t.Socket, t.Abstract, strconv.Itoa(t.Port), strconv.Itoa(t.Server), t.Namespaces},
		Env:  []string{"GOMAXPROCS=1"}, Dir: dir, Streams: [3]bool{false, true, false}, Probe: true,
	}
}

// Passed is the output of a self-test without findings.
const Passed = "passed\n"

// runProbe really tries the forbidden actions. Each check returns nil if its action was
// possible.
func runProbe(args []string) int {
	if len(args) != 8 {
		return 2
	}
	t := Targets{Level: args[1], File: args[2], Socket: args[3], Abstract: args[4], Namespaces: args[7]}
	for i, n := range []*int{&t.Port, &t.Server} {
		var err error
		if *n, err = strconv.Atoi(args[5+i]); err != nil {
			return 2
		}
	}
	full := t.Level == Full
	found := 0
	for _, c := range []struct {
		what string
		skip bool
		try  func() error // nil = it was possible
	}{
		{"write a file outside", false, func() error { return writes(t.File) }},
		{"read a file outside", false, func() error { _, err := os.ReadFile(t.File); return err }},
		{"make a file in /etc", false, func() error { return makes("/etc") }},
		{"make a file in /usr", false, func() error { return makes("/usr") }},
		{"make a file in /var", false, func() error { return makes("/var") }},
		{"write to /proc/sys", false, func() error { return writes("/proc/sys/kernel/core_pattern") }},
		{"connect to the loopback device of the host", false, func() error { return connects(&unix.SockaddrInet4{Port: t.Port, Addr: [4]byte{127, 0, 0, 2}}) }},
		{"connect to an abstract socket", false, func() error { return connects(&unix.SockaddrUnix{Name: "@" + t.Abstract}) }},
		{"connect to a socket of a file", false, func() error { return connects(&unix.SockaddrUnix{Name: t.Socket}) }},
		{"open a socket to the hypervisor", false, func() error { return opens(unix.AF_VSOCK, unix.SOCK_STREAM, 0) }},
		{"receive events of devices", false, func() error { return opens(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT) }},
		{"send to a socket by datagrams", full || LandlockVersion() >= resolvesUnix, func() error { return opens(unix.AF_UNIX, unix.SOCK_DGRAM, 0) }},
		{"signal the server", false, func() error { return signals(t.Server, full) }},
		{"read the environment of the server", false, func() error { return serverEnviron(t.Server) }},
		{"trace a process", false, func() error { return calls(unix.SYS_PTRACE, unix.PTRACE_TRACEME) }},
		{"make a user namespace", false, func() error { return unix.Unshare(unix.CLONE_NEWUSER) }},
		{"mount", false, func() error { return unix.Mount("tmpfs", "/tmp", "tmpfs", 0, "") }},
		{"clone a mount", false, func() error { _, err := unix.OpenTree(unix.AT_FDCWD, "/", unix.OPEN_TREE_CLONE); return err }},
		{"use io_uring", false, func() error { var p [120]byte; return calls(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&p))) }},
		{"use the keyring", false, func() error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true); return err }},
		{"load into the kernel", false, func() error { return calls(unix.SYS_BPF, 0, 0, 0) }},
		{"give a file the rights of its owner", false, raises},
		{"keep a capability", false, capabilities},
		// One mechanism often forbids what another forbids too; each of these checks only
		// one.
		{"make what Landlock forbids to make", false, marks},
		{"see /usr mounted to be written to", !full, func() error { return mountedToWrite("/usr") }},
	} {
		if c.skip {
			continue
		}
		if c.try() == nil {
			found++
			fmt.Printf("a program inside could %s\n", c.what)
		}
	}
	for name := range strings.FieldsSeq(t.Namespaces) {
		if kind, _, _ := strings.Cut(name, ":"); full && shares(kind, name) {
			found++
			fmt.Printf("a program inside could be in the %s namespace of the server\n", kind)
		}
	}
	for what, err := range map[string]error{
		"write to /tmp": makesTemp(), "write to HOME": makesIn(os.Getenv("HOME")),
	} {
		if err != nil {
			found++
			fmt.Printf("a program inside could not %s: %v\n", what, err)
		}
	}
	if found > 0 {
		return 1
	}
	if _, err := io.WriteString(os.Stdout, Passed); err != nil {
		return 1
	}
	return 0
}

func writes(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// makes makes a file and removes it again.
func makes(dir string) error {
	f, err := os.CreateTemp(dir, "toolcrib-probe-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// raises makes a setuid file.
func raises() error {
	f, err := os.CreateTemp("", "toolcrib-probe-")
	if err != nil {
		return err
	}
	err = f.Chmod(0o700 | os.ModeSetuid)
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func makesTemp() error { return makes(os.TempDir()) }

func makesIn(dir string) error {
	if !filepath.IsAbs(dir) {
		return errors.New("it is not set")
	}
	return makes(dir)
}

func connects(to unix.Sockaddr) error {
	family := unix.AF_UNIX
	if _, ok := to.(*unix.SockaddrInet4); ok {
		family = unix.AF_INET
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, to)
}

func opens(family, kind, protocol int) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func calls(number uintptr, args ...uintptr) error {
	var a [3]uintptr
	copy(a[:], args)
	if _, _, errno := unix.RawSyscall(number, a[0], a[1], a[2]); errno != 0 {
		return errno
	}
	return nil
}

// signals tries to signal the server's process. In a PID namespace its number means another
// process or none.
func signals(server int, full bool) error {
	if full && os.Getppid() == 1 {
		return unix.ESRCH
	}
	return unix.Kill(server, 0)
}

func serverEnviron(server int) error {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(server) + "/environ")
	if err == nil && server == os.Getpid() {
		return unix.ESRCH // its own, in a PID namespace
	}
	if err == nil && len(data) == 0 {
		return unix.EACCES
	}
	return err
}

// marks makes an overlay mark in a writable directory. The kernel lets every user make
// these, so that only Landlock can forbid it.
func marks() error {
	path := filepath.Join(os.TempDir(), "toolcrib-probe-mark")
	if err := unix.Mknod(path, unix.S_IFCHR|0o600, 0); err != nil {
		return err
	}
	return os.Remove(path)
}

// shares reports whether this process is in a namespace, or whether that is unknown.
func shares(kind, name string) bool {
	own, err := os.Readlink("/proc/self/ns/" + kind)
	return err != nil || own == name
}

func mountedToWrite(path string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return nil //nolint:nilerr // unknown counts as a finding
	}
	if st.Flags&unix.ST_RDONLY != 0 {
		return unix.EROFS
	}
	return nil
}

func capabilities() error {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil //nolint:nilerr // unknown counts as a finding
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch {
		case name == "CapEff" && strings.Trim(value, "0") != "", name == "CapPrm" && strings.Trim(value, "0") != "":
			return nil
		case name == "NoNewPrivs" && value != "1", name == "Seccomp" && value != "2":
			return nil
		}
	}
	return unix.EPERM
}
