package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// toolUser calls the tools of one server. It may be used by several goroutines.
type toolUser struct {
	*client
	last atomic.Int64
	// took is how long the last call took, for who makes one at a time: until the
	// whole answer was there, not until this program had understood it.
	took atomic.Int64 // nanoseconds
}

// useTools starts a server and opens the session.
func useTools(ctx context.Context, p program) (*toolUser, error) {
	c, err := dial(ctx, nil, p.args[0], p.args[1:]...)
	if err != nil {
		return nil, err
	}
	if err := c.initialize(); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return &toolUser{client: c}, nil
}

// use makes one call. A tool that fails is an answer, not an error.
func (u *toolUser) use(tool string, args map[string]any) (toolAnswer, error) {
	begin := time.Now()
	m, err := u.call(int(u.last.Add(1)), "tools/call", map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return toolAnswer{}, fmt.Errorf("%s: %w", tool, err)
	}
	u.took.Store(int64(m.arrived.Sub(begin)))
	if !utf8.Valid(m.Result) {
		return toolAnswer{}, fmt.Errorf("%s: the result is not UTF-8: %.300q", tool, m.Result)
	}
	return toolResult(m)
}

// must makes one call that is to succeed and returns its text.
func (u *toolUser) must(tool string, args map[string]any) (string, error) {
	a, err := u.use(tool, args)
	if err == nil && a.failed {
		err = fmt.Errorf("%s: %s", tool, a.text)
	}
	return a.text, err
}

// writer is toolcrib with leave to change what is below dir. Its state lies beside
// dir.
func (e environment) writer(dir string, flags ...string) program {
	args := append([]string{e.Binary, "serve", "--confirm", "client", "--state-dir", dir + ".state"}, flags...)
	return program{"toolcrib", append(args, dir)}
}

// scratch makes a directory on the disk of the cache, which is not a tmpfs where
// /tmp may be one, and in it one for the files of a server.
func (e environment) scratch(name string) (base, dir string, err error) {
	if base, err = os.MkdirTemp(e.Cache, name+"-"); err != nil {
		return "", "", err
	}
	dir = filepath.Join(base, "files")
	return base, dir, os.Mkdir(dir, 0o755)
}

// peakResident is the most memory that a process has had at once, in MB.
func peakResident(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		var kB float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kB); n == 1 {
			return kB / 1024, nil
		}
	}
	return 0, errors.New("the kernel does not tell the peak of a process's memory")
}

// brief is the beginning of a text, for a message.
func brief(text string) string { return fmt.Sprintf("%.600s", text) }
