// Package observer hears of each system call with which a program is about to change a file,
// tells the recorder, and lets the call go on.
//
// It refuses nothing. The kernel reads the path of a call again after the report, so that a
// program can change it meanwhile: that hides a change from undo and gives no access, since
// the observer opens paths beneath the program's own root directory without reading files,
// and the recorder opens beneath the roots of the workspace.
//
// Start at [Start]. The package knows the calls that package sandboxinit reports; only Linux
// has them.
package observer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"toolcrib/workspace/recorder"
)

// Observer hears of the system calls of one program and of everything that it starts.
type Observer struct {
	listener *os.File
	recorder *recorder.Recorder
	stop     [2]int // a pipe: closing the end for writing ends the observer

	root  int // the root directory of the program, -1 = not open yet
	large sync.WaitGroup

	mu         sync.Mutex
	unanswered map[uint64]bool          // reports that are left to the rest of the recorder
	running    map[uint64]time.Duration // of answered reports whose threads run: what they had had of a CPU at the first look

	report report
	text   [4096]byte // of a path, none of which is longer
}

// A report and its answer, as the kernel has them: struct seccomp_notif and
// struct seccomp_notif_resp.
type report struct {
	id         uint64
	pid, flags uint32
	number     int32
	arch       uint32
	pointer    uint64
	args       [6]uint64
}

type answer struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// The ioctls of a listener.
const (
	ioctlReceive  = 0xc0502100
	ioctlAnswer   = 0xc0182101
	ioctlAlive    = 0x40082102
	ioctlSetFlags = 0x40082104

	goOn     = 1 // the call goes on
	syncWake = 1 // the two sides share a CPU (Linux 6.6)
)

// Start starts an observer with the listener fd, which it closes.
func Start(fd int, rec *recorder.Recorder) (*Observer, error) {
	o := &Observer{
		listener: os.NewFile(uintptr(fd), "listener"), recorder: rec, root: -1,
		unanswered: map[uint64]bool{}, running: map[uint64]time.Duration{},
	}
	if err := unix.Pipe2(o.stop[:], unix.O_CLOEXEC); err != nil {
		return nil, errors.Join(err, o.listener.Close())
	}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlSetFlags, syncWake) // only faster
	rec.UnderWay = o.underWay
	go o.run(fd)
	return o, nil
}

// Close ends the observer, which may be nil. The program must have ended.
func (o *Observer) Close() {
	if o != nil {
		_ = unix.Close(o.stop[1]) // nothing was written to it
	}
}

func (o *Observer) run(fd int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer func() {
		o.large.Wait()
		_ = unix.Close(o.stop[0])
		if o.root >= 0 {
			_ = unix.Close(o.root)
		}
		_ = o.listener.Close()
	}()
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(o.stop[0]), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(poll, -1); err != nil && err != unix.EINTR {
			return
		}
		if poll[0].Revents&unix.POLLIN != 0 {
			o.report = report{} // as the kernel demands
			if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlReceive, uintptr(unsafe.Pointer(&o.report))); errno != 0 {
				continue // the process was killed meanwhile, or a signal came
			}
			o.handle(fd, &o.report)
			continue
		}
		if poll[0].Revents != 0 || poll[1].Revents != 0 {
			return
		}
	}
}

// handle tells the recorder of a report, and answers it.
func (o *Observer) handle(fd int, r *report) {
	defer o.mend(fd, r.id)
	o.recorder.Hear(recorder.Call{Thread: r.pid, ID: r.id, Number: r.number})
	defer o.recorder.Heard()
	id := r.id
	var rests []func()
	for _, e := range o.effects(r) {
		if !o.alive(fd, r.id) {
			return // what was read may be another process's
		}
		switch {
		case e.exchange:
			o.recorder.Exchange(e.path, e.to)
			continue
		case e.to != "":
			o.recorder.Move(e.path, e.to)
			continue
		}
		if rest := o.recorder.Before(e.path, e.goes); rest != nil {
			rests = append(rests, rest)
		}
	}
	if rests == nil {
		o.reply(fd, r.id)
		return
	}
	o.leave(id, true)
	o.large.Go(func() {
		defer o.leave(id, false)
		defer o.mend(fd, id)
		defer o.reply(fd, id)
		for _, rest := range rests {
			rest()
		}
	})
}

