package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"toolcrib/workspace/protect"
)

// WorkspaceFile is the configuration at the top of a root. It is a protected path, see
// [protect.ByName].
const WorkspaceFile = ".toolcrib.yaml"

// The most bytes of files that are read.
const (
	maxUserFile      = 1 << 20
	maxWorkspaceFile = 64 << 10
	maxSecretFile    = 64 << 10
)

// userFile returns the user's file of configuration: the one that is named, else the
// usual one where it exists, else "".
func (e *Env) userFile(named string) (string, error) {
	if named != "" {
		return filepath.Abs(named)
	}
	name := e.UsualFile()
	if name == "" {
		return "", nil
	}
	switch _, err := os.Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil: // to go on would ignore its settings
		return "", fmt.Errorf("the configuration cannot be read: %w", err)
	}
	return name, nil
}

// UsualFile is where the user's configuration is looked for, "" where the user has no
// such place.
func (e *Env) UsualFile() string {
	home, err := e.Home()
	if err != nil {
		return ""
	}
	return filepath.Join(home.Config(), "toolcrib", "config.yaml")
}

// readOwn reads a file of the user's. private says that nobody else can read it. One that
// everybody could write is refused.
func readOwn(name string, limit int64) (data []byte, private bool, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() && name != os.DevNull { // opening a pipe would wait
		return nil, false, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, false, err
	}
	perm := info.Mode().Perm()
	if info.Mode().IsRegular() && runtime.GOOS != "windows" && perm&0o002 != 0 {
		return nil, false, fmt.Errorf("%s can be written by everybody, so that it does not count; chmod o-w %s", name, ShellWord(name))
	}
	data, err = readBounded(f, name, limit)
	return data, runtime.GOOS == "windows" || perm&0o077 == 0, err
}

func readBounded(f *os.File, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return data, err
}

// readSecret returns the contents of a file that only its owner can read, without the
// line end.
func readSecret(name string) (string, error) {
	data, private, err := readOwn(name, maxSecretFile)
	switch {
	case err != nil:
		return "", err
	case !private:
		return "", fmt.Errorf("%s can be read by others; chmod 600 %s", name, ShellWord(name))
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

// readWorkspaceFile returns the configuration at the top of a root, nil if there is
// none. A link is refused, since its target would not be protected.
func readWorkspaceFile(root string) ([]byte, error) {
	name := filepath.Join(root, WorkspaceFile)
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, BadRoot(err)
	}
	defer dir.Close()
	before, err := dir.Lstat(WorkspaceFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !before.Mode().IsRegular():
		return nil, fmt.Errorf("%s must be a regular file, not a link or anything else", name)
	}
	f, err := dir.Open(WorkspaceFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !os.SameFile(before, info) {
		return nil, errors.Join(err, fmt.Errorf("%s was exchanged while it was read", name))
	}
	return readBounded(f, name, maxWorkspaceFile)
}

// outside refuses files of configuration that tools could change, or read a secret in.
func (s *Sources) outside(l *Loaded, name string) error {
	if root, rel := within(name, s.roots); root != "" {
		switch where := l.Doc.Clear(); {
		case where != "":
			return fmt.Errorf("%s: the secret is inside the root %s, where tools could read it; write {file: PATH}, outside of the roots", where, root)
		case l.AllowProtected || !protect.ByName(rel, false):
			return fmt.Errorf("the configuration %s is inside the root %s, where tools could change it; keep it elsewhere", name, root)
		}
	}
	for _, secret := range l.Doc.SecretFiles {
		secret = under(filepath.Dir(name), secret)
		if root, _ := within(secret, s.roots); root != "" {
			return fmt.Errorf("the secret %s is inside the root %s, where tools could read it; keep it elsewhere", secret, root)
		}
	}
	return nil
}

// within returns the root that contains a file, by any of its names, and the file's path
// below it; "" if none does.
func within(name string, roots []string) (root, rel string) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	for rel, dir := filepath.Base(name), filepath.Dir(name); ; {
		here, err := os.Stat(dir)
		for _, root := range roots {
			if there, failed := os.Stat(root); err == nil && failed == nil && os.SameFile(here, there) {
				return root, filepath.ToSlash(rel)
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", ""
		}
		rel, dir = filepath.Join(filepath.Base(dir), rel), up
	}
}
