// Package state takes the figures about what outlives a call: values by key and memories, on
// both databases, with processes that are killed.
package state

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"toolcrib/.ci/measure/harness"
	"toolcrib/workspace/state/postgres"
)

// world is a root, a directory for state, and a database.
type world struct {
	env  harness.Environment
	name string
	base string
	url  string // of PostgreSQL; "" = that of the state directory
}

// onBoth runs f with the database of the state directory and with PostgreSQL.
func onBoth(ctx context.Context, env harness.Environment, own string, f func(context.Context, world) error) error {
	return harness.WithPostgres(ctx, func(server *postgres.Server) error {
		for _, w := range []world{{env: env, name: own}, {env: env, name: "PostgreSQL", url: server.URL()}} {
			if err := w.run(ctx, f); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
		return nil
	})
}

func (w world) run(ctx context.Context, f func(context.Context, world) error) error {
	base, _, err := w.env.Scratch("state")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	w.base = base
	return f(ctx, w)
}

// start starts a server of the world.
func (w world) start(ctx context.Context) (*harness.ToolUser, error) {
	cmd := exec.CommandContext(ctx, w.env.Binary, "serve", "--toolsets", "storage,memory,data", "--state-dir", filepath.Join(w.base, "kept"), filepath.Join(w.base, "files"))
	cmd.Env = append(os.Environ(), "TOOLCRIB_DATABASE="+w.url)
	return harness.UseCommand(cmd)
}

// kill ends a server as a failure would.
func kill(u *harness.ToolUser) error {
	if err := u.Cmd.Process.Kill(); err != nil {
		return err
	}
	<-u.Done
	_ = u.Cmd.Wait() // it was killed
	return nil
}
