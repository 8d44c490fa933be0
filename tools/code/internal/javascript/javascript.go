// Package javascript is the program that runs a script of JavaScript: this binary, started
// again by run_javascript with [Argument]. A script can loop inside of the engine, where
// nothing interrupts it, so it has a process of its own, which ends all the same.
//
// Start reading at [Main]. The package imports nothing of toolcrib.
package javascript

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"modernc.org/quickjs"
)

// Argument makes this program run a script instead of the server.
const Argument = "run-javascript"

// Job is what to run, as JSON on stdin.
type Job struct {
	Mark    string        // before the report
	Code    string        // the script
	Timeout time.Duration // of the script, without the time in which it only waits for calls
	Whole   time.Duration // likewise, with that time
	Memory  int64         // bytes that values may take
	Tools   bool          // it may call tools
}

// Request is a call of a tool, as a line of JSON on stderr.
type Request struct {
	ID   int             `json:"id"` // from 1
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// Reply answers a Request, as JSON on stdin after the Job.
type Reply struct {
	ID     int             `json:"id"`
	Value  json.RawMessage `json:"value,omitempty"`
	Next   json.RawMessage `json:"next,omitempty"` // the arguments that differ in the call for the next page
	Failed *Failure        `json:"failed,omitempty"`
}

// Failure is the error of a call.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Report is how it ended, as JSON after the mark, when all output is written.
type Report struct {
	Value   string `json:"value"`   // of the last expression, as a console shows it; "" = undefined
	Error   string `json:"error"`   // with the lines that it came through
	Timeout bool   `json:"timeout"` // it was stopped since its time was over
}

//go:embed prelude.js
var prelude string

const (
	// frames is how deep functions may call each other.
	frames = 10_000
	// async has the engine take await outside of functions.
	async = 1 << 7
	// grace is the time to report where a script was stopped.
	grace = 500 * time.Millisecond
	// deaf is the time after its end within which a script must obey.
	deaf = time.Second
)

// Main runs the job on stdin, writes the output of the script and then the report to
// stdout, and returns the exit code.
func Main(stdin io.Reader, stdout, stderr io.Writer) int {
	var job Job
	in := json.NewDecoder(stdin)
	if err := in.Decode(&job); err != nil {
		fmt.Fprintln(stdout, "no job:", err)
		return 2
	}
	m, err := newMachine(job, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stdout, err)
		return 2
	}
	if job.Tools {
		go m.listen(in)
	}
	ended := make(chan struct{})
	go func() {
		m.run()
		close(ended)
	}()
	said := Report{Timeout: true}
	select {
	case <-ended:
		said = m.report
	case <-time.After(time.Until(m.end) + deaf):
	}
	m.output.Lock() // until the process ends: nothing comes after the report
	report, err := json.Marshal(said)
	if err == nil {
		_, err = fmt.Fprintf(stdout, "\n%s%s\n", job.Mark, report)
	}
	if err != nil {
		return 2
	}
	return 0
}

type machine struct {
	vm     *quickjs.VM
	job    Job
	until  time.Time // of the script
	end    time.Time // of the script with its calls
	report Report
	output sync.Mutex // held by what writes to stdout

	calling int                  // calls that are not answered
	replies chan json.RawMessage // closed if no more come
}

func newMachine(job Job, stdout, stderr io.Writer) (*machine, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	m := &machine{vm: vm, job: job, until: now.Add(job.Timeout), end: now.Add(job.Whole), replies: make(chan json.RawMessage)}
	vm.SetMaxStackSize(frames)
	err = errors.Join(
		vm.RegisterHostFunc("__emit", func(args []any) (any, error) {
			m.output.Lock()
			defer m.output.Unlock()
			_, err := fmt.Fprintln(stdout, args...)
			return nil, err
		}),
		vm.RegisterHostFunc("__report", func(args []any) (any, error) {
			text, _ := args[0].(string)
			m.report = Report{}
			return nil, json.Unmarshal([]byte(text), &m.report)
		}),
	)
	if job.Tools {
		err = errors.Join(err, vm.RegisterHostFunc("__request", func(args []any) (any, error) {
			m.calling++
			_, err := fmt.Fprintln(stderr, args...)
			return nil, err
		}))
	}
	if err == nil {
		_, err = vm.Eval(prelude, quickjs.EvalGlobal)
	}
	vm.SetMemoryLimit(uintptr(job.Memory))
	return m, err
}

