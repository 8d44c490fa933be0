package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// endpoint is where a client finds a server: a program, or a URL.
type endpoint struct {
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	URL     string   `json:"url,omitempty"`
	Token   string   `json:"token,omitempty"` // "" = the server wants none
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

// String is what the server has said since it listens.
func (l *listening) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stderr.String()
}

// addr is the host and port of a server.
func (l *listening) addr() (string, error) {
	u, err := url.Parse(l.URL)
	if err != nil {
		return "", err
	}
	return u.Host, nil
}
