package jobs

import (
	"bufio"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"toolcrib/tools/internal/programs/sandbox"
)

// mostBetween is how many bytes are kept of the output between two commands.
const mostBetween = 16 << 10

// pump reads the output of the shell.
func (sh *shell) pump() {
	defer close(sh.pumped)
	buffer := make([]byte, chunk)
	for {
		n, err := sh.out.Read(buffer)
		sh.take(buffer[:n])
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded) && !sh.over():
			if sh.out.SetReadDeadline(time.Time{}) != nil {
				return
			}
			for n := ready(sh.out, buffer); n > 0; n = ready(sh.out, buffer) {
				sh.take(buffer[:n])
			}
			sh.emptied <- struct{}{}
		default:
			return
		}
	}
}

func (sh *shell) over() bool {
	select {
	case <-sh.process.Done():
		return true
	default:
		return false
	}
}

func (sh *shell) take(p []byte) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.current != nil {
		_, _ = sh.current.log.Write(p) // a Log takes everything
		return
	}
	sh.between = append(sh.between, p...)
	if more := len(sh.between) - mostBetween; more > 0 {
		sh.between = sh.between[more:]
	}
}

// listen handles the ends of commands, and then the end of the shell.
func (sh *shell) listen() {
	ends := bufio.NewReader(sh.ends)
	_, _, err := end(ends) // the first report says that the shell has started
	var last *sandbox.Exit // of the command that broke the shell
	for err == nil && last == nil {
		var code int
		var told string
		switch code, told, err = end(ends); {
		case err != nil:
		case strings.HasPrefix(told, broken):
			if last = (&sandbox.Exit{Code: code}); !sh.wasGiven(strings.TrimPrefix(told, broken)) {
				last = &sandbox.Exit{Err: errNotRun}
			}
		default:
			if sh.out.SetReadDeadline(time.Unix(1, 0)) == nil {
				select {
				case <-sh.emptied:
				case <-sh.pumped:
				}
			}
			dir, mute := strings.CutPrefix(told, muted)
			sh.finish(sandbox.Exit{Code: code, Touched: sh.process.Touched()}, After{Lives: true, Dir: dir, Mute: mute})
		}
	}
	<-sh.process.Done()
	_ = sh.out.SetReadDeadline(time.Now().Add(drained)) // it cannot fail for a pipe
	select {
	case <-sh.emptied:
		<-sh.pumped
	case <-sh.pumped:
	}
	sh.m.mu.Lock()
	delete(sh.m.shells, sh.key)
	sh.m.mu.Unlock()
	exit := sh.process.Exit()
	if last == nil && exit.Code == speechless {
		last = &sandbox.Exit{Err: errUntold}
	}
	if last != nil {
		sh.finish(*last, After{Broken: true})
	} else {
		sh.finish(exit, After{})
	}
	sh.mu.Lock()
	sh.idle.Stop()
	sh.mu.Unlock()
	sh.close()
}

// Marks in a report, before the shell's directory or instead of it.
const (
	muted  = "!" // its output is closed
	broken = "*" // it ends, because a command broke it; the number of its commands follows
)

// wasGiven reports whether the shell has read the last command.
func (sh *shell) wasGiven(count string) bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return count == strconv.Itoa(sh.given)
}

// speechless is the exit code of a shell that cannot report any more.
const speechless = 198

var (
	errUntold = errors.New("its shell could not report it")
	errNotRun = errors.New("it has not run: the command before it has broken the shell")
)

// end reads a report. If a command has redefined "builtin", its output comes before the
// number.
func end(r *bufio.Reader) (code int, told string, err error) {
	text, err := r.ReadString(0)
	if err != nil {
		return 0, "", err
	}
	text = strings.TrimSuffix(text, "\x00")
	digits := text[len(strings.TrimRight(text, "0123456789")):]
	if code, err = strconv.Atoi(digits); err != nil {
		return 0, "", err
	}
	told, err = r.ReadString(0)
	return code, strings.TrimSuffix(told, "\x00"), err
}

// finish marks the running command as ended.
func (sh *shell) finish(exit sandbox.Exit, after After) {
	sh.mu.Lock()
	j := sh.current
	sh.current, sh.dir = nil, after.Dir
	sh.idle.Reset(sh.m.idle())
	sh.mu.Unlock()
	if j == nil {
		return
	}
	j.mu.Lock()
	j.after = after
	j.mu.Unlock()
	j.finish(exit)
	sh.m.expire(j)
}

func (m *Manager) idle() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.opt.Idle
}