// left returns the remaining time.
func (m *machine) left() time.Duration {
	return min(time.Until(m.until), time.Until(m.end))
}

// listen passes on the replies to calls.
func (m *machine) listen(in *json.Decoder) {
	defer close(m.replies)
	for {
		var reply json.RawMessage
		if in.Decode(&reply) != nil {
			return
		}
		m.replies <- reply
	}
}

// rest waits for the next timer, which is due after wait, or for the reply to a call. The time
// of a script stops while it has a call to wait for. It reports whether there is anything to
// wait for.
func (m *machine) rest(wait time.Duration) (bool, error) {
	if m.calling == 0 {
		if wait > 0 {
			time.Sleep(min(wait, m.left()))
		}
		return wait >= 0, nil
	}
	begin := time.Now()
	most := time.Until(m.end)
	if wait >= 0 {
		most = min(wait, most)
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case reply, more := <-m.replies:
		m.until = m.until.Add(time.Since(begin))
		if !more {
			return false, errors.New("the server answers no calls any more")
		}
		m.calling--
		m.limit(grace)
		_, err := m.vm.Call("__toolcrib.reply", string(reply))
		return true, err
	case <-timer.C:
		m.until = m.until.Add(time.Since(begin))
		return true, nil
	}
}

// run runs the script, then its pending jobs and timers, until none is left.
func (m *machine) run() {
	if err := m.start(); err != nil {
		m.report = Report{Error: err.Error(), Timeout: m.left() <= 0}
		return
	}
	for m.left() > 0 {
		m.limit(0)
		if _, err := m.vm.ExecutePendingJobs(); err != nil && m.report.Error == "" {
			m.report = Report{Error: err.Error()}
		}
		m.limit(0)
		wait, err := m.vm.Call("__toolcrib.step")
		if err != nil {
			m.report = Report{Error: err.Error()}
			break
		}
		switch more, err := m.rest(milliseconds(wait)); {
		case err != nil:
			m.report = Report{Error: err.Error()}
			return
		case !more:
			m.report.Timeout = m.left() <= 0
			return
		}
	}
	m.limit(grace)
	_, _ = m.vm.ExecutePendingJobs() // to report where it was
	m.report.Timeout = true
}

// start runs the script as far as its first await.
func (m *machine) start() error {
	m.limit(0)
	outcome, err := m.vm.EvalValue(m.job.Code, async)
	if err != nil {
		return m.placed(err)
	}
	m.limit(grace)
	name, err := m.vm.NewAtom("__outcome")
	if err != nil {
		return err
	}
	if err := m.vm.SetPropertyValue(m.vm.GlobalObject(), name, outcome); err != nil {
		return err
	}
	_, err = m.vm.Eval("{ const outcome = __outcome; delete globalThis.__outcome; __toolcrib.settle(outcome) }", quickjs.EvalGlobal)
	return err
}

// placed adds its line to a syntax error.
func (m *machine) placed(err error) error {
	if !strings.HasPrefix(err.Error(), "SyntaxError") {
		return err
	}
	if line, failed := m.vm.Call("__toolcrib.where", m.job.Code); failed == nil {
		if n, ok := line.(int); ok && n > 0 {
			return fmt.Errorf("%w (line %d)", err, n)
		}
	}
	return err
}

// limit gives the engine the remaining time, and at least least.
func (m *machine) limit(least time.Duration) {
	_ = m.vm.SetEvalTimeout(max(m.left(), least, time.Millisecond))
}

func milliseconds(v any) time.Duration {
	switch v := v.(type) {
	case int:
		return time.Duration(v) * time.Millisecond
	case float64:
		return time.Duration(v * float64(time.Millisecond))
	}
	return -1
}
