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
	"toolcrib/workspace/recorder"
)

// shellKey names a shell.
type shellKey struct{ principal, roots, name string }

// shell is a bash that runs one command after another and keeps directory, variables and
// functions between them. Commands and their exit codes go through descriptors that the
// commands do not have. The output of commands is never parsed.
type shell struct {
	m       *Manager
	key     shellKey
	sees    string // the identity of the workspace in which it was started
	network bool
	process *sandbox.Process
	in      *os.File      // commands, each ended by a line feed and a NUL
	out     *os.File      // their output
	ends    *os.File      // exit code and directory, each ended by a NUL; see loop
	emptied chan struct{} // the output from before a command's end has been read
	pumped  chan struct{} // closed at the end of out

	mu      sync.Mutex
	current *Job
	dir     string      // on the host, after the last command; "" = none yet, or not known
	given   int         // commands
	between []byte      // output while no command ran
	idle    *time.Timer // ends it
}

// loop is the script of the bash. Commands get neither descriptor, an empty input, and the
// exit code of the previous command as $?.
//
// A command can redefine every part of the loop except reserved words and assignments. So
// each round begins with the report of the previous one (the first with a report of the
// start), and reads no command if that fails. The loop also ends if nothing was read, if its
// commands do nothing ("builtin" is a function, a trap skips them, set -n), and at a break
// outside another loop. After the loop another bash runs, which has none of these
// definitions. It reports that the shell is broken; if it cannot, it exits with the code
// speechless.
//
// Other facts are reported before the directory, which is left out if it is not known.
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

// ErrOtherNetwork says that a named shell was started with another setting of the network.
var ErrOtherNetwork = errors.New("it was started with another network")

// ErrOtherRoot says that a root of a named shell was made again since the shell was started,
// and that the shell has ended.
var ErrOtherRoot = errors.New("a root was made again since it was started")

// Known reports whether a principal has a shell with that name.
func (m *Manager) Known(s Spec, name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.shells[keyOf(s, name)] != nil
}

// Directory returns the working directory of a known shell, on the host; "" = not known.
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

// StartIn starts a command in a named shell. It starts the shell if there is none, with the
// directory and the variables of s.Command.
func (m *Manager) StartIn(ctx context.Context, s Spec, name, command string) (*Job, error) {
	if strings.ContainsRune(command, 0) {
		return nil, fmt.Errorf("a command has no NUL: %w", os.ErrInvalid)
	}
	if _, err := s.Workspace.OpenRoots(); err != nil { // a shell that is there would go on elsewhere
		return nil, err
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
	return sh.run(ctx, s, command)
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
	sh := &shell{m: m, key: key, sees: s.Workspace.Identity(), network: s.Command.Network, emptied: make(chan struct{}), pumped: make(chan struct{})}
	c := s.Command
	c.Args = []string{"bash", "--noprofile", "--norc", "-c", loop}
	theirs, err := sh.pipes(&c)
	if err != nil {
		return nil, err
	}
	sh.process, err = m.engine.Start(ctx, c)
	for _, f := range theirs {
		_ = f.Close() // the program has a copy
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

// pipes makes the three pipes. The caller must close the program's ends.
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
			_ = f.Close() // nil for files that were not made
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
func (sh *shell) run(ctx context.Context, s Spec, command string) (*Job, error) {
	j := newJob(s)
	j.Shell, j.Input = sh.key.name, false
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.current != nil {
		return nil, &BusyError{sh.current}
	}
	if sh.sees != s.Workspace.Identity() {
		sh.process.Kill()
		return nil, ErrOtherRoot
	}
	if err := sh.m.add(j); err != nil {
		return nil, err
	}
	_, _ = j.log.Write(sh.between) // a Log takes everything
	sh.between = nil
	sh.idle.Stop()
	sh.current = j
	sh.given++
	sh.process.Begin(ctx, s.Command.Tool)
	j.started(shellControl{sh}, sh.process.Report())
	go func() {
		if _, err := io.WriteString(sh.in, command+"\n\x00"); err != nil {
			sh.process.Kill() // it reads no more
		}
	}()
	go j.watch(j.done)
	return j, nil
}

// shellControl controls the command of a shell. Killing the command ends the shell.
type shellControl struct{ sh *shell }

func (c shellControl) Signal(os.Signal) error { return c.sh.process.Signal(interrupt) }
func (c shellControl) Kill()                  { c.sh.process.Kill() }
func (c shellControl) Changes() (changes recorder.Changes, known bool) {
	return c.sh.process.Changes()
}
func (c shellControl) Lost() string { return c.sh.process.Lost() }
