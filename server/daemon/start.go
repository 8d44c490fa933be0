package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// Program is how a daemon is started.
type Program struct {
	Args []string // of this binary, without the name
	Env  []string
}

// StartError is why a daemon did not open, as a command would tell it.
type StartError struct {
	Msg   string `json:"msg"`
	Hint  string `json:"hint,omitempty"`
	Usage bool   `json:"usage,omitempty"` // the settings are wrong
}

func (e *StartError) Error() string { return e.Msg }

// Descriptors of a daemon that starts.
const (
	readyFD = 3 // where it says that it listens, or a StartError
	lockFD  = 4 // the lock of its key, held for it
)

// start starts a daemon and waits until it listens.
func (p *Dir) start(ctx context.Context, key string, l *lock, program Program) error {
	ready, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	log, err := os.OpenFile(p.file(key, logFile), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return errors.Join(err, theirs.Close())
	}
	defer log.Close()
	err = launch(program, log, theirs, l.f, false)
	_ = theirs.Close() // the daemon has its own
	if err != nil {
		return fmt.Errorf("the server in the background cannot be started: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = ready.SetReadDeadline(time.Unix(1, 0)) })()
	line, err := readLine(ready, mostSaid)
	if err != nil {
		return fmt.Errorf("the server in the background did not start; %s tells more", log.Name())
	}
	var said StartError
	if err := json.Unmarshal(line, &said); err != nil {
		return err
	}
	if said.Msg != "" {
		return &said
	}
	return nil
}

// launch starts this binary again, and where it is not to be a leader, waits for its end:
// it starts the leader of a session then, so that this is no child of who called.
func launch(program Program, log, ready, lock *os.File, leader bool) error {
	file, err := executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(file, program.Args...)
	cmd.Env, cmd.Stderr, cmd.ExtraFiles = program.Env, log, []*os.File{ready, lock}
	if !leader {
		return cmd.Run()
	}
	lead(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// Birth is a daemon that starts, in the process that is to be it.
type Birth struct {
	key   string
	lock  *lock
	ready *os.File
}

// ErrHandedOn says that another process is to be the daemon: this one has nothing more to
// do.
var ErrHandedOn = errors.New("another process is the daemon")

// Born takes over the pipe and lock from the relay. args and env are those of the process.
func Born(key string, program Program) (*Birth, error) {
	ready, held := os.NewFile(readyFD, "ready"), os.NewFile(lockFD, "lock")
	if ready == nil || held == nil || !isPipe(ready) {
		return nil, errors.New("a daemon is started by toolcrib itself, where jobs.detach is configured")
	}
	if !leads() {
		if err := launch(program, os.Stderr, ready, held, true); err != nil {
			return nil, err
		}
		return nil, ErrHandedOn
	}
	keepOwn(ready, held)
	return &Birth{key: key, lock: &lock{held}, ready: ready}, nil
}

func isPipe(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// Key is the key that the relay has asked for.
func (b *Birth) Key() string { return b.key }

// Fail tells the relay why there is no daemon; after Listen it tells nobody.
func (b *Birth) Fail(why StartError) { b.say(why) }

// say ends the birth.
func (b *Birth) say(what StartError) {
	if b.ready == nil {
		return
	}
	line, _ := json.Marshal(what)            // texts can be encoded
	_, _ = b.ready.Write(append(line, '\n')) // the relay may be gone
	_ = b.ready.Close()
	b.lock.unlock()
	b.ready = nil
}

// logPath is the log of the daemon that is born in a place.
func (p *Dir) logPath(key string) string { return filepath.Clean(p.file(key, logFile)) }

// mostLogged is how many bytes a log may have; the first half goes when there are more.
const mostLogged = 1 << 20

// Log is the log of a daemon, of bounded size. It is the process's stderr too, so it also
// gets the runtime's text of a crash.
type Log struct {
	mu sync.Mutex
	f  *os.File
}

// NewLog makes a Log of a file that is open for appending and reading.
func NewLog(f *os.File) *Log { return &Log{f: f} }

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if info, err := l.f.Stat(); err == nil && info.Mode().IsRegular() && info.Size()+int64(len(p)) > mostLogged {
		if err := l.halve(info.Size()); err != nil {
			return 0, err
		}
	}
	return l.f.Write(p)
}

// halve drops the older half, up to the end of a line.
func (l *Log) halve(size int64) error {
	late := make([]byte, min(size, mostLogged/2))
	n, err := l.f.ReadAt(late, size-int64(len(late)))
	if err != nil && err != io.EOF {
		return err
	}
	late = late[:n]
	if i := bytes.IndexByte(late, '\n'); i >= 0 {
		late = late[i+1:]
	}
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	_, err = l.f.Write(late)
	return err
}
