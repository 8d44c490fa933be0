// Package inside is the part of an executor that runs in the sandbox: this binary, started
// again. It starts the agent's program there, and connects the tools that the agent is given to
// the server outside.
//
// The agent starts this binary once more as its MCP server ([ToolsArgument]), which only copies
// its lines through a socket. So the server outside answers, with the rules, the records and the
// tools of the very call that the agent works for.
//
// Lines to the server begin with a letter: "a" is a line of the agent, "m" a line of the
// connection whose number follows. Lines from the server begin with the number of a connection;
// the first is a [Job].
//
// The package imports nothing of ours. Start at [Main].
package inside

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Arguments that make this binary run the package instead of the server.
const (
	Argument      = "run-executor"
	ToolsArgument = "executor-tools"
)

// Job is the program to run. In its arguments, variables and files, @@dir@@ is a directory for this
// run alone, @@tools@@ the program that serves the tools, and @@socket@@ and @@key@@ are its
// arguments after [ToolsArgument].
type Job struct {
	Args  []string          `json:"args"`
	Env   []string          `json:"env"`   // KEY=VALUE
	Files map[string]string `json:"files"` // contents, by slash-separated names in the directory
	Input string            `json:"input"` // all that it reads
}

// MaxLine is how long a line may be. What is more is cut off.
const MaxLine = 8 << 20

// Program reports whether this process is a part of an executor, and if so runs it. args is the
// command line without the program's name.
func Program(args []string) (exit int, was bool) {
	switch {
	case len(args) == 1 && args[0] == Argument:
		return Main(os.Stdin, os.Stdout), true
	case len(args) == 3 && args[0] == ToolsArgument:
		return connect(args[1], args[2]), true
	}
	return 0, false
}

// host is the process that runs a job.
type host struct {
	mu    sync.Mutex // of out and conns
	out   io.Writer
	conns []net.Conn
	key   string
	said  *output
}

// Main runs the job of in and reports its exit code.
func Main(in io.Reader, out io.Writer) int {
	h := &host{out: out, key: rand.Text()}
	reader := bufio.NewReaderSize(in, 64<<10)
	code, err := h.run(reader)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 127
	}
	return code
}

func (h *host) run(in *bufio.Reader) (code int, err error) {
	first, err := in.ReadBytes('\n')
	if err != nil {
		return 0, err
	}
	var job Job
	if err := json.Unmarshal(first, &job); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "agent")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // that of the sandbox goes with it
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	self, err := own()
	if err != nil {
		return 0, err
	}
	fill := strings.NewReplacer("@@dir@@", filepath.ToSlash(dir), "@@tools@@", filepath.ToSlash(self), "@@socket@@", filepath.ToSlash(socket), "@@key@@", h.key).Replace
	for name, text := range job.Files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(fill(text)), 0o600)); err != nil {
			return 0, err
		}
	}
	args := make([]string, len(job.Args))
	for i, arg := range job.Args {
		args[i] = fill(arg)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = os.Environ()
	for _, v := range job.Env {
		cmd.Env = append(cmd.Env, fill(v))
	}
	from, to, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	h.said = &output{file: from, ended: make(chan struct{}), lines: Lines{Each: func(line []byte) { h.send("a", line) }}}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(job.Input), to, os.Stderr
	cmd.WaitDelay = time.Second // its input may not be read
	go h.said.read()
	go h.accept(listener)
	go func() {
		h.forward(in)
		cancel() // the server is gone
	}()
	err = cmd.Run()
	_ = to.Close()
	h.said.finish()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return 0, nil
	}
	return 0, err
}

// own returns the path of this binary. In the sandbox its file may be hidden, but it can be
// started again by its process.
func own() (string, error) {
	if runtime.GOOS == "linux" {
		return fmt.Sprintf("/proc/%d/exe", os.Getpid()), nil
	}
	return os.Executable()
}

func (h *host) send(kind string, line []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _ = fmt.Fprintf(h.out, "%s %s\n", kind, line) // without a server, nobody hears it
}

func (h *host) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go h.serve(conn)
	}
}

