package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"toolcrib/tools/internal/programs/sandbox"
)

// shellKey names a shell.
type shellKey struct{ principal, roots, name string }

// shell is a bash that runs one command after another and keeps what they leave:
// directory, variables, functions. Commands go to it, and their exit codes come back, by
// descriptors that the commands do not have; what they print is never looked at.
type shell struct {
	m       *Manager
	key     shellKey
	network bool
	process *sandbox.Process
	in      *os.File      // commands, each ended by a line feed and a NUL
	out     *os.File      // what they print
	ends    *os.File      // exit code and directory, each ended by a NUL; see loop
	emptied chan struct{} // what was printed before a command ended has been read
	pumped  chan struct{} // closed at the end of out

	mu      sync.Mutex
	current *Job
	dir     string      // on the host, after the last command; "" before, and where nobody can tell
	given   int         // commands
	between []byte      // printed while no command ran
	idle    *time.Timer // ends it
}

// loop is what the bash runs. The commands get neither descriptor, an empty input, and
// the exit code of the command before as $?.
//
// What it is made of the commands can redefine, all but reserved words and assignments.
// So each round begins with the report of the last one, the first with one that stands
// for the start, and nothing is read where that fails; the loop ends, too, where nothing
// was read, where its commands do nothing ("builtin" is a function, a trap skips them,
// set -n), and by a break that finds no other loop. What comes after it is another bash,
// which knows none of this and reports that the shell is of no use any more, or has an
// exit code of its own where it cannot.
//
// What else there is to say stands before the directory, which is left out where nobody
// can tell it.
const loop = `exec 198<&0 199>&2 </dev/null 2>&1
shopt -s expand_aliases
trap : INT
__toolcrib_count=0
__toolcrib_status() { return "$1"; }
{
until __toolcrib_code=$? __toolcrib_command= __toolcrib_told=
[[ ${PWD-} == /* && $PWD -ef . ]] && __toolcrib_told=$PWD
[[ -e /dev/fd/1 ]] || __toolcrib_told=!$__toolcrib_told
builtin printf '%d\0%s\0' "$__toolcrib_code" "$__toolcrib_told" >&199 &&
IFS= builtin read -r -d '' -u 198 __toolcrib_command
[[ -z $__toolcrib_command ]]; do
((++__toolcrib_count))
__toolcrib_status "$__toolcrib_code"
builtin eval "$__toolcrib_command" 198<&- 199>&-
done
bash -pc 'printf "%d\0*%d\0" "$@" >&199 || exit 198' - "$?" "$__toolcrib_count"
}`

// BusyError says that a named shell runs another command.
type BusyError struct{ Job *Job }

func (e *BusyError) Error() string { return "it runs another command, job " + e.Job.ID }

// ErrOtherNetwork says that a named shell was started with the network off, or on.
var ErrOtherNetwork = errors.New("it was started with another network")

// Known reports whether a principal has a shell of that name.
func (m *Manager) Known(s Spec, name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.shells[keyOf(s, name)] != nil
}

// Directory is where a shell that Known reports is, on the host; "" where nobody can
// tell.
func (m *Manager) Directory(s Spec, name string) string {
	m.mu.Lock()
	sh := m.shells[keyOf(s, name)]
	m.mu.Unlock()
	if sh == nil {
		return ""
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.current != nil {
		return ""
	}
	return sh.dir
}

func keyOf(s Spec, name string) shellKey {
	return shellKey{s.Principal, strings.Join(s.Workspace.Roots(), "\x00"), name}
}

// StartIn starts a command in a named shell, which is started where there is none. The
// directory and the variables of the command of s are for a new shell.
func (m *Manager) StartIn(ctx context.Context, s Spec, name, command string) (*Job, error) {
	if strings.ContainsRune(command, 0) {
		return nil, fmt.Errorf("a command has no NUL: %w", os.ErrInvalid)
	}
	m.shellTurn.Lock()
	defer m.shellTurn.Unlock()
	key := keyOf(s, name)
	m.mu.Lock()
	sh := m.shells[key]
	m.mu.Unlock()
	if sh == nil {
		var err error
		if sh, err = m.startShell(ctx, key, s); err != nil {
			return nil, err
		}
	}
	if sh.network != s.Command.Network {
		return nil, ErrOtherNetwork
	}
	return sh.run(s, command)
}

// startShell starts the bash of a named shell.
func (m *Manager) startShell(ctx context.Context, key shellKey, s Spec) (*shell, error) {
	m.mu.Lock()
	n := 0
	for other := range m.shells {
		if other.principal == key.principal {
			n++
		}
	}
	full := n >= m.opt.Shells
	m.mu.Unlock()
	if full {
		return nil, ErrTooMany
	}
	sh := &shell{m: m, key: key, network: s.Command.Network, emptied: make(chan struct{}), pumped: make(chan struct{})}
	c := s.Command
	c.Args = []string{"bash", "--noprofile", "--norc", "-c", loop}
	theirs, err := sh.pipes(&c)
	if err != nil {
		return nil, err
	}
	sh.process, err = m.engine.Start(ctx, c)
	for _, f := range theirs {
		_ = f.Close() // the program has its own
	}
	if err != nil {
		sh.close()
		return nil, err
	}
	m.mu.Lock()
	m.shells[key] = sh
	sh.idle = time.AfterFunc(m.opt.Idle, sh.process.Kill)
	closed := m.closed
	m.mu.Unlock()
	if closed {
		sh.process.Kill()
	}
	go sh.pump()
	go sh.listen()
	return sh, nil
}

// pipes makes the three pipes; those ends that the program has are to be closed here.
func (sh *shell) pipes(c *sandbox.Command) (theirs []*os.File, err error) {
	make := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	c.Stdin, sh.in = make()
	sh.out, c.Stdout = make()
	sh.ends, c.Stderr = make()
	theirs = []*os.File{c.Stdin, c.Stdout, c.Stderr}
	if err != nil {
		sh.close()
		for _, f := range theirs {
			_ = f.Close() // nil for what was not made
		}
	}
	return theirs, err
}

func (sh *shell) close() {
	for _, f := range []*os.File{sh.in, sh.out, sh.ends} {
		_ = f.Close() // pipes hold nothing that could be lost
	}
}

// run gives the shell a command.
func (sh *shell) run(s Spec, command string) (*Job, error) {
	j := newJob(s)
	j.Shell, j.Input = sh.key.name, false
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.current != nil {
		return nil, &BusyError{sh.current}
	}
	if err := sh.m.add(j); err != nil {
		return nil, err
	}
	_, _ = j.log.Write(sh.between) // a Log takes everything
	sh.between = nil
	sh.idle.Stop()
	sh.current = j
	sh.given++
	j.started(shellControl{sh}, sh.process.Report())
	go func() {
		if _, err := io.WriteString(sh.in, command+"\n\x00"); err != nil {
			sh.process.Kill() // it reads no more
		}
	}()
	go j.watch(j.done)
	return j, nil
}

// shellControl reaches the command of a shell. To kill it is to end the shell.
type shellControl struct{ sh *shell }

func (c shellControl) Signal(os.Signal) error { return c.sh.process.Signal(interrupt) }
func (c shellControl) Kill()                  { c.sh.process.Kill() }
