package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
)

// Work does what developers do all day, in the sandbox at its full level and outside of it:
// it must work alike, and again as fast.
func Work(ctx context.Context, env harness.Environment) error {
	base, dir, err := env.Scratch("work")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	inside, err := newSandboxed(ctx, env, dir)
	if err != nil {
		return err
	}
	outside := &plainShell{dir: filepath.Join(base, "outside"), env: []string{"npm_config_cache=" + filepath.Join(base, "npm")}, jobs: map[string]*exec.Cmd{}}
	if env.Full() { // no time is compared in a quick run, where the machine's own cache serves outside
		outside.env = append(outside.env, "GOCACHE="+filepath.Join(base, "gocache"))
	}
	defer outside.end()
	fmt.Println("| work | steps | right inside | right outside | inside, ms | outside, ms | again: inside | outside | ratio |\n|---|---|---|---|---|---|---|---|---|")
	var failed error
	for _, c := range workCases(env.Full()) {
		if c.needs != "" && exec.Command("sh", "-c", c.needs).Run() != nil {
			fmt.Printf("| %s | not here: %s |\n", c.name, c.needs)
			failed = errors.Join(failed, fmt.Errorf("%s: needs %s", c.name, c.needs))
			continue
		}
		failed = errors.Join(failed, c.measure(ctx, env, inside, outside))
	}
	return errors.Join(failed, inside.user.Close())
}

// workCase is a piece of work: files, then commands in their directory.
type workCase struct {
	name  string
	needs string // a command that fails where a program is missing
	files map[string]string
	plant string // a command that prepares the files, outside and once
	steps []workStep
}

type workStep struct {
	command string
	again   bool   // does what an earlier step did: a cache must serve it
	network bool   // asks for it
	job     bool   // goes on while the next steps run
	stop    bool   // waits for the job to end, and the command says nothing
	want    string // of what it prints, a regular expression
	fails   bool
	only    bool // inside alone: outside there is nothing to be refused
}

// shellOf runs steps.
type shellOf interface {
	run(ctx context.Context, dir string, s workStep) (output string, ok bool, took time.Duration, err error)
}

type workTimes struct{ first, again []time.Duration }

func (c workCase) measure(ctx context.Context, env harness.Environment, inside *sandboxed, outside *plainShell) error {
	dirs := [2]string{filepath.Join(inside.dir, c.dir()), filepath.Join(outside.dir, c.dir())}
	for _, dir := range dirs {
		if err := c.prepare(ctx, dir); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	port, err := harness.FreePort()
	if err != nil {
		return err
	}
	var times [2]workTimes
	var right [2]int
	var failed error
	counted := 0
	for _, s := range c.steps {
		s.command = strings.ReplaceAll(s.command, "PORT", port)
		if !s.only {
			counted++
		}
		for i, sh := range []shellOf{inside, outside} {
			if s.only && i == 1 {
				continue
			}
			output, ok, took, err := sh.run(ctx, dirs[i], s)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", c.name, s.command, err)
			}
			good := ok != s.fails && regexp.MustCompile("(?s)"+s.want).MatchString(output)
			switch {
			case good:
				right[i]++
			case i == 0:
				failed = errors.Join(failed, fmt.Errorf("%s: %s: succeeded %t, want %t and %q:\n%s", c.name, s.command, ok, !s.fails, s.want, output))
			default:
				failed = errors.Join(failed, fmt.Errorf("%s: %s is wrong outside too:\n%s", c.name, s.command, output))
			}
			if s.again {
				times[i].again = append(times[i].again, took)
			} else {
				times[i].first = append(times[i].first, took)
			}
		}
	}
	in, out := times[0], times[1]
	fmt.Printf("| %s | %d | %d | %d of %d | %d | %d |", c.name, len(c.steps), right[0], right[1], counted, total(in.first), total(out.first))
	if len(in.again) == 0 {
		fmt.Println(" | | |")
		return failed
	}
	a, b := medianTime(in.again), medianTime(out.again)
	fmt.Printf(" %d | %d | %.2f |\n", a.Milliseconds(), b.Milliseconds(), float64(a)/float64(b))
	if env.Full() && float64(a) > 1.25*float64(b) && a-b > 60*time.Millisecond {
		failed = errors.Join(failed, fmt.Errorf("%s: again takes %d ms inside and %d ms outside", c.name, a.Milliseconds(), b.Milliseconds()))
	}
	return failed
}

