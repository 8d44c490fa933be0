package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"toolcrib/tools/internal/programs/sandbox/internal/sandboxinit"
)

// temp is the temporary directory of a zygote on the host. Programs see "tmp" and "var" in it
// as /tmp and /var/tmp. Its lock is held as long as the server lives.
type temp struct {
	path string
	lock *os.File
}

const (
	tempPrefix = "toolcrib-box-"
	lockName   = "lock"
)

// newTemp makes a temp outside the roots, since programs of other workspaces could reach it
// there. It also removes the directories of killed servers.
func newTemp(roots []sandboxinit.Dir, state string) (*temp, error) {
	bases := []string{os.TempDir(), "/var/tmp"}
	if state != "" {
		bases = append(bases, state)
	}
	i := slices.IndexFunc(bases, func(dir string) bool { return !within(real(dir), roots) })
	if i < 0 {
		return nil, errors.New("there is no place for temporary files outside of the served directories; set TMPDIR to one")
	}
	base := real(bases[i])
	sweep(base)
	path, err := os.MkdirTemp(base, tempPrefix)
	if err != nil {
		return nil, err
	}
	t := &temp{path: path}
	if err := t.hold(); err != nil {
		return nil, errors.Join(err, t.remove())
	}
	for _, name := range []string{"tmp", "var"} {
		dir := filepath.Join(path, name)
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777|os.ModeSticky)); err != nil {
			return nil, errors.Join(err, t.remove())
		}
	}
	return t, nil
}

// hold locks the lock file before the file gets its name, because another server's sweep
// takes a lock that is not held for that of a dead server.
func (t *temp) hold() (err error) {
	making := filepath.Join(t.path, "making")
	if t.lock, err = os.OpenFile(making, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return err
	}
	if err := unix.Flock(int(t.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	return os.Rename(making, filepath.Join(t.path, lockName))
}

func (t *temp) remove() error {
	err := removeAll(t.path)
	if t.lock != nil {
		err = errors.Join(err, t.lock.Close())
	}
	return err
}

// removeAll removes a tree, even if a program has removed the owner's rights in it.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if err == nil {
		return nil
	}
	r, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer r.Close()
	open(r, ".")
	return os.RemoveAll(path)
}

// open gives the owner all rights to the directories below dir.
func open(r *os.Root, dir string) {
	f, err := r.Open(dir)
	if err != nil {
		return
	}
	entries, err := f.ReadDir(-1)
	f.Close()
	if err != nil {
		return
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if e.IsDir() && r.Chmod(name, 0o700) == nil {
			open(r, name)
		}
	}
}

// sweep removes this user's directories of dead servers.
func sweep(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) || !e.IsDir() {
			continue
		}
		path := filepath.Join(base, e.Name())
		if dead(path) {
			_ = removeAll(path) // the next sweep tries again
		}
	}
}

func dead(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() || !info.IsDir() {
		return false
	}
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false // it is being made, or it is not ours
	}
	defer lock.Close()
	return unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}