// serve passes on the lines of a connection. Its first line must be the key.
func (h *host) serve(conn net.Conn) {
	defer conn.Close()
	n := -1
	l := &Lines{}
	l.Each = func(line []byte) {
		if n >= 0 {
			h.said.settle() // what it printed before comes first
			h.send("m"+strconv.Itoa(n), line)
			return
		}
		if string(line) != h.key {
			_ = conn.Close()
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		n = len(h.conns)
		h.conns = append(h.conns, conn)
	}
	_, _ = io.Copy(l, conn) // until either side ends
}

// forward gives the lines of the server to their connections, until it is gone.
func (h *host) forward(in io.Reader) {
	l := &Lines{Each: func(line []byte) {
		number, text, _ := bytes.Cut(line, []byte(" "))
		n, err := strconv.Atoi(string(number))
		if conn := h.conn(n); err == nil && conn != nil {
			_, _ = conn.Write(append(text, '\n')) // it may have ended
		}
	}}
	_, _ = io.Copy(l, in)
}

func (h *host) conn(n int) net.Conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n < 0 || n >= len(h.conns) {
		return nil
	}
	return h.conns[n]
}

// connect is the MCP server that the agent starts.
func connect(socket, key string) int {
	conn, err := net.Dial("unix", socket)
	if err == nil {
		_, err = fmt.Fprintln(conn, key)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() {
		_, _ = io.Copy(conn, os.Stdin)
		_ = conn.Close()
	}()
	_, _ = io.Copy(os.Stdout, conn)
	return 0
}

// output reads what the agent prints.
type output struct {
	file  *os.File
	lines Lines
	ended chan struct{}

	one     sync.Mutex // of those that wait
	mu      sync.Mutex
	waiting chan struct{} // closed when nothing is left to be read; nil = nobody waits
}

const (
	// quiet is how long nothing must come for all to be read that was printed.
	quiet = time.Millisecond
	// drained is how long the output of an agent that has ended may be held open.
	drained = 200 * time.Millisecond
)

func (o *output) read() {
	defer close(o.ended)
	defer o.lines.End()
	whole := false // the last read had its full time
	for buffer := make([]byte, 64<<10); ; {
		n, err := o.file.Read(buffer)
		_, _ = o.lines.Write(buffer[:n]) // it never fails
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && whole:
			if !o.release() {
				return
			}
			whole = false
		case errors.Is(err, os.ErrDeadlineExceeded):
			whole = o.file.SetReadDeadline(time.Now().Add(quiet)) == nil
		case err != nil:
			return
		default:
			whole = false
		}
	}
}

// release lets go on who waits. It returns false if nobody does: the agent has ended.
func (o *output) release() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waiting == nil {
		return false
	}
	close(o.waiting)
	o.waiting = nil
	return o.file.SetReadDeadline(time.Time{}) == nil
}

// settle waits until all is read that the agent has printed so far.
func (o *output) settle() {
	o.one.Lock()
	defer o.one.Unlock()
	read := make(chan struct{})
	o.mu.Lock()
	o.waiting = read
	err := o.file.SetReadDeadline(time.Now())
	o.mu.Unlock()
	if err != nil {
		return // this system cannot
	}
	select {
	case <-read:
	case <-o.ended:
	}
}

// finish waits for what an agent that has ended had printed.
func (o *output) finish() {
	o.one.Lock() // nobody waits any more
	defer o.one.Unlock()
	if o.file.SetReadDeadline(time.Now().Add(drained)) == nil {
		<-o.ended
	}
}

// Lines calls Each with every line that is written to it, without its end and what it has over
// [MaxLine]. Empty lines are left out.
type Lines struct {
	Each func([]byte)
	open []byte
}

// Write implements [io.Writer].
func (l *Lines) Write(data []byte) (int, error) {
	for rest := data; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		l.open = append(l.open, line[:min(len(line), MaxLine-len(l.open))]...)
		if ended {
			l.End()
		}
		rest = after
	}
	return len(data), nil
}

// End takes what is open for a line.
func (l *Lines) End() {
	if line := bytes.TrimSuffix(l.open, []byte("\r")); len(line) > 0 {
		l.Each(line)
	}
	l.open = l.open[:0]
}
