package jobs

import (
	"os"
	"sync"
	"time"

	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/programs/screen"
	"toolcrib/workspace"
	"toolcrib/workspace/recorder"
)

// Spec says what to run and for whom.
type Spec struct {
	Principal string
	Workspace *workspace.Workspace
	Text      string          // the command as it is shown
	Command   sandbox.Command // the job sets Stdin, Stdout and Stderr
	Input     bool            // its input stays open for Write; else it is empty
	Ports     []int           // of its private network, to be opened on the machine; see Forward
	Timeout   time.Duration   // 0 = none
}

// Why is the reason why a job ended.
type Why string

// The reasons.
const (
	ByItself  Why = ""
	ByTimeout Why = "timeout"
	ByStop    Why = "stopped"
	ByCancel  Why = "cancelled"
	ByScreen  Why = "it waits for keys, without a terminal"
	ByServer  Why = "the server ended"
)

// Job is a program that runs or has run. Several goroutines may call its methods.
type Job struct {
	ID        string
	Principal string
	Text      string // what runs
	Dir       string // where, as paths are printed
	Started   time.Time
	Timeout   time.Duration
	Shell     string // the named shell that it runs in
	Terminal  bool   // it has one
	Input     bool   // its input is open for Write

	workspace *workspace.Workspace
	keep      time.Duration // after the end
	log       *Log
	done      chan struct{}

	mu      sync.Mutex
	control control // nil before the start
	why     Why
	report  sandbox.Report
	exit    sandbox.Exit
	ended   time.Time
	input   *os.File
	typing  bool  // see Typing
	seen    int64 // see Shown
	cut     int64 // likewise
	opened  []Forward
	after   After // that it has ended
	screen  *screen.Screen
}

// control controls a running program.
type control interface {
	Signal(s os.Signal) error
	Kill()
	Changes() (changes recorder.Changes, known bool)
	Lost() string
}

func newJob(s Spec) *Job {
	j := &Job{
		Principal: s.Principal, Text: s.Text, Dir: s.Command.Dir.String(), Started: time.Now(), Timeout: s.Timeout,
		Terminal: s.Command.Terminal != nil, Input: s.Input || s.Command.Terminal != nil,
		workspace: s.Workspace, done: make(chan struct{}), cut: -1,
	}
	if size := s.Command.Terminal; size != nil {
		j.screen = screen.New(int(size.Rows), int(size.Columns))
	}
	return j
}

// Log returns its output.
func (j *Job) Log() *Log { return j.log }

// Shown returns the offset in the output at which the last answer about the job has ended, and
// that of the first part which the answer left out, -1 for none, as its caller has noted with
// SetShown.
func (j *Job) Shown() (offset, cut int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.seen, j.cut
}

// SetShown sets the result of Shown.
func (j *Job) SetShown(offset, cut int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seen, j.cut = offset, cut
}

// Done is closed when the job and everything that it started have ended and its output is
// complete.
func (j *Job) Done() <-chan struct{} { return j.done }

func (j *Job) isDone() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// Report returns how it is contained.
func (j *Job) Report() sandbox.Report {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.report
}

// Exit returns how and why it ended. It is valid once Done is closed.
func (j *Job) Exit() (sandbox.Exit, Why) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.exit, j.why
}

// Ended returns when it ended; zero while it runs.
func (j *Job) Ended() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.ended
}

// Took returns how long it has run.
func (j *Job) Took() time.Duration {
	if at := j.Ended(); !at.IsZero() {
		return at.Sub(j.Started)
	}
	return time.Since(j.Started)
}

// Grace is how long a program may take to end when it is asked to.
const Grace = 2 * time.Second

// Stop asks the job and everything that it started to end, and kills what still runs after
// Grace. It does not wait.
func (j *Job) Stop(why Why, grace time.Duration) {
	if !j.blame(why) {
		return
	}
	c := j.reach()
	if c == nil { // it is about to start; started sees the blame
		return
	}
	if err := c.Signal(terminate); err != nil || grace <= 0 {
		c.Kill()
		return
	}
	timer := time.NewTimer(grace)
	go func() {
		defer timer.Stop()
		select {
		case <-j.done:
		case <-timer.C:
			c.Kill()
		}
	}()
}

// cancelGrace is how long the command of a named shell may take to end after its call was
// cancelled. Then the shell is killed too.
const cancelGrace = 120 * time.Millisecond

// Cancel kills the job and everything that it started. The command of a named shell is
// interrupted first, so that the shell may go on. Cancel does not wait.
func (j *Job) Cancel() {
	if j.Shell != "" {
		j.Stop(ByCancel, cancelGrace)
		return
	}
	j.kill(ByCancel)
}

// After is the state of a named shell after a command.
type After struct {
	Lives bool   // else it has ended with the command
	Dir   string // its working directory on the host; "" = not known
	Mute  bool   // its output is closed
	// Broken reports whether it has ended because the command has redefined or closed
	// something that the shell needs to report the end of commands.
	Broken bool
}

// After returns the state of its named shell after it.
func (j *Job) After() After {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.after
}

// Interrupt sends it SIGINT.
func (j *Job) Interrupt() error {
	c := j.reach()
	if c == nil || j.isDone() {
		return os.ErrProcessDone
	}
	return c.Signal(interrupt)
}

// Screen calls f with the screen of its terminal. It reports whether it has a terminal.
func (j *Job) Screen(f func(*screen.Screen)) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.screen == nil {
		return false
	}
	f(j.screen)
	return true
}

// shown writes output of the program to the screen and returns the terminal's answer.
func (j *Job) shown(p []byte) []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, _ = j.screen.Write(p) // a Screen takes everything
	return j.screen.Replies()
}

func (j *Job) kill(why Why) {
	j.blame(why)
	if c := j.reach(); c != nil && !j.isDone() {
		c.Kill()
	}
}

// Changes ends the change of the call in the history of files, and returns it; known is false
// if what the job changes is not recorded.
func (j *Job) Changes() (changes recorder.Changes, known bool) {
	if c := j.reach(); c != nil {
		return c.Changes()
	}
	return recorder.Changes{}, false
}

// Lost says what of its changes after the call cannot be undone, each once; "" = everything can be.
func (j *Job) Lost() string {
	if c := j.reach(); c != nil {
		return c.Lost()
	}
	return ""
}

func (j *Job) reach() control {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.control
}

// started sets the control. If the job must end already, it is killed.
func (j *Job) started(c control, report sandbox.Report) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.control, j.report = c, report
	if j.why != ByItself {
		c.Kill()
	}
}

// Touched returns the protected paths that were changed: for a running job since the start
// or the last call, for an ended one as found at its end.
func (j *Job) Touched() sandbox.Touched {
	j.mu.Lock()
	c, over, touched := j.control, j.isDone(), j.exit.Touched
	j.mu.Unlock()
	if p, ok := c.(*sandbox.Process); ok && !over {
		return p.Touched()
	}
	return touched
}

// blame notes why the job ends. Only the first reason counts.
func (j *Job) blame(why Why) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.isDone() || j.why != ByItself {
		return false
	}
	j.why = why
	return true
}

// finish notes how the job ended.
func (j *Job) finish(exit sandbox.Exit) {
	j.mu.Lock()
	j.exit, j.ended = exit, time.Now()
	if j.input != nil {
		_ = j.input.Close() // nobody reads it any more
		j.input = nil
	}
	j.mu.Unlock()
	j.log.end()
	close(j.done)
}
