package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/.ci/measure/harness"
)

// UndoCost compares commands whose changes are recorded with the same ones without, in pairs.
func UndoCost(ctx context.Context, env harness.Environment) (err error) {
	base, dir, err := env.Scratch("undocost")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	c := &undoCost{dir: dir, pairs: env.Of(20, 1)}
	for i, mode := range []string{"on", "off"} {
		p := []string{env.Binary, "serve", "--confirm=client", "--preset=all", "--program-undo=" + mode, "--state-dir=" + filepath.Join(base, "state-"+mode), dir}
		if c.users[i], err = useApart(ctx, p); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.users[i].Close()) }()
	}
	apart, err := otherFileSystem(base, dir)
	if err != nil {
		return err
	}
	fmt.Println(apart)
	files, many := env.Of(5000, 200), env.Of(80_000, 800)
	python := func(body string) string {
		return fmt.Sprintf("python3 -c \"\nfor d in range(10):\n  for i in range(%d):\n    %s\"", files/10, body)
	}
	const made = "rm -rf x && mkdir -p x/0 x/1 x/2 x/3 x/4 x/5 x/6 x/7 x/8 x/9"
	full := made + fmt.Sprintf(" && for d in x/*; do (cd $d && seq %d | split -l1 -a3 -d - f); done", files/10)
	const gone = "import os; os.remove(f'x/{d}/f{i:03}')"
	repository := `rm -rf r && mkdir r && cd r && git init -q -b main . && for i in $(seq 300); do echo $i >f$i; done && git add . && git -c user.name=n -c user.email=e@e commit -qm 1 && git branch old && for i in $(seq 300); do echo more >>f$i; done && git -c user.name=n -c user.email=e@e commit -qam 2`
	program := `func main() {}` // little to compile at first
	if env.Full() {
		program = `import ("fmt"; "net/http")\n\nfunc main() { fmt.Println(http.StatusOK) }`
	}
	module := `rm -rf m && mkdir m && cd m && printf 'module m\n\ngo 1.24\n' >go.mod && printf 'package main\n\n` + program + `\n' >main.go`
	for _, step := range []struct {
		name, once, each, command string
		limit                     float64       // times as long
		more                      time.Duration // longer; 0 = limit counts
	}{
		{"true, empty tree", "", "", "true", 0, time.Millisecond},
		{"go build after a change", module, "", "cd m && echo '// x' >>main.go && go build -o m .", 1.05, 0},
		{"git checkout, 300 files", repository, "cd r && git checkout -qf main", "cd r && git checkout -q old", 2, 0},
		{fmt.Sprint(files, " files made"), "", made, python("open(f'x/{d}/f{i:03}', 'w').write('new')"), 1.5, 0},
		{fmt.Sprint(files, " files rewritten"), "", full, python("open(f'x/{d}/f{i:03}', 'w').write('new')"), 2, 0},
		{fmt.Sprint(files, " files deleted"), "", full, python(gone), 3, 0},
	} {
		took, e := c.measure(ctx, step.once, step.each, step.command)
		if e != nil {
			return fmt.Errorf("%s: %w", step.name, e)
		}
		on, off := harness.Median(took[0]), harness.Median(took[1])
		fmt.Printf("%-26s recorded %8.2f ms, not %8.2f ms: %+.2f ms, %.2f times\n", step.name, harness.Milliseconds(on), harness.Milliseconds(off), harness.Milliseconds(on-off), float64(on)/float64(off))
		if env.Full() && (step.more > 0 && on-off >= step.more || step.limit > 0 && float64(on) > step.limit*float64(off)) {
			err = errors.Join(err, fmt.Errorf("%s takes too long", step.name))
		}
	}
	empty, e := c.measure(ctx, "", "", "true")
	if e != nil {
		return e
	}
	large, e := c.measure(ctx, fmt.Sprintf("mkdir big && cd big && for d in $(seq %d); do mkdir $d && (cd $d && seq 100 | split -l1 -a3 -d - f); done", many/100), "", "true")
	if e != nil {
		return e
	}
	more := harness.Median(large[0]) - harness.Median(empty[0])
	fmt.Printf("true, %d files             %+.2f ms more than in a small tree; not recorded %+.2f ms\n", many, harness.Milliseconds(more), harness.Milliseconds(harness.Median(large[1])-harness.Median(empty[1])))
	if env.Full() && more >= 5*time.Millisecond {
		err = errors.Join(err, errors.New("a command takes longer in a large tree"))
	}
	return err
}

// undoCost has two servers, of which the first records.
type undoCost struct {
	dir   string
	pairs int
	users [2]*harness.ToolUser
}

// measure prepares the directory once, then before each command, and returns how long the
// command took on either server.
func (c *undoCost) measure(ctx context.Context, once, each, command string) (took [2][]time.Duration, err error) {
	if err := c.prepare(ctx, once); err != nil {
		return took, err
	}
	for i := range c.pairs + 1 {
		for k := range c.users {
			who := (k + i) % 2
			if err := c.prepare(ctx, each); err != nil {
				return took, err
			}
			text, err := c.users[who].Must("bash", map[string]any{"command": command, "timeout": "50s"})
			if err != nil {
				return took, fmt.Errorf("%w: %s", err, text)
			}
			if i > 0 { // the first makes the sandbox
				took[who] = append(took[who], time.Duration(c.users[who].Took.Load()))
			}
		}
	}
	return took, nil
}

func (c *undoCost) prepare(ctx context.Context, script string) error {
	if script == "" {
		return nil
	}
	cmd := exec.CommandContext(ctx, "bash", "-ec", script)
	cmd.Dir = c.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", script, err, out)
	}
	return nil
}

// useApart starts a server in a session of its own, as its programs are. Linux shares busy CPUs
// between sessions (autogroup): what else runs in this one would slow down the server, for which
// its programs wait, and not the programs.
func useApart(ctx context.Context, program []string) (*harness.ToolUser, error) {
	cmd := exec.CommandContext(ctx, program[0], program[1:]...)
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	return harness.UseCommand(cmd)
}

// otherFileSystem says whether the state lies on another file system than the tree: then each
// file is copied before it changes, not linked.
func otherFileSystem(state, tree string) (string, error) {
	var of, its unix.Stat_t
	if err := errors.Join(unix.Stat(state, &of), unix.Stat(tree, &its)); err != nil {
		return "", err
	}
	if of.Dev != its.Dev {
		return "the state is on another file system than the tree: former contents are copied", nil
	}
	return "the state is on the file system of the tree: former contents are linked where that is enough", nil
}
