package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
)

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
	home, remove, err := temporary(name)
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
