package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox/internal/sandboxinit"
)

// probeTime is how long the self-test may take.
const probeTime = 20 * time.Second

// test runs the self-test, which tries forbidden actions from inside. A self-test without
// findings is remembered for this kernel, this binary and this user.
func (z *zygote) test(s *tools.SessionInfo) error {
	if z.opt.Level == None {
		return nil
	}
	what, err := identity(z.opt.Level)
	if err != nil {
		return err
	}
	if z.engine.tested(s, what) {
		return nil
	}
	targets, done, err := z.targets()
	if err != nil {
		return fmt.Errorf("the self-test of the sandbox: %w", err)
	}
	defer done()
	found, err := z.probe(targets)
	if err != nil {
		return &UnavailableError{Level: z.opt.Level, Missing: "its self-test cannot run", Err: err}
	}
	if found != sandboxinit.Passed {
		return &UnavailableError{Level: z.opt.Level, Missing: "its self-test found that " + strings.Join(strings.Split(strings.TrimSpace(found), "\n"), "; ")}
	}
	return z.engine.remember(s, what)
}

// probe runs the self-test and returns its output.
func (z *zygote) probe(t sandboxinit.Targets) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	defer w.Close()
	control, theirs, err := pair()
	if err != nil {
		return "", err
	}
	c := sandboxinit.Probe(t, "/")
	c.Env = append(c.Env, z.environ(z.opt.Env, nil)...)
	p, err := z.run(ctx, c, "", nil, false, control, theirs, []int{int(w.Fd())})
	if err != nil {
		return "", err
	}
	w.Close()
	stop := context.AfterFunc(ctx, p.Kill)
	defer stop()
	out, err := io.ReadAll(io.LimitReader(r, 64<<10))
	<-p.Done()
	switch {
	case err != nil || len(out) > 0:
	case ctx.Err() != nil:
		err = fmt.Errorf("it has not ended within %s; the machine may be very busy: call again", probeTime)
	default:
		err = fmt.Errorf("it ended with code %d and said nothing", p.Exit().Code)
	}
	return string(out), err
}

// targets makes the targets of the self-test; done removes them.
func (z *zygote) targets() (t sandboxinit.Targets, done func(), err error) {
	t = sandboxinit.Targets{Level: z.opt.Level.String(), File: filepath.Join(z.temp.path, "file"), Socket: filepath.Join(z.temp.path, "s"), Abstract: "toolcrib-" + rand.Text(), Server: os.Getpid(), Namespaces: sandboxinit.Namespaces()}
	var opened []io.Closer
	done = func() {
		for _, c := range opened {
			if err := c.Close(); err != nil {
				z.opt.Log.Debug("the self-test of the sandbox", "err", err)
			}
		}
		if err := os.Remove(t.File); err != nil {
			z.opt.Log.Debug("the self-test of the sandbox", "err", err)
		}
	}
	if err := errors.Join(os.WriteFile(t.File, []byte("outside\n"), 0o600), os.Chmod(t.File, 0o666)); err != nil {
		return t, nil, err
	}
	for _, at := range [][2]string{{"unix", t.Socket}, {"unix", "@" + t.Abstract}, {"tcp", "127.0.0.2:0"}} {
		l, err := new(net.ListenConfig).Listen(context.Background(), at[0], at[1])
		if err != nil {
			done()
			return t, nil, err
		}
		opened = append(opened, l)
		if tcp, ok := l.Addr().(*net.TCPAddr); ok {
			t.Port = tcp.Port
		}
	}
	return t, done, nil
}

// identity identifies the system on which the self-test ran.
func identity(level Level) (string, error) {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return "", err
	}
	var st unix.Stat_t
	if err := unix.Stat("/proc/self/exe", &st); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s %s %d:%d:%d:%d.%d uid=%d landlock=%d", level,
		unix.ByteSliceToString(name.Release[:]), unix.ByteSliceToString(name.Version[:]),
		st.Dev, st.Ino, st.Size, st.Mtim.Sec, st.Mtim.Nsec, os.Geteuid(), sandboxinit.LandlockVersion()), nil
}

// testedFile holds the identities for which the self-test found nothing, a line each.
const testedFile = "tested"

func (e *Engine) tested(s *tools.SessionInfo, what string) bool {
	e.mu.Lock()
	known := e.platform.tested[what]
	e.mu.Unlock()
	if known {
		return true
	}
	dir, err := s.Workspace.State()
	if err != nil {
		return false
	}
	folder, err := dir.Folder("sandbox")
	if err != nil {
		return false
	}
	defer folder.Close()
	data, err := folder.ReadFile(testedFile)
	return err == nil && strings.Contains("\n"+string(data), "\n"+what+"\n")
}

func (e *Engine) remember(s *tools.SessionInfo, what string) error {
	e.mu.Lock()
	if e.platform.tested == nil {
		e.platform.tested = map[string]bool{}
	}
	e.platform.tested[what] = true
	e.mu.Unlock()
	dir, err := s.Workspace.State()
	if err != nil {
		return nil //nolint:nilerr // no state is kept; the next process tests again
	}
	folder, err := dir.Folder("sandbox")
	if err != nil {
		return err
	}
	defer folder.Close()
	const most = 16 << 10
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if info, err := folder.Stat(testedFile); err == nil && info.Size() > most {
		flags |= os.O_TRUNC
	}
	f, err := folder.OpenFile(testedFile, flags, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(what + "\n")
	return errors.Join(err, f.Close())
}
