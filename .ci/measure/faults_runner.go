package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// faultRunner makes calls on one tree, each with a server that was just started.
type faultRunner struct {
	ctx       context.Context
	self      string
	program   []string
	base, dir string
	inject    *injector
	sockets   *net.UnixListener
	server    *client
	id        int
}

func newFaultRunner(ctx context.Context, env environment, base string, refuse uint64) (*faultRunner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r := &faultRunner{ctx: ctx, self: self, base: base, dir: filepath.Join(base, "files")}
	r.program = []string{env.Binary, "serve", "--confirm", "client", "--state-dir", filepath.Join(base, "state"), r.dir}
	r.inject = &injector{base: base, refuse: refuse}
	r.inject.kill = func() error { return r.server.cmd.Process.Kill() }
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return nil, err
	}
	r.sockets, err = net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(base, "socket"), Net: "unix"})
	if err != nil {
		return nil, err
	}
	return r, r.start()
}

// start starts a server and has it answer a call.
func (r *faultRunner) start() (err error) {
	args := append([]string{"inject", r.sockets.Addr().String()}, r.program...)
	if r.server, err = dial(r.ctx, nil, r.self, args...); err != nil {
		return err
	}
	conn, err := r.sockets.AcceptUnix()
	if err != nil {
		return err
	}
	if err := r.inject.listen(conn); err != nil {
		return fmt.Errorf("inject: %w", err)
	}
	if err := r.server.initialize(); err != nil {
		return err
	}
	_, err = r.call(call{"list_directory", map[string]any{}})
	return err
}

// stop ends the server as a client does.
func (r *faultRunner) stop() error { return r.server.close() }

func (r *faultRunner) call(c call) (toolAnswer, error) {
	r.id++
	m, err := r.server.call(r.id, "tools/call", map[string]any{"name": c.tool, "arguments": c.args})
	if err != nil {
		return toolAnswer{}, err
	}
	return toolResult(m)
}

// peace makes a call that must succeed.
func (r *faultRunner) peace(c call) error {
	a, err := r.call(c)
	if err == nil && a.failed {
		err = fmt.Errorf("%s: %s", c.tool, a.text)
	}
	return err
}

// changes counts the changes in the history.
func (r *faultRunner) changes() (n int, err error) {
	a, err := r.call(call{"file_history", map[string]any{"limit": 1}})
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscan(a.text, &n); err != nil {
		return 0, fmt.Errorf("file_history: %q: %w", a.text, err)
	}
	return n, nil
}

// prepare makes the tree and returns it.
func (r *faultRunner) prepare(c faultCase) (tree map[string]string, changes int, err error) {
	if err := plantFaults(r.dir, c.large); err != nil {
		return nil, 0, err
	}
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} { // what has changed since it was seen is not overwritten
		if err := r.peace(call{"read_file", map[string]any{"path": name}}); err != nil {
			return nil, 0, err
		}
	}
	first := call{"write_file", map[string]any{"path": "b.txt", "content": lineOf("b", 201)}} // so that there is a history
	if err := r.peace(first); err != nil {
		return nil, 0, err
	}
	if c.first != nil {
		if err := r.peace(*c.first); err != nil {
			return nil, 0, err
		}
	}
	if tree, _, err = readFaults(r.dir); err != nil {
		return nil, 0, err
	}
	changes, err = r.changes()
	return tree, changes, err
}
