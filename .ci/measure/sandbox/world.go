package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
)

// world is what lies around a sandbox.
type world struct {
	user                        int
	root, visible, hidden, home string
	state                       string
	closers                     []func() error
	port                        int
	abstract                    string
	victim                      string // what the victim is like
}

func newWorld(user int) (*world, error) {
	w := &world{user: user, abstract: fmt.Sprintf("toolcrib-figure-%d-%d", os.Getpid(), user)}
	if err := w.fill(); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *world) dir(base, pattern string) (string, error) {
	dir, err := os.MkdirTemp(base, pattern)
	if err != nil {
		return "", err
	}
	w.closers = append(w.closers, func() error { return os.RemoveAll(dir) })
	return dir, os.Chown(dir, w.user, -1)
}

// shelf is where every user may read.
func shelf() string {
	if os.Getuid() != 0 {
		return "/var/tmp"
	}
	return "/srv"
}

// bring copies a program to where the user can execute it.
func (w *world) bring(program string) (string, error) {
	dir, err := w.dir(shelf(), "toolcrib-program-")
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	there := filepath.Join(dir, filepath.Base(program))
	return there, errors.Join(os.WriteFile(there, data, 0o755), os.Chown(there, w.user, -1))
}

func (w *world) fill() error {
	visible := shelf()
	var err error
	for _, d := range []struct {
		to            *string
		base, pattern string
	}{{&w.visible, visible, "toolcrib-visible-"}, {&w.hidden, "", "toolcrib-hidden-"}, {&w.home, visible, "toolcrib-home-"}, {&w.state, "", "toolcrib-state-"}, {&w.root, "", "toolcrib-root-"}} {
		if *d.to, err = w.dir(d.base, d.pattern); err != nil {
			return err
		}
	}
	if err := os.Chmod(w.visible, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		w.visible + "/victim": "victim\n", w.visible + "/second": "second\n", w.hidden + "/secret": "secret\n", w.hidden + "/tmp/secret": "secret\n",
		w.home + "/.ssh/id_ed25519": "key\n", w.home + "/.netrc": "machine\n",
		w.root + "/attack.py": string(attackScript), w.root + "/.claude/settings.json": "{}\n",
		w.hidden + "/config.yaml": deniedPlaces, w.root + "/closed/key": "key\n", w.root + "/kept/file": "text\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := errors.Join(os.WriteFile(name, []byte(text), 0o666), os.Chmod(name, 0o666), os.Chown(name, w.user, -1), os.Chown(filepath.Dir(name), w.user, -1)); err != nil {
			return err
		}
	}
	if err := os.Chmod(w.hidden+"/config.yaml", 0o600); err != nil {
		return err
	}
	for _, dir := range []string{w.root, w.root + "/deep/repo"} {
		if err := w.as("git", "init", "-q", dir).Run(); err != nil {
			return fmt.Errorf("git init: %w", err)
		}
	}
	if err := w.as("sh", "-c", "mkdir "+w.root+"/deep/er && echo key > "+w.root+"/deep/er/token.secret").Run(); err != nil {
		return fmt.Errorf("make what the policy denies: %w", err)
	}
	w.victim = w.look()
	return w.listen()
}

// listen makes sockets of every kind that programs of the host listen on.
func (w *world) listen() error {
	for _, at := range [][2]string{{"unix", w.visible + "/sock"}, {"unix", "@" + w.abstract}, {"tcp", "127.0.0.1:0"}} {
		l, err := net.Listen(at[0], at[1])
		if err != nil {
			return err
		}
		w.closers = append(w.closers, l.Close)
		if tcp, ok := l.Addr().(*net.TCPAddr); ok {
			w.port = tcp.Port
		}
	}
	if l, err := net.Listen("tcp6", fmt.Sprintf("[::1]:%d", w.port)); err == nil {
		w.closers = append(w.closers, l.Close)
	}
	for _, at := range [][2]string{{"unixgram", w.visible + "/sock.d"}, {"udp", fmt.Sprintf("127.0.0.1:%d", w.port)}} {
		p, err := net.ListenPacket(at[0], at[1])
		if err != nil {
			return err
		}
		w.closers = append(w.closers, p.Close)
		go func() {
			var data [16]byte
			for {
				_, from, err := p.ReadFrom(data[:])
				if err != nil {
					return
				}
				_, _ = p.WriteTo([]byte("y"), from) // an attempt that wants it fails without
			}
		}()
	}
	return errors.Join(os.Chmod(w.visible+"/sock", 0o777), os.Chmod(w.visible+"/sock.d", 0o777))
}

func (w *world) close() error {
	var errs []error
	for _, c := range slices.Backward(w.closers) {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// as is a command of the user.
func (w *world) as(args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+w.home, "TOOLCRIB_MEASURE_SECRET=1", "MEASURE_SECRET_VALUE=x")
	if w.user != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(w.user), Gid: uint32(w.user)}}
		cmd.Env = append(cmd.Env, "PATH=/usr/local/bin:/usr/bin:/bin")
	}
	return cmd
}

// look describes the victim.
func (w *world) look() string {
	info, err := os.Lstat(w.visible + "/victim")
	if err != nil {
		return err.Error()
	}
	data, err := os.ReadFile(w.visible + "/victim")
	return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano(), string(data), err)
}

// unchanged checks from outside that nothing got out.
func (w *world) unchanged() error {
	if now := w.look(); now != w.victim {
		return fmt.Errorf("the file outside was %s and is %s", w.victim, now)
	}
	entries, err := os.ReadDir(w.visible)
	if err != nil {
		return err
	}
	if len(entries) != 4 {
		return fmt.Errorf("outside are now %d entries: %v", len(entries), entries)
	}
	for _, name := range []string{"/etc/toolcrib-escaped", "/usr/bin/toolcrib-escaped"} {
		if _, err := os.Lstat(name); err == nil {
			return fmt.Errorf("%s was made", name)
		}
	}
	return nil
}

// restore puts the victim back as it was, where only its mode and times could be changed.
func (w *world) restore() error {
	data, err := os.ReadFile(w.visible + "/victim")
	if err != nil || string(data) != "victim\n" {
		return fmt.Errorf("the file outside is %q: %w", data, err)
	}
	if err := os.Chmod(w.visible+"/victim", 0o666); err != nil {
		return err
	}
	w.victim = w.look()
	return nil
}
