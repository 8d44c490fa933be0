package files

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"toolcrib/.ci/measure/harness"
)

// faultRunner makes calls on one tree, each with a server that was just started.
type faultRunner struct {
	ctx       context.Context
	self      string
	program   []string
	base, dir string
	inject    *injector
	sockets   *net.UnixListener
	server    *harness.Client
	id        int
}

func newFaultRunner(ctx context.Context, env harness.Environment, base string, refuse uint64) (*faultRunner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r := &faultRunner{ctx: ctx, self: self, base: base, dir: filepath.Join(base, "files")}
	r.program = []string{env.Binary, "serve", "--confirm", "client", "--state-dir", filepath.Join(base, "state"), r.dir}
	r.inject = &injector{base: base, refuse: refuse}
	r.inject.kill = func() error { return r.server.Cmd.Process.Kill() }
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
	if r.server, err = harness.Dial(r.ctx, nil, r.self, args...); err != nil {
		return err
	}
	conn, err := r.sockets.AcceptUnix()
	if err != nil {
		return err
	}
	if err := r.inject.listen(conn); err != nil {
		return fmt.Errorf("inject: %w", err)
	}
	if err := r.server.Initialize(); err != nil {
		return err
	}
	_, err = r.call(harness.Call{Tool: "list_directory", Args: map[string]any{}})
	return err
}

// stop ends the server as a client does.
func (r *faultRunner) stop() error { return r.server.Close() }

func (r *faultRunner) call(c harness.Call) (harness.Answer, error) {
	r.id++
	m, err := r.server.Call(r.id, "tools/call", map[string]any{"name": c.Tool, "arguments": c.Args})
	if err != nil {
		return harness.Answer{}, err
	}
	return harness.ResultOf(m)
}

// peace makes a call that must succeed.
func (r *faultRunner) peace(c harness.Call) error {
	a, err := r.call(c)
	if err == nil && a.Failed {
		err = fmt.Errorf("%s: %s", c.Tool, a.Text)
	}
	return err
}

// changes counts the changes in the history.
func (r *faultRunner) changes() (n int, err error) {
	a, err := r.call(harness.Call{Tool: "file_history", Args: map[string]any{"limit": 1}})
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscan(a.Text, &n); err != nil {
		return 0, fmt.Errorf("file_history: %q: %w", a.Text, err)
	}
	return n, nil
}

// prepare makes the tree and returns it.
func (r *faultRunner) prepare(c faultCase) (tree map[string]string, changes int, err error) {
	if err := plantFaults(r.dir, c.large); err != nil {
		return nil, 0, err
	}
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} { // what has changed since it was seen is not overwritten
		if err := r.peace(harness.Call{Tool: "read_file", Args: map[string]any{"path": name}}); err != nil {
			return nil, 0, err
		}
	}
	first := harness.Call{Tool: "write_file", Args: map[string]any{"path": "b.txt", "content": lineOf("b", 201)}} // so that there is a history
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
