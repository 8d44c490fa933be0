package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/.ci/measure/harness"
)

// UndoKills kills the server, or the process that holds the sandbox, in the middle of a command,
// and has the next server, or the same, take back what the command did until then. In other rounds
// the disk of the state fills up meanwhile, or the state is removed: what cannot be undone then must
// be said.
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
	wrong, midway, said := 0, 0, 0
	rounds := env.Of(300, 10)
	for i := range rounds {
		command := commands[i/5%len(commands)]
		after := time.Duration(rnd.IntN(60_000)) * time.Microsecond
		var changed bool
		var why string
		switch i % 5 {
		case 3, 4:
			var told bool
			if told, why, err = tree.starve(ctx, env, command, after, i%5 == 3, want); told {
				said++
				err = errors.Join(err, tree.plant(ctx))
				if err == nil {
					want, err = tree.look(ctx)
				}
			}
		default:
			changed, why, err = tree.kill(ctx, env, command, after, i%5 == 2, want)
		}
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
	fmt.Printf("%d kills, full disks and lost states, %d kills after a change, %d times said that not everything can be undone: %d not undone as they must be\n", rounds, midway, said, wrong)
	if wrong > 0 {
		return fmt.Errorf("%d changes of killed servers are not undone", wrong)
	}
	return nil
}

// kill runs a command, kills the server or the zygote of its sandbox after a while, and undoes
// the command. changed reports whether the command had changed something.
func (t *undoTree) kill(ctx context.Context, env harness.Environment, command string, after time.Duration, zygote bool, want map[string]string) (changed bool, why string, err error) {
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
	if zygote {
		for _, pid := range children(server) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		<-ended
	} else {
		_ = syscall.Kill(server, syscall.SIGKILL)
		_ = u.Cmd.Wait()
	}
	for _, pid := range programs {
		if !zygote || pid != server {
			waitGone(pid, 5*time.Second)
		}
	}
	if !zygote {
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

// starve runs a command during which the disk of the state fills up, or the state is removed, and
// undoes it. told reports that not everything was undone, and that this was said.
func (t *undoTree) starve(ctx context.Context, env harness.Environment, command string, after time.Duration, full bool, want map[string]string) (told bool, why string, err error) {
	small := t.dir + ".small"
	if err := os.Mkdir(small, 0o700); err != nil {
		return false, "", err
	}
	defer os.RemoveAll(small)
	if full {
		if err := unix.Mount("small", small, "tmpfs", 0, "size=8m"); err != nil {
			fmt.Printf("no full disk: a file system of 8 MiB cannot be mounted: %v\n", err)
			return false, "", nil
		}
		defer func() { err = errors.Join(err, unix.Unmount(small, 0)) }()
	}
	state := filepath.Join(small, "state")
	u, err := harness.UseTools(ctx, env.Writer(t.dir, "--preset=all", "--state-dir="+state))
	if err != nil {
		return false, "", err
	}
	defer func() { _ = u.Close() }() // it complains about its state
	if text, err := u.Must("bash", map[string]any{"command": "true"}); err != nil {
		return false, "", fmt.Errorf("%w: %s", err, text)
	}
	answer := make(chan harness.Answer, 1)
	failed := make(chan error, 1)
	go func() {
		a, err := u.Use("bash", map[string]any{"command": command, "timeout": "50s"})
		failed <- err
		answer <- a
	}()
	time.Sleep(after)
	filler := filepath.Join(small, "filler")
	if full {
		f, err := os.Create(filler)
		if err != nil {
			return false, "", err
		}
		for size := 1 << 20; size > 0; size /= 2 {
			for err == nil {
				_, err = f.Write(make([]byte, size))
			}
			err = nil
		}
		if err := f.Close(); err != nil {
			return false, "", err
		}
	} else {
		for range 20 { // the server may make files meanwhile
			if os.RemoveAll(state) == nil {
				break
			}
		}
	}
	if err := <-failed; err != nil {
		return false, "", fmt.Errorf("no answer: %w", err)
	}
	a := <-answer
	if full {
		if err := os.Remove(filler); err != nil {
			return false, "", err
		}
	}
	said := a.Text
	now, err := t.look(ctx)
	if err != nil || maps.Equal(now, want) {
		return false, "", err
	}
	r, err := u.Use("restore_file", map[string]any{"undo": true})
	if err != nil {
		return false, "", err
	}
	if now, err = t.look(ctx); err != nil {
		return false, "", err
	}
	if why = differ(want, now); why == "" {
		return false, "", nil
	}
	if r.Failed || strings.Contains(said, "cannot be undone") {
		return true, "", nil
	}
	return false, fmt.Sprintf("%s: %.400s | %.300s", why, said, r.Text), nil
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