func (c workCase) dir() string { return strings.ReplaceAll(c.name, " ", "-") }

func (c workCase) prepare(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := harness.WriteTree(dir, c.files); err != nil {
		return err
	}
	if c.plant == "" {
		return nil
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", c.plant)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", c.plant, err, out)
	}
	return nil
}

func total(all []time.Duration) int64 {
	var sum time.Duration
	for _, t := range all {
		sum += t
	}
	return sum.Milliseconds()
}

func medianTime(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// sandboxed runs steps by the tools of a server.
type sandboxed struct {
	user *harness.ToolUser
	dir  string
	jobs []string
}

// registries are what the work asks the network for. Where a machine has mirrors of
// them, their addresses may be private.
const registries = "registry.npmjs.org,proxy.golang.org,sum.golang.org"

func newSandboxed(ctx context.Context, env harness.Environment, dir string) (*sandboxed, error) {
	p := env.Writer(dir, "--sandbox=full", "--network-private="+registries)
	u, err := harness.UseTools(ctx, p)
	return &sandboxed{user: u, dir: dir}, err
}

func (s *sandboxed) run(_ context.Context, dir string, step workStep) (string, bool, time.Duration, error) {
	begin := time.Now()
	a, err := s.call("bash", map[string]any{"command": step.command, "cwd": dir, "network": step.network, "background": step.job})
	if err != nil {
		return "", false, 0, err
	}
	took := time.Since(begin)
	switch {
	case step.job && a.job != "":
		s.jobs = append(s.jobs, a.job)
		return a.text, true, took, nil
	case step.stop && len(s.jobs) > 0: // the job ends by what the command did
		last := s.jobs[len(s.jobs)-1]
		s.jobs = s.jobs[:len(s.jobs)-1]
		job, err := s.call("job_output", map[string]any{"job": last, "wait": "20s"})
		return a.text + job.text, a.ended(0) && job.code != nil, took, err
	}
	for a.code == nil && a.job != "" { // it has become a job
		if a, err = s.call("job_output", map[string]any{"job": a.job, "wait": "50s"}); err != nil {
			return "", false, 0, err
		}
		took = time.Since(begin)
	}
	return a.text, a.ended(0), took, nil
}

// shellAnswer is the answer of a tool that runs commands.
type shellAnswer struct {
	text, job, level string
	code             *int // nil while it runs
}

func (a shellAnswer) ended(code int) bool { return a.code != nil && *a.code == code }

func (s *sandboxed) call(tool string, args map[string]any) (shellAnswer, error) {
	m, err := s.user.Call(int(s.user.Last.Add(1)), "tools/call", map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return shellAnswer{}, err
	}
	var r struct {
		Meta struct {
			Job     string `json:"toolcrib/job"`
			Code    *int   `json:"toolcrib/exit_code"`
			Sandbox struct {
				Level string `json:"level"`
			} `json:"toolcrib/sandbox"`
		} `json:"_meta"`
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		return shellAnswer{}, err
	}
	a := shellAnswer{job: r.Meta.Job, code: r.Meta.Code, level: r.Meta.Sandbox.Level}
	for _, c := range r.Content {
		a.text += c.Text
	}
	if r.IsError && a.code == nil {
		return a, errors.New(a.text)
	}
	if a.level != "full" {
		return a, fmt.Errorf("the level is %q: %s", cmp.Or(a.level, "not told"), a.text)
	}
	return a, nil
}

// plainShell runs steps with nothing around them. Its caches are its own and cold at first,
// as those inside are, where env says so.
type plainShell struct {
	dir  string
	env  []string // besides that of this program
	jobs map[string]*exec.Cmd
}

func (p *plainShell) run(ctx context.Context, dir string, step workStep) (string, bool, time.Duration, error) {
	begin := time.Now()
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-c", step.command)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), p.env...)
	cmd.WaitDelay = 5 * time.Second
	if step.job {
		p.jobs[dir] = cmd
		return "", true, 0, cmd.Start()
	}
	out, err := cmd.CombinedOutput()
	took := time.Since(begin)
	if job := p.jobs[dir]; step.stop && job != nil {
		delete(p.jobs, dir)
		_ = job.Wait()
	}
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		return "", false, 0, err
	}
	return string(out), err == nil, took, nil
}

func (p *plainShell) end() {
	for _, job := range p.jobs {
		_ = job.Process.Kill()
		_ = job.Wait()
	}
}
