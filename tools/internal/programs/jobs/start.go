package jobs

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// chunk is how many bytes of output are read at a time.
const chunk = 64 << 10

// drained is how long a job waits for the rest of the output after its program has ended. If
// the sandbox does not end the processes left behind, they may hold the pipe for ever.
const drained = 100 * time.Millisecond

// start starts the program and the goroutine that reads its output.
func (j *Job) start(ctx context.Context, m *Manager, s Spec) (err error) {
	c := s.Command
	var closing []*os.File // the program's ends, closed here in any case
	defer func() {
		for _, f := range closing {
			err = errors.Join(err, f.Close())
		}
	}()
	var output *os.File
	if c.Terminal == nil {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		closing = append(closing, w)
		output, c.Stdout, c.Stderr = r, w, w
		if s.Input {
			r, w, err := os.Pipe()
			if err != nil {
				return errors.Join(err, output.Close())
			}
			closing = append(closing, r)
			j.input, c.Stdin = w, r
		}
	}
	process, err := m.engine.Start(ctx, c)
	if err != nil {
		if output != nil {
			err = errors.Join(err, output.Close())
		}
		return err
	}
	if c.Terminal != nil {
		if output = process.Terminal(); output == nil {
			process.Kill()
			return errNoTerminal
		}
	}
	if c.Terminal != nil {
		j.input = output
	}
	j.started(process, process.Report())
	if err := j.forward(process, s.Ports); err != nil {
		process.Kill()
		return errors.Join(err, output.Close())
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		if j.Terminal {
			pump(terminal{j, output}, output)
		} else {
			pump(j.log, output)
		}
	}()
	go func() {
		j.watch(process.Done())
		_ = output.SetReadDeadline(time.Now().Add(drained)) // it cannot fail for a pipe
		<-read
		_ = output.Close() // it was only read from
		j.unforward()
		j.finish(process.Exit())
		m.expire(j)
	}()
	return nil
}

// errNoTerminal says that the sandbox has no terminals on this system.
var errNoTerminal = errors.New("this system gives programs no terminal")

// watch waits for the end of the program, and ends it at its timeout.
func (j *Job) watch(done <-chan struct{}) {
	var over <-chan time.Time
	if j.Timeout > 0 {
		timer := time.NewTimer(j.Timeout)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-done:
	case <-over:
		j.Stop(ByTimeout, Grace)
		<-done
	}
}

// A flood of output is slowed down: so many bytes take at least so long, so that other calls
// get CPU time.
const (
	wave     = 8 << 20
	waveTime = 20 * time.Millisecond
)

// pump reads the output of a program until its end.
func pump(to io.Writer, from io.Reader) {
	buffer := make([]byte, chunk)
	begin, came := time.Now(), 0
	for {
		n, err := from.Read(buffer)
		_, _ = to.Write(buffer[:n]) // a Log takes everything
		if err != nil {
			return // the end of the pipe, of the terminal, or of the time for the rest
		}
		if came += n; came >= wave {
			time.Sleep(waveTime - time.Since(begin))
			begin, came = time.Now(), 0
		}
	}
}

// terminal takes the output of a program that has a terminal.
type terminal struct {
	job *Job
	in  *os.File
}

// answerWait is how long the terminal waits for the program to read an answer.
const answerWait = 100 * time.Millisecond

// Write writes output to the screen and the log, and sends the terminal's answers. The screen
// comes first, so that a text in the log is also on the screen.
func (t terminal) Write(p []byte) (int, error) {
	answer := t.job.shown(p)
	_, _ = t.job.log.Write(p) // a Log takes everything
	if len(answer) > 0 {
		if err := t.in.SetWriteDeadline(time.Now().Add(answerWait)); err == nil {
			_, _ = t.in.Write(answer) // a program that does not read gets no answer
		}
	}
	return len(p), nil
}