// mend lets a call go on whose report could not be handled for an error of this program.
func (o *Observer) mend(fd int, id uint64) {
	if value := recover(); value != nil {
		o.recorder.Missed(fmt.Sprint(value))
		o.reply(fd, id)
	}
}

func (o *Observer) reply(fd int, id uint64) {
	a := answer{id: id, flags: goOn}
	_ = insist(fd, ioctlAnswer, unsafe.Pointer(&a)) // fails if the process was killed
}

// leave notes whether a report is left unanswered.
func (o *Observer) leave(id uint64, unanswered bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if unanswered {
		o.unanswered[id] = true
	} else {
		delete(o.unanswered, id)
	}
}

// carriedOut is how much of a CPU a thread has had since a call was answered if that is over.
const carriedOut = 5 * time.Millisecond

// mostRunning is of how many calls the observer knows that.
const mostRunning = 256

// underWay reports whether a call may not have had its effect yet: it has no answer, or its thread
// is in it, or on the way to it. A thread that waits for the answer to another report is past it.
func (o *Observer) underWay(c recorder.Call) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.unanswered[c.ID] {
		return true
	}
	text := threadFile(c.Thread, "syscall") // "running", or the number and the arguments; "" = it has ended
	number, _, _ := strings.Cut(text, " ")
	switch number {
	case "running":
		had := cpuTime(c.Thread)
		before, known := o.running[c.ID]
		if !known {
			if len(o.running) > mostRunning { // of calls at which nobody looks any more
				clear(o.running)
			}
			o.running[c.ID] = had
		}
		if !known || had-before < carriedOut {
			return true
		}
	case strconv.Itoa(int(c.Number)):
		if !strings.HasPrefix(threadFile(c.Thread, "wchan"), "seccomp") {
			return true
		}
	}
	delete(o.running, c.ID)
	return false
}

