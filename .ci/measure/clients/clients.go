// Package clients has the figures of real clients and libraries: each connects, lists the
// tools and calls them.
//
// Start at [bench]. It imports the harness and rawhttp, and no other figures.
package clients

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// transports are the ways by which clients reach a server.
var transports = []string{"stdio", "http"}

// bench is a workspace and the servers on it that a client is tried with. The
// server "catalog" is toolcrib; the others are toys of this program.
type bench struct {
	transport, dir string
	servers        map[string]harness.Endpoint
	running        []*harness.Listening // over HTTP
}

// newBench sets up a workspace with one file, and the servers on it.
func newBench(ctx context.Context, env harness.Environment, transport string, toys ...string) (*bench, error) {
	dir, err := harness.Sample()
	if err != nil {
		return nil, err
	}
	b := &bench{transport: transport, dir: dir, servers: map[string]harness.Endpoint{}}
	self, err := os.Executable()
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	for _, name := range append([]string{"catalog"}, toys...) {
		program := []string{self, "serve", name, dir}
		if name == "catalog" { // what a client of this name is shown is another figure's
			program = env.Toolcrib(dir).Args
			program = append(program[:len(program)-1:len(program)-1], "--preset", "default", dir)
		}
		if transport == "stdio" {
			b.servers[name] = harness.Endpoint{Command: program[0], Args: program[1:]}
			continue
		}
		program = append(program[:len(program)-1:len(program)-1], "--http", "127.0.0.1:0", dir)
		if name == "catalog" {
			program = append([]string{program[0], "serve"}, program[1:]...)
		}
		l, err := harness.Listen(ctx, name == "catalog", program...)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s over HTTP: %w", name, err), b.close())
		}
		b.running = append(b.running, l)
		b.servers[name] = l.Endpoint
	}
	return b, nil
}

// overEach tries a client over every transport, each time on a bench of its own with
// toys, and prints a row: the transport and the cells that try returns.
func overEach(ctx context.Context, env harness.Environment, try func(b *bench) (cells string, err error), toys ...string) error {
	for _, transport := range transports {
		b, err := newBench(ctx, env, transport, toys...)
		if err != nil {
			return err
		}
		cells, err := try(b)
		if err := errors.Join(err, b.close()); err != nil {
			return fmt.Errorf("%s: %w", transport, err)
		}
		fmt.Printf("| %s | %s |\n", transport, cells)
	}
	return nil
}

// close ends the servers; one that complains or does not end is an error.
func (b *bench) close() error {
	errs := []error{os.RemoveAll(b.dir)}
	for _, l := range b.running {
		errs = append(errs, l.Stop())
	}
	return errors.Join(errs...)
}

// wants returns an error if a program failed, or its output lacks the wanted text.
func wants(what, want, out string, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w: %s", what, err, out)
	case !strings.Contains(out, want):
		return fmt.Errorf("%s: no %q in %s", what, want, out)
	}
	return nil
}

// agent is a client that a model drives: a program with a home of its own, and a
// stand-in of the model's API on loopback.
type agent struct {
	home    string
	remove  func()
	api     *httptest.Server
	program []string
	dir     string   // the workspace
	env     []string // KEY=VALUE
}

// agent sets a program up on the bench.
func (b *bench) agent(name string, model http.Handler, program ...string) (*agent, error) {
	home, remove, err := harness.Temporary(name)
	if err != nil {
		return nil, err
	}
	return &agent{
		home: home, remove: remove, api: httptest.NewServer(model),
		program: program, dir: b.dir, env: append(os.Environ(), "HOME="+home),
	}, nil
}

func (a *agent) close() {
	a.api.Close()
	a.remove()
}

// run runs the program and returns all that it prints.
func (a *agent) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, a.program[0], append(a.program[1:len(a.program):len(a.program)], args...)...)
	cmd.Dir, cmd.Env = a.dir, a.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}
