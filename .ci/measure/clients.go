package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// transports are the ways by which clients reach a server.
var transports = []string{"stdio", "http"}

// endpoint is where a client finds a server: a program, or a URL.
type endpoint struct {
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	URL     string   `json:"url,omitempty"`
	Token   string   `json:"token,omitempty"` // "" = the server wants none
}

// bench is a workspace and the servers on it that a client is tried with. The
// server "catalog" is toolcrib; the others are toys of this program.
type bench struct {
	transport, dir string
	servers        map[string]endpoint
	running        []*listening // over HTTP
}

// bench sets up a workspace with one file, and the servers on it.
func (e environment) bench(ctx context.Context, transport string, toys ...string) (*bench, error) {
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
			program = e.toolcrib(dir).args
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
func (e environment) overEach(ctx context.Context, try func(b *bench) (cells string, err error), toys ...string) error {
	for _, transport := range transports {
		b, err := e.bench(ctx, transport, toys...)
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

// sample is a small workspace.
func sample() (string, error) {
	dir, err := os.MkdirTemp("", "sample")
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hello, world\n"), 0o644)
}

// listening is a server on HTTP.
type listening struct {
	endpoint
	cmd *exec.Cmd

	read   chan struct{} // closed at the end of stderr
	mu     sync.Mutex
	stderr bytes.Buffer // after the lines that say where it listens
}

// listen starts a server that says on stderr where it listens and, if there is
// one, with which token.
func listen(ctx context.Context, token bool, program ...string) (*listening, error) {
	l := &listening{cmd: exec.CommandContext(ctx, program[0], program[1:]...), read: make(chan struct{})}
	l.cmd.Env = append(os.Environ(), "TOOLCRIB_TOKEN=") // it makes one
	pipe, err := l.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := l.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan struct{})
	go func() {
		defer close(l.read)
		for lines := bufio.NewScanner(pipe); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), " ")
			switch {
			case name == "listening" && l.URL == "":
				l.URL = strings.TrimPrefix(value, "on ")
			case name == "token" && token && l.Token == "":
				l.Token = value
			default:
				l.mu.Lock()
				fmt.Fprintln(&l.stderr, lines.Text())
				l.mu.Unlock()
				continue
			}
			if l.URL != "" && (!token || l.Token != "") {
				close(ready)
			}
		}
	}()
	select {
	case <-ready:
		return l, nil
	case <-l.read:
	case <-time.After(10 * time.Second):
	}
	_ = l.cmd.Process.Kill() // it may have ended by itself
	<-l.read
	return nil, fmt.Errorf("%s does not say where it listens: %w: %s", program[0], l.cmd.Wait(), &l.stderr)
}

// stop ends the server as a service manager does, and returns what it said
// since it listens.
func (l *listening) stop() error {
	if err := l.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	late := time.AfterFunc(10*time.Second, func() { _ = l.cmd.Process.Kill() }) // it may end meanwhile
	defer late.Stop()
	<-l.read
	if err := l.cmd.Wait(); err != nil {
		return fmt.Errorf("the server at %s ended with %w: %s", l.URL, err, &l.stderr)
	}
	if l.stderr.Len() > 0 {
		return fmt.Errorf("the server at %s said: %s", l.URL, &l.stderr)
	}
	return nil
}

// node runs a node program of the cache and returns its output.
func (e environment) node(ctx context.Context, dir string, vars []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, e.npm(".bin/node"), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), vars...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%w: %s%s", err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
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

// temporary returns a directory for the settings of a client, and how to remove it.
func temporary(name string) (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp("", name)
	return dir, func() { _ = os.RemoveAll(dir) }, err
}

// String is what the server has said since it listens.
func (l *listening) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stderr.String()
}