// threadFile returns the text of a file of /proc about a thread, "" if there is none.
func threadFile(thread uint32, name string) string {
	text, err := os.ReadFile(procPath(thread, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// cpuTime is how much of a CPU a thread has had.
func cpuTime(thread uint32) time.Duration {
	had, _, _ := strings.Cut(threadFile(thread, "schedstat"), " ")
	n, _ := strconv.ParseInt(had, 10, 64)
	return time.Duration(n)
}

func (o *Observer) alive(fd int, id uint64) bool {
	return insist(fd, ioctlAlive, unsafe.Pointer(&id)) == 0
}

// insist calls an ioctl again if a signal came while the kernel waited for its lock. Without an
// answer a program would wait for ever.
func insist(fd int, request uintptr, argument unsafe.Pointer) unix.Errno {
	for {
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(argument)); errno != unix.EINTR {
			return errno
		}
	}
}

// effect is what a system call is about to do to a path.
type effect struct {
	path string // on the host, without links; "" = it could not be read
	to   string // it moves there
	goes bool   // its entry loses its name

	exchange bool // what is at to moves to path
}

// effects returns what a reported call is about to do.
func (o *Observer) effects(r *report) []effect {
	a := r.args
	const cwd = unix.AT_FDCWD & (1<<64 - 1)
	switch number := r.number; number {
	case unix.SYS_OPENAT:
		return o.opened(r, a[0], a[1], a[2])
	case unix.SYS_OPENAT2:
		flags := o.words(r.pid, a[2])
		if flags&(unix.O_WRONLY|unix.O_RDWR|unix.O_TRUNC|unix.O_CREAT) == 0 {
			return nil
		}
		return o.opened(r, a[0], a[1], flags)
	case unix.SYS_TRUNCATE:
		return o.changed(r, cwd, a[0])
	case unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2:
		return o.changed(r, a[0], a[1])
	case unix.SYS_FCHMOD:
		return o.descriptor(r, a[0])
	case unix.SYS_UNLINKAT:
		return o.entry(r, a[0], a[1], true)
	case unix.SYS_MKDIRAT, unix.SYS_MKNODAT:
		return o.entry(r, a[0], a[1], false)
	case unix.SYS_SYMLINKAT:
		return o.entry(r, a[1], a[2], false)
	case unix.SYS_LINKAT:
		return append(o.entry(r, a[0], a[1], true), o.entry(r, a[2], a[3], false)...) // a change of one changes both
	case unix.SYS_RENAMEAT2:
		return o.renamed(r, a[0], a[1], a[2], a[3], a[4])
	case sysRenameat:
		return o.renamed(r, a[0], a[1], a[2], a[3], 0)
	default:
		return o.older(r, number, cwd)
	}
}

// opened is an open that writes, or creates.
func (o *Observer) opened(r *report, dir, name, flags uint64) []effect {
	const unnamed = unix.O_TMPFILE &^ unix.O_DIRECTORY
	switch {
	case flags&unnamed != 0:
		return nil
	case flags&unix.O_NOFOLLOW != 0, flags&(unix.O_CREAT|unix.O_EXCL) == unix.O_CREAT|unix.O_EXCL:
		return o.entry(r, dir, name, false)
	}
	return o.changed(r, dir, name)
}

// changed is a change of the file that a path leads to.
func (o *Observer) changed(r *report, dir, name uint64) []effect {
	base, text, ok := o.path(r, dir, name)
	if !ok {
		return nil
	}
	for range mostLinks {
		host, err := o.target(join(base, text))
		if err == nil || err == unix.ENOENT && host != "" {
			return []effect{{path: host}}
		}
		host, ok := o.named(base, text)
		if !ok {
			return nil
		}
		to := o.link(host)
		switch {
		case to == "":
			return []effect{{path: host}}
		case to[0] == '/':
			base = ""
		default:
			base = path.Dir(host)
		}
		text = to // the file that a dangling link names is about to be made
	}
	return nil
}

// mostLinks is how many links the kernel follows.
const mostLinks = 40

// link returns the text of a link, "" if it is none.
func (o *Observer) link(host string) string {
	fd, err := o.open(host, unix.O_NOFOLLOW, 0)
	if err != nil {
		return ""
	}
	defer closeFD(fd)
	n, err := unix.Readlinkat(fd, "", o.text[:])
	if err != nil {
		return ""
	}
	return string(o.text[:n])
}

// entry is a change of an entry itself, be it a link.
func (o *Observer) entry(r *report, dir, name uint64, goes bool) []effect {
	base, text, ok := o.path(r, dir, name)
	if !ok {
		return nil
	}
	host, ok := o.named(base, text)
	if !ok {
		return nil
	}
	return []effect{{path: host, goes: goes}}
}

func (o *Observer) descriptor(r *report, fd uint64) []effect {
	host, err := o.readlink(procPath(r.pid, "fd/"+strconv.Itoa(int(int32(fd)))))
	if err != nil {
		return nil
	}
	return []effect{{path: host}}
}

func (o *Observer) renamed(r *report, fromDir, from, toDir, to, flags uint64) []effect {
	a := o.entry(r, fromDir, from, true)
	b := o.entry(r, toDir, to, true)
	if b == nil {
		return a
	}
	e := effect{to: b[0].path, exchange: flags&unix.RENAME_EXCHANGE != 0}
	if a != nil {
		e.path = a[0].path
	}
	return []effect{e}
}

func procPath(pid uint32, name string) string {
	return "/proc/" + strconv.Itoa(int(pid)) + "/" + name
}

// path reads a path of the process: base is the directory, without links, from which it is
// relative; "" = it is absolute.
func (o *Observer) path(r *report, dir, at uint64) (base, name string, ok bool) {
	name, ok = o.readText(r.pid, at)
	if !ok || name == "" {
		return "", "", false
	}
	if o.root < 0 {
		var err error
		if o.root, err = unix.Open(procPath(r.pid, "root"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
			o.root = -1
			return "", "", false
		}
	}
	if name[0] == '/' {
		return "", o.magic(r.pid, name), true
	}
	link := "cwd"
	if int32(dir) != unix.AT_FDCWD {
		link = "fd/" + strconv.Itoa(int(int32(dir)))
	}
	base, err := o.readlink(procPath(r.pid, link))
	if err != nil {
		return "", "", false
	}
	return base, name, true
}

// join returns a path from base, see path.
func join(base, name string) string {
	if base == "" {
		return name
	}
	return base + "/" + name
}

// magic replaces the beginning of a path that leads to the process itself, such as /dev/fd/1 or
// /proc/self/cwd, by where that leads. Other processes have other numbers in their namespace.
func (o *Observer) magic(pid uint32, name string) string {
	for i, stream := range []string{"/dev/stdin", "/dev/stdout", "/dev/stderr"} {
		if name == stream {
			name = "/proc/self/fd/" + strconv.Itoa(i)
		}
	}
	if rest, ok := strings.CutPrefix(name, "/dev/fd/"); ok {
		name = "/proc/self/fd/" + rest
	}
	rest, ok := strings.CutPrefix(name, "/proc/self/")
	if !ok {
		rest, ok = strings.CutPrefix(name, "/proc/thread-self/")
	}
	if !ok {
		return name
	}
	link, below, _ := strings.Cut(rest, "/")
	if link == "fd" {
		var number string
		number, below, _ = strings.Cut(below, "/")
		link += "/" + number
	}
	host, err := o.readlink(procPath(pid, link))
	if err != nil {
		return name
	}
	if below != "" {
		host += "/" + below
	}
	return host
}

// target returns the path, without links, of what a path leads to. Where the path has no links
// and leads to nothing, it returns that path with ENOENT.
func (o *Observer) target(name string) (host string, err error) {
	fd, err := o.open(name, 0, unix.RESOLVE_NO_SYMLINKS)
	if err != unix.ELOOP {
		closeFD(fd)
		return path.Clean(name), err // asking the system for it takes longer than all the rest
	}
	if fd, err = o.open(name, 0, 0); err != nil {
		return "", err
	}
	defer closeFD(fd)
	return o.readlink("/proc/self/fd/" + strconv.Itoa(fd))
}

// mostAgain is how often the kernel is asked again while it cannot resolve a "..", since
// something is being moved.
const mostAgain = 32

// open opens an absolute path beneath the root directory of the program, without reading.
func (o *Observer) open(name string, flags, resolve uint64) (fd int, err error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | flags, Resolve: unix.RESOLVE_IN_ROOT | resolve}
	for range mostAgain {
		if fd, err = unix.Openat2(o.root, name, &how); err != unix.EAGAIN && err != unix.EINTR {
			break
		}
	}
	return fd, err
}

// readlink returns the text of a link of /proc that leads to a path.
func (o *Observer) readlink(name string) (string, error) {
	n, err := unix.Readlink(name, o.text[:])
	if err == nil && (n == 0 || o.text[0] != '/') {
		err = unix.ENOENT // a pipe, a socket
	}
	if err != nil {
		return "", err
	}
	return string(o.text[:n]), nil
}

// named returns a path from base, see path, without links but for its last component.
func (o *Observer) named(base, name string) (host string, ok bool) {
	for len(name) > 1 && name[len(name)-1] == '/' {
		name = name[:len(name)-1]
	}
	dir, last := path.Split(name)
	switch {
	case last == "", last == ".", last == "..":
		host, err := o.target(join(base, name))
		return host, err == nil
	case dir == "":
		return path.Join(base, last), true
	}
	host, err := o.target(join(base, dir))
	return path.Join(host, last), err == nil
}

// readText reads a text that ends in NUL from the memory of a process.
func (o *Observer) readText(pid uint32, at uint64) (string, bool) {
	const page = 4096
	for n := 0; n < len(o.text); {
		size := min(page-int((at+uint64(n))%page), len(o.text)-n) // a page may be the last of its mapping
		if n == 0 {
			size = min(size, 256)
		}
		got, err := readMemory(pid, at+uint64(n), o.text[n:n+size])
		if err != nil || got <= 0 {
			return "", false
		}
		if i := bytes.IndexByte(o.text[n:n+got], 0); i >= 0 {
			return string(o.text[:n+i]), true
		}
		n += got
	}
	return "", false
}

// words reads the first 64 bits at an address.
func (o *Observer) words(pid uint32, at uint64) uint64 {
	var data [8]byte
	if n, err := readMemory(pid, at, data[:]); err != nil || n != len(data) {
		return 0
	}
	return *(*uint64)(unsafe.Pointer(&data))
}

func readMemory(pid uint32, at uint64, data []byte) (int, error) {
	local := []unix.Iovec{{Base: &data[0], Len: uint64(len(data))}}
	return unix.ProcessVMReadv(int(pid), local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(data)}}, 0)
}

// closeFD closes a descriptor with which was only looked; -1 is none.
func closeFD(fd int) {
	if fd >= 0 {
		_ = unix.Close(fd)
	}
}
