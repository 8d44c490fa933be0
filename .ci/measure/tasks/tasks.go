// Package tasks has the figure of ten everyday tasks: what they cost by the tools of
// toolcrib and by those of DesktopCommander, in tokens and calls.
//
// Each task is a sequence of calls for either server, written beforehand: what a good model
// calls that knows the server's documents, with the arguments that the task needs and the
// server's defaults for the others. One check judges what both have reached. Start at
// [Tasks]; the tasks are in cases.go and questions.go, the trees that they begin with in
// trees.go.
package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// task is one that a user gives, from a tree of files to a state of it or an answer.
type task struct {
	name    string
	files   func(env harness.Environment) map[string]string
	ours    func(p *player)
	theirs  func(p *player)
	reached func(p *player) error
}

// player makes the calls of one task and counts what they cost. After a first error it makes
// none.
type player struct {
	*harness.ToolUser
	dir    string
	err    error
	calls  int
	bytes  int
	answer strings.Builder // all texts of results
}

// call makes a call and returns its text.
func (p *player) call(tool string, args map[string]any) string {
	text := p.try(tool, args)
	if p.err == nil {
		p.count(args, text)
	}
	return text
}

// try is call without its cost.
func (p *player) try(tool string, args map[string]any) string {
	if p.err != nil {
		return ""
	}
	a, err := p.Use(tool, args)
	if err == nil && a.Failed {
		err = fmt.Errorf("%s %v: %s", tool, args, a.Text)
	}
	p.err = err
	return a.Text
}

// count adds the cost of a call.
func (p *player) count(args map[string]any, text string) {
	var written bytes.Buffer
	plain := json.NewEncoder(&written)
	plain.SetEscapeHTML(false) // as a model writes it
	p.err = plain.Encode(args)
	p.calls++
	p.bytes += written.Len() - len("\n") + len(text)
	p.answer.WriteString(text + "\n")
}

// at is a path as DesktopCommander wants it, absolute.
func (p *player) at(name string) string { return filepath.Join(p.dir, name) }

// tokens is what the calls have cost, by the usual four bytes a token.
func (p *player) tokens() int { return (p.bytes + 3) / 4 }

// has checks that a file has a text.
func (p *player) has(name, text string) error {
	data, err := os.ReadFile(p.at(name))
	if err == nil && !strings.Contains(string(data), text) {
		err = fmt.Errorf("%s has no %q", name, text)
	}
	return err
}

// said checks that the results have texts, which answer the user.
func (p *player) said(texts ...string) (err error) {
	for _, text := range texts {
		if !strings.Contains(p.answer.String(), text) {
			err = errors.Join(err, fmt.Errorf("no result has %q", text))
		}
	}
	return err
}

// passes checks that the tests of the tree pass.
func (p *player) passes(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "python3", "-m", "unittest", "-q")
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the tests: %w: %.500s", err, out)
	}
	return nil
}

// Tasks carries out ten tasks by the tools of toolcrib and of DesktopCommander.
func Tasks(ctx context.Context, env harness.Environment) error {
	kept, err := os.MkdirTemp(env.Cache, "tasks-") // not in /tmp, which is a private one in a sandbox
	if err != nil {
		return err
	}
	defer os.RemoveAll(kept)
	short, err := os.MkdirTemp("", "tasks-") // its paths are written out in calls and results
	if err != nil {
		return err
	}
	defer os.RemoveAll(short)
	version, err := env.DesktopVersion()
	if err != nil {
		return err
	}
	fmt.Printf("| task | toolcrib tokens | calls | DesktopCommander %s tokens | calls | share |\n|---|---|---|---|---|---|\n", version)
	var wrong error
	var sum [2]player
	for i, t := range allTasks(ctx) {
		own, err := play(ctx, env, t, filepath.Join(kept, fmt.Sprint(i), "shop"), openOwn, t.ours)
		if err != nil {
			return fmt.Errorf("%s by toolcrib: %w", t.name, err)
		}
		other, err := play(ctx, env, t, filepath.Join(short, fmt.Sprint(i), "shop"), openDesktop, t.theirs)
		if err != nil {
			return fmt.Errorf("%s by DesktopCommander: %w", t.name, err)
		}
		for who, p := range []*player{own, other} {
			sum[who].bytes += p.bytes
			sum[who].calls += p.calls
		}
		row(t.name, own, other)
		if own.tokens()*10 > other.tokens()*11 {
			wrong = errors.Join(wrong, fmt.Errorf("%s takes %d tokens, more than a tenth above the %d of DesktopCommander", t.name, own.tokens(), other.tokens()))
		}
	}
	row("all", &sum[0], &sum[1])
	if sum[0].tokens()*3 > sum[1].tokens() {
		wrong = errors.Join(wrong, fmt.Errorf("all take %d tokens, more than a third of the %d of DesktopCommander", sum[0].tokens(), sum[1].tokens()))
	}
	return wrong
}

func row(name string, own, other *player) {
	fmt.Printf("| %s | %d | %d | %d | %d | %.0f %% |\n", name, own.tokens(), own.calls, other.tokens(), other.calls,
		100*float64(own.bytes)/float64(other.bytes))
}

// play carries out a task by one server and checks what it has reached.
func play(ctx context.Context, env harness.Environment, t task, dir string, open func(context.Context, harness.Environment, string) (*harness.ToolUser, error), calls func(*player)) (*player, error) {
	if err := harness.WriteTree(dir, t.files(env)); err != nil {
		return nil, err
	}
	user, err := open(ctx, env, dir)
	if err != nil {
		return nil, err
	}
	p := &player{ToolUser: user, dir: dir}
	calls(p)
	if p.err == nil {
		p.err = t.reached(p)
	}
	_ = user.End() // how a server ends is not what is asked
	return p, p.err
}

func openOwn(ctx context.Context, env harness.Environment, dir string) (*harness.ToolUser, error) {
	return dial(ctx, env.Writer(dir), dir)
}

// openDesktop starts DesktopCommander, which keeps its home to itself and tells nobody of its
// use.
func openDesktop(ctx context.Context, env harness.Environment, dir string) (*harness.ToolUser, error) {
	u, err := dial(ctx, env.Desktop(), dir)
	if err != nil {
		return nil, err
	}
	if err := harness.ConfineDesktop(u, dir); err != nil {
		return nil, errors.Join(err, u.End())
	}
	return u, nil
}

func dial(ctx context.Context, p harness.Program, dir string) (*harness.ToolUser, error) {
	home := dir + ".home"
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, p.Args[0], p.Args[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SHELL=/bin/bash", "LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1", "DESKTOP_COMMANDER_DISABLE_TELEMETRY=1"}
	return harness.UseCommand(cmd)
}
