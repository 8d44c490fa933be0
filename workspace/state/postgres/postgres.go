// Package postgres starts servers of PostgreSQL for tests and figures. No part of the program
// imports it.
//
// A server has a directory and a port of its own, and runs as an ordinary user, which
// PostgreSQL wants: as this one, or as nobody if this one is root. Start at [Start].
package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrMissing says that the programs of PostgreSQL are not installed.
var ErrMissing = errors.New("PostgreSQL is not installed: no initdb was found")

// Server is a running PostgreSQL.
type Server struct {
	dir  string
	port int
	bin  string
}

// Start makes a database in a new directory and starts a server for it. The caller removes
// it. The error is ErrMissing on a machine without PostgreSQL.
func Start(ctx context.Context) (_ *Server, err error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "postgres-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Remove(context.WithoutCancel(ctx)))
		}
	}()
	if err := own(dir); err != nil {
		return nil, err
	}
	if err := s.run(ctx, "initdb", "-D", s.data(), "-U", "toolcrib", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"); err != nil {
		return nil, err
	}
	if s.port, err = freePort(); err != nil {
		return nil, err
	}
	return s, s.Restart(ctx)
}

// URL is how clients reach the server.
func (s *Server) URL() string {
	return fmt.Sprintf("postgres://toolcrib@127.0.0.1:%d/postgres?sslmode=disable", s.port)
}

// Restart starts the server if it was stopped, and waits until it answers.
func (s *Server) Restart(ctx context.Context) error {
	options := fmt.Sprintf("-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200", s.port)
	return s.run(ctx, "pg_ctl", "-D", s.data(), "-l", filepath.Join(s.dir, "log"), "-o", options, "-w", "-t", "60", "start")
}

// Stop ends the server and all of its connections at once; what was committed stays.
func (s *Server) Stop(ctx context.Context) error { return s.stop(ctx, "fast") }

// Crash ends the server as a failure of the machine's software would: it has to recover.
func (s *Server) Crash(ctx context.Context) error { return s.stop(ctx, "immediate") }

func (s *Server) stop(ctx context.Context, mode string) error {
	return s.run(ctx, "pg_ctl", "-D", s.data(), "-m", mode, "-w", "stop")
}

// PID is the process of the server; its children have connections. 0 = it does not run.
func (s *Server) PID() int {
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return pid
}

// Remove stops the server and removes its directory.
func (s *Server) Remove(ctx context.Context) error {
	var err error
	if s.PID() != 0 {
		err = s.Crash(ctx)
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// run runs a program of PostgreSQL. A server that it starts outlives it, so the output goes
// to a file: a pipe would be kept open.
func (s *Server) run(ctx context.Context, program string, args ...string) error {
	out, err := os.Create(filepath.Join(s.dir, "out"))
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, program), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, out, out
	cmd.SysProcAttr = asUser()
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(out.Name())
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		return fmt.Errorf("%s: %w\n%s%s", program, err, said, log[max(0, len(log)-2000):])
	}
	return nil
}

// programs returns the directory of the programs: the newest of Debian's, or that of PATH.
func programs() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		return filepath.Dir(slices.Max(found)), nil
	}
	file, err := exec.LookPath("initdb")
	if err != nil {
		return "", ErrMissing
	}
	return filepath.Dir(file), nil
}

// freePort returns a free port below those that systems hand out: one of these could go to
// another program before the server has started, or while it is stopped.
func freePort() (port int, err error) {
	for range 100 {
		port = 20_000 + rand.IntN(10_000)
		var l net.Listener
		if l, err = net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, err
}
