package jobs

import (
	"bufio"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"toolcrib/tools/internal/sandbox"
)

// mostBetween is how much is kept of what is printed between two commands.
const mostBetween = 16 << 10

// pump reads what is printed.
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

// listen takes the ends of commands, and then that of the shell.
func (sh *shell) listen() {
	ends := bufio.NewReader(sh.ends)
	for {
		code, dir, err := end(ends)
		if err != nil {
			break
		}
		if sh.out.SetReadDeadline(time.Unix(1, 0)) == nil {
			select {
			case <-sh.emptied:
			case <-sh.pumped:
			}
		}
		sh.finish(sandbox.Exit{Code: code}, dir)
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
	sh.finish(sh.process.Exit(), "")
	sh.mu.Lock()
	sh.idle.Stop()
	sh.mu.Unlock()
	sh.close()
}

// end reads how a command has ended.
func end(r *bufio.Reader) (code int, dir string, err error) {
	text, err := r.ReadString(0)
	if err != nil {
		return 0, "", err
	}
	if code, err = strconv.Atoi(strings.TrimSuffix(text, "\x00")); err != nil {
		return 0, "", err
	}
	dir, err = r.ReadString(0)
	return code, strings.TrimSuffix(dir, "\x00"), err
}

// finish ends the command that runs. Without a directory the shell has ended with it.
func (sh *shell) finish(exit sandbox.Exit, dir string) {
	dir, mute := strings.CutPrefix(dir, "!")
	sh.mu.Lock()
	j := sh.current
	sh.current, sh.dir = nil, dir
	sh.idle.Reset(sh.m.idle())
	sh.mu.Unlock()
	if j == nil {
		return
	}
	j.mu.Lock()
	j.after, j.mute = dir, mute
	j.mu.Unlock()
	j.finish(exit)
	sh.m.expire(j)
}

func (m *Manager) idle() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.opt.Idle
}
