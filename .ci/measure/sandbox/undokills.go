package sandbox

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"toolcrib/.ci/measure/harness"
)

// UndoKills kills the server, or the process that holds the sandbox, in the middle of a command,
// and has the next server, or the same, take back what the command did until then.
func UndoKills(ctx context.Context, env harness.Environment) error {
	base, dir, err := env.Scratch("undokills")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	seed := env.Seed
	if seed == 0 {
		seed = harness.NewSeed()
	}
	rnd := rand.New(rand.NewPCG(seed, 0))
	commands := []string{"rm -rf src", "sed -i s/line/LINE/ src/*/*", "tar cf s.tar src && rm -rf src && tar xf s.tar", "mv src/1 src/moved; rm -rf src/2; echo x >>a.txt", "git checkout -q side; git gc -q --prune=now", "for f in src/*/*; do echo more >>$f; done"}
	tree := &undoTree{dir: dir, files: 200}
	if err := tree.plant(ctx); err != nil {
		return err
	}
	want, err := tree.look(ctx)
	if err != nil {
		return err
	}
	wrong, midway := 0, 0
	for i := range env.Of(300, 4) {
		command := commands[i%len(commands)]
		holder := i%3 == 2
		changed, why, err := tree.kill(ctx, env, command, time.Duration(rnd.IntN(60_000))*time.Microsecond, holder, want)
		if err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
		if changed {
			midway++
		}
		if why != "" {
			wrong++
			fmt.Printf("wrong: %s (round %d): %s\n", command, i, why)
			if err := tree.plant(ctx); err != nil {
				return err
			}
			if want, err = tree.look(ctx); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%d kills, %d after a change: %d not undone as they must be\n", env.Of(300, 4), midway, wrong)
	if wrong > 0 {
		return fmt.Errorf("%d changes of killed servers are not undone", wrong)
	}
	return nil
}

// kill runs a command, kills the server or the holder of its sandbox after a while, and undoes
// the command. changed reports whether the command had changed something.
func (t *undoTree) kill(ctx context.Context, env harness.Environment, command string, after time.Duration, holder bool, want map[string]string) (changed bool, why string, err error) {
	u, err := harness.UseTools(ctx, env.Writer(t.dir, "--preset=all"))
	if err != nil {
		return false, "", err
	}
	if _, err := u.Must("bash", map[string]any{"command": "true"}); err != nil {
		return false, "", err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = u.Use("bash", map[string]any{"command": command}) // nobody answers if the server is killed
	}()
	time.Sleep(after)
	server := u.Cmd.Process.Pid
	programs := descendants(server)
	if holder {
		for _, pid := range children(server) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		<-ended
	} else {
		_ = syscall.Kill(server, syscall.SIGKILL)
		_ = u.Cmd.Wait()
	}
	for _, pid := range programs {
		if !holder || pid != server {
			waitGone(pid, 5*time.Second)
		}
	}
	if !holder {
		if u, err = harness.UseTools(ctx, env.Writer(t.dir, "--preset=all")); err != nil {
			return false, "", err
		}
	}
	now, err := t.look(ctx)
	if err != nil {
		return false, "", err
	}
	changed = !maps.Equal(now, want)
	if changed {
		r, err := u.Use("restore_file", map[string]any{"undo": true})
		if err != nil {
			return changed, "", err
		}
		got, err := t.look(ctx)
		if err != nil {
			return changed, "", err
		}
		if why = differ(want, got); why != "" {
			why += ": " + strings.ReplaceAll(fmt.Sprintf("%.300s", r.Text), "\n", " | ")
		}
	}
	return changed, why, u.Close()
}

// children returns the processes that a process has started.
func children(pid int) []int {
	var list []int
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		for word := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				list = append(list, n)
			}
		}
	}
	return list
}

// descendants returns the children with their children, at all levels.
func descendants(pid int) []int {
	var list []int
	for _, child := range children(pid) {
		list = append(append(list, child), descendants(child)...)
	}
	return list
}

// waitGone waits until a process has ended.
func waitGone(pid int, most time.Duration) {
	for begin := time.Now(); time.Since(begin) < most; time.Sleep(2 * time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(text), ") Z ") {
			return
		}
	}
}
