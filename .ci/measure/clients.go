package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// transports are the ways by which clients reach a server.
var transports = []string{"stdio", "http"}

// bench is a workspace and the servers on it that a client is tried with. The
// server "catalog" is toolcrib; the others are toys of this program.
type bench struct {
	transport, dir string
	servers        map[string]endpoint
	running        []*listening // over HTTP
}

// newBench sets up a workspace with one file, and the servers on it.
func newBench(ctx context.Context, env environment, transport string, toys ...string) (*bench, error) {
	dir, err := sample()
	if err != nil {
		return nil, err
	}
	b := &bench{transport: transport, dir: dir, servers: map[string]endpoint{}}
	self, err := os.Executable()
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	for _, name := range append([]string{"catalog"}, toys...) {
		program := []string{self, "serve", name, dir}
		if name == "catalog" {
			program = env.toolcrib(dir).args
		}
		if transport == "stdio" {
			b.servers[name] = endpoint{Command: program[0], Args: program[1:]}
			continue
		}
		program = append(program[:len(program)-1:len(program)-1], "--http", "127.0.0.1:0", dir)
		if name == "catalog" {
			program = append([]string{program[0], "serve"}, program[1:]...)
		}
		l, err := listen(ctx, name == "catalog", program...)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s over HTTP: %w", name, err), b.close())
		}
		b.running = append(b.running, l)
		b.servers[name] = l.endpoint
	}
	return b, nil
}

// overEach tries a client over every transport, each time on a bench of its own with
// toys, and prints a row: the transport and the cells that try returns.
func overEach(ctx context.Context, env environment, try func(b *bench) (cells string, err error), toys ...string) error {
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
		errs = append(errs, l.stop())
	}
	return errors.Join(errs...)
}

// wants words what a program has done wrong: it failed, or its output lacks
// what is wanted.
func wants(what, want, out string, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w: %s", what, err, out)
	case !strings.Contains(out, want):
		return fmt.Errorf("%s: no %q in %s", what, want, out)
	}
	return nil
}
