package harness

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Endpoint is where a client finds a server: a program, or a URL.
type Endpoint struct {
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	URL     string   `json:"url,omitempty"`
	Token   string   `json:"token,omitempty"` // "" = the server wants none
}

// Listening is a server on HTTP.
type Listening struct {
	Endpoint
	Cmd *exec.Cmd

	read   chan struct{} // closed at the end of stderr
	mu     sync.Mutex
	stderr bytes.Buffer // after the lines that say where it listens
}

// Listen starts a server that says on stderr where it listens and, if there is
// one, with which token.
func Listen(ctx context.Context, token bool, program ...string) (*Listening, error) {
	l := &Listening{Cmd: exec.CommandContext(ctx, program[0], program[1:]...), read: make(chan struct{})}
	l.Cmd.Env = append(os.Environ(), "TOOLCRIB_TOKEN=") // it makes one
	pipe, err := l.Cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := l.Cmd.Start(); err != nil {
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
	_ = l.Cmd.Process.Kill() // it may have ended by itself
	<-l.read
	return nil, fmt.Errorf("%s does not say where it listens: %w: %s", program[0], l.Cmd.Wait(), &l.stderr)
}

// Stop ends the server as a service manager does, and returns what it said
// since it listens.
func (l *Listening) Stop() error {
	if err := l.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	late := time.AfterFunc(10*time.Second, func() { _ = l.Cmd.Process.Kill() }) // it may end meanwhile
	defer late.Stop()
	<-l.read
	if err := l.Cmd.Wait(); err != nil {
		return fmt.Errorf("the server at %s ended with %w: %s", l.URL, err, &l.stderr)
	}
	if l.stderr.Len() > 0 {
		return fmt.Errorf("the server at %s said: %s", l.URL, &l.stderr)
	}
	return nil
}

// String is what the server has said since it listens.
func (l *Listening) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stderr.String()
}

// Addr is the host and port of a server.
func (l *Listening) Addr() (string, error) {
	u, err := url.Parse(l.URL)
	if err != nil {
		return "", err
	}
	return u.Host, nil
}

// FreePort is a port of this machine that nothing listens at.
func FreePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}
