package workspace_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"toolcrib/workspace"
)

// The test binary is also the other process: TestMain runs the role that the
// environment names, with its arguments.
const roleVar = "TOOLCRIB_WORKSPACE_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
}

func play(role string, args []string) error {
	switch role {
	case "keep":
		return keepForever(args[0], args[1])
	case "keep some":
		return keepSome(args[0], args[1], 300)
	case "lock":
		return lockOften(args[0], args[1])
	case "change":
		return changeForever(args[0], args[1], args[2])
	case "recover":
		return recoverOnce(args[0], args[1])
	}
	return errors.New("no such role")
}

// process is the test binary in a role. It ends with the test.
func process(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// printed collects the lines that a process prints until it ends.
type printed struct {
	mu    sync.Mutex
	lines []string
	grown *sync.Cond
	ended bool
	wait  sync.WaitGroup
}

func collect(t *testing.T, cmd *exec.Cmd) *printed {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &printed{}
	p.grown = sync.NewCond(&p.mu)
	p.wait.Go(func() {
		defer p.end()
		in := bufio.NewReader(out)
		for {
			line, err := in.ReadString('\n')
			if err != nil { // what a kill has torn is no line
				return
			}
			p.mu.Lock()
			p.lines = append(p.lines, strings.TrimSpace(line))
			p.mu.Unlock()
			p.grown.Broadcast()
		}
	})
	return p
}

func (p *printed) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.grown.Broadcast()
}

// reach waits until there are so many lines, or no more will come.
func (p *printed) reach(lines int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.lines) < lines && !p.ended {
		p.grown.Wait()
	}
}

func (p *printed) all() []string {
	p.wait.Wait()
	return p.lines
}

// openHistory opens the history of root for a role.
func openHistory(base, root string) (*workspace.Workspace, workspace.TestHistory, error) {
	w, err := workspace.Open([]string{root}, workspace.Options{
		StateBase: base, History: workspace.HistoryBounds{Bytes: historyBytes},
	})
	if err != nil {
		return nil, workspace.TestHistory{}, err
	}
	h, err := workspace.HistoryOf(w)
	return w, h, err
}

func lockOften(base, root string) error {
	w, err := workspace.Open([]string{root}, workspace.Options{StateBase: base})
	if err != nil {
		return err
	}
	defer w.Close()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for i := range lockWorkers {
		wg.Go(func() {
			for range lockTurns {
				if err := addOne(context.Background(), w, root, i); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
