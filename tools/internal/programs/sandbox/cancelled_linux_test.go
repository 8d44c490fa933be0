package sandbox_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/tools/internal/programs/sandbox"
)

// A call that is cancelled while its program starts leaves nothing behind that waits for an
// answer for ever.
func TestCancelledStart(t *testing.T) {
	b := newBox(t, sandbox.Full)
	b.sh(t, "true") // the zygote is there
	started := 0
	for range 200 {
		ctx, cancel := context.WithTimeout(b.ctx, rand.N(20*time.Millisecond))
		p, err := b.Start(ctx, sandbox.Command{Args: []string{"true"}, Dir: b.root})
		cancel()
		if err == nil {
			started++
			<-p.Done()
		}
	}
	t.Logf("%d of 200 were started", started)
	none(t, "processes of cancelled programs", func() (inits []int) {
		for _, zygote := range children(os.Getpid()) {
			inits = append(inits, children(zygote)...)
		}
		return inits
	})
}

// A server that is killed while a program starts takes its processes along.
func TestKilledStart(t *testing.T) {
	const variable = "TOOLCRIB_TEST_STARTS"
	if os.Getenv(variable) != "" {
		b := newBox(t, sandbox.Full)
		b.sh(t, "true")
		fmt.Println("ready")
		for {
			if _, err := b.Start(b.ctx, sandbox.Command{Args: []string{"true"}, Dir: b.root}); err != nil {
				t.Fatal(err)
			}
		}
	}
	newBox(t, sandbox.Full).sh(t, "true") // else there is nothing to be killed
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
	before := children(os.Getpid())
	for range 10 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledStart$")
		cmd.Env = append(os.Environ(), variable+"=1", "TMPDIR="+t.TempDir())
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatalf("%q, %v", line, err)
		}
		time.Sleep(rand.N(20 * time.Millisecond))
		if err := errors.Join(cmd.Process.Kill(), cmd.Wait()); err == nil {
			t.Error("it was not killed")
		}
		none(t, "processes of a killed server", func() []int {
			return slices.DeleteFunc(children(os.Getpid()), func(pid int) bool {
				if slices.Contains(before, pid) {
					return true
				}
				ended, _ := unix.Wait4(pid, nil, unix.WNOHANG, nil) // it is adopted
				return ended == pid
			})
		})
	}
}

// children returns the processes that a process has started, or adopted.
func children(pid int) (list []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		text, _ := os.ReadFile(file) // a thread may have ended
		for field := range strings.FieldsSeq(string(text)) {
			child, _ := strconv.Atoi(field)
			list = append(list, child)
		}
	}
	return list
}

// none waits until there are no processes of a kind.
func none(t *testing.T, what string, list func() []int) {
	t.Helper()
	var left []int
	for begin := time.Now(); time.Since(begin) < 30*time.Second; time.Sleep(10 * time.Millisecond) {
		if left = list(); len(left) == 0 {
			return
		}
	}
	t.Fatalf("%s are left: %v", what, left)
}
