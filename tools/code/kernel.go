package code

import (
	"bufio"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox"
)

//go:embed kernel.py
var kernelProgram string

// kernel is an interpreter that goes on between calls. It is reached by its pipes only: cells
// go in by stdin, their output comes by stdout, and the answer to each by stderr.
type kernel struct {
	handle    string
	principal string
	roots     string // of the workspace that it was started in
	network   bool
	client    string // that ran the last cell
	used      uint64 // its number among the cells of all kernels

	turn    chan struct{} // holds a value while a cell runs
	stdin   *os.File
	cells   int // so far
	idle    *time.Timer
	answers chan []byte // a line each; closed at the end

	mu      sync.Mutex
	process *sandbox.Process // see program
	out     *capture         // of the cell that runs; nil: none does
}

// answer is the report of the program on a cell.
type answer struct {
	pythonReport
	Mark   string
	Exit   bool
	Code   int // with Exit
	Images []struct {
		MIME string
		Data []byte
	}
	Left int // images that are too large, or too many
}

const (
	// longestAnswer is the most bytes of one: the images of a cell in base64.
	longestAnswer = 20 << 20
	kernelIdle    = 30 * time.Minute
)

// startKernel starts the program.
func (d Deps) startKernel(ctx context.Context, k *kernel) error {
	interpreter, err := d.find(ctx)
	if err != nil {
		return err
	}
	dir, err := tools.Resolve(ctx, ".")
	if err != nil {
		return err
	}
	var ours, theirs []*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
	}()
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			return errors.Join(err, closeAll(ours))
		}
		if len(ours) == 0 {
			ours, theirs = append(ours, w), append(theirs, r)
		} else {
			ours, theirs = append(ours, r), append(theirs, w)
		}
	}
	p, err := d.Sandbox.Start(ctx, sandbox.Command{
		Tool: "code_interpreter", Args: pythonArgs(interpreter, kernelProgram), Dir: dir,
		Env:   []string{"MPLBACKEND=agg"},
		Stdin: theirs[0], Stdout: theirs[1], Stderr: theirs[2],
		Network: k.network, Limits: sandbox.Limits{Memory: pythonMemory},
	})
	if err != nil {
		return errors.Join(sandbox.Refused(err), closeAll(ours))
	}
	k.mu.Lock()
	k.process = p
	k.mu.Unlock()
	k.stdin, k.cells = ours[0], 0
	k.answers = make(chan []byte, 1)
	go k.listen(ours[1])
	go read(ours[2], k.answers)
	go func() { // its child processes may hold the pipes
		<-p.Done()
		_ = ours[1].SetReadDeadline(time.Now().Add(drained))
		_ = ours[2].SetReadDeadline(time.Now().Add(drained))
	}()
	return nil
}

func closeAll(files []*os.File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// listen collects the output of cells. Output between two cells is dropped.
func (k *kernel) listen(r *os.File) {
	defer r.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		k.printed(buf[:n])
		if err != nil {
			return
		}
	}
}

func (k *kernel) printed(p []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.out == nil {
		return
	}
	_, _ = k.out.Write(p) // it never fails
	select {
	case <-k.out.marked:
		k.out = nil
	default:
	}
}

// read sends the lines of a stream to lines.
func read(r *os.File, lines chan<- []byte) {
	defer r.Close()
	defer close(lines)
	for in := bufio.NewReaderSize(r, 64<<10); ; {
		var line []byte
		for {
			part, err := in.ReadSlice('\n')
			if len(line)+len(part) > longestAnswer {
				return
			}
			line = append(line, part...)
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err != nil {
				return
			}
			break
		}
		lines <- line
	}
}

// begin sends a cell.
func (k *kernel) begin(code string) (out *capture, mark string, err error) {
	mark = rand.Text()
	out = newCapture("\n" + mark + "\n")
	k.cells++
	line, err := json.Marshal(map[string]any{"Code": code, "Number": k.cells, "Mark": mark, "Most": shownText})
	if err != nil {
		return out, mark, err
	}
	k.mu.Lock()
	k.out = out
	k.mu.Unlock()
	_ = k.stdin.SetWriteDeadline(time.Now().Add(10 * time.Second))
	_, err = k.stdin.Write(append(line, '\n'))
	return out, mark, err
}

// errEnded says that the program has ended.
var errEnded = errors.New("the interpreter has ended")

// await waits for the answer to the cell with a mark, and for its output, until ctx ends
// or the program does.
func (k *kernel) await(ctx context.Context, out *capture, mark string) (answer, error) {
	for {
		select {
		case line, ok := <-k.answers:
			if !ok {
				select { // how it has ended is known a little later
				case <-k.program().Done():
				case <-time.After(2 * lastWords): // a cell closed the stream
				case <-ctx.Done():
				}
				return answer{}, errEnded
			}
			var a answer
			if json.Unmarshal(line, &a) != nil || a.Mark != mark { // a cell wrote there
				continue
			}
			select {
			case <-out.marked:
			case <-time.After(drained): // a cell closed the stream
			}
			return a, nil
		case <-ctx.Done():
			return answer{}, context.Cause(ctx)
		}
	}
}

// stop interrupts the running cell and, if that does not help, ends the program.
func (k *kernel) stop(out *capture, mark string) (answer, error) {
	if err := k.interrupt(); err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 2*lastWords)
		defer cancel()
		if a, err := k.await(ctx, out, mark); err == nil {
			return a, nil
		}
	}
	k.end()
	return answer{}, errEnded
}

// end ends the program.
func (k *kernel) end() {
	p := k.program()
	p.Kill()
	<-p.Done()
	_ = k.stdin.Close() // nothing reads there any more
}

// taken returns the output of a cell.
func (k *kernel) taken(out *capture) excerpt {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.out = nil
	text, _ := out.text()
	return text
}

// program returns the process that runs the cells, nil before the first start. A caller
// without the turn may get the process before a restart.
func (k *kernel) program() *sandbox.Process {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.process
}

// interrupt interrupts the running cell.
func (k *kernel) interrupt() error { return k.program().Signal(os.Interrupt) }

// takeOrEnd takes the turn, and ends the program if a cell has it.
func (k *kernel) takeOrEnd(ctx context.Context) error {
	if k.take() == nil {
		return nil
	}
	k.program().Kill()
	select {
	case k.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
