package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// folder is where the daemons of a user are, below the directory of state. The name is older than
// the term; daemons that run now are found by it.
const folder = "keepers"

// Dir is a directory of daemons, which nobody but its user can enter.
type Dir struct{ dir string }

// Open makes the place below the first of the bases in which a socket can have a name;
// the system bounds the length of these.
func Open(bases ...string) (*Dir, error) {
	if err := Supported(); err != nil {
		return nil, err
	}
	for _, base := range bases {
		p := &Dir{filepath.Join(base, folder)}
		if len(p.file(strings.Repeat("k", keyLength), socketFile)) > longestSocket {
			continue
		}
		if err := os.MkdirAll(p.dir, 0o700); err != nil {
			return nil, err
		}
		return p, p.check()
	}
	return nil, fmt.Errorf("the state directory has too long a name for a socket: %s", strings.Join(bases, ", "))
}

// Existing returns the places below the bases that there are.
func Existing(bases ...string) (places []*Dir) {
	for _, base := range bases {
		p := &Dir{filepath.Join(base, folder)}
		if p.check() == nil {
			places = append(places, p)
		}
	}
	return places
}

// check refuses a directory that somebody else may have made or can enter.
func (p *Dir) check() error {
	info, err := os.Lstat(p.dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !own(info) {
		return fmt.Errorf("%s must be a directory that only you can enter: chmod 700, or remove it", p.dir)
	}
	return nil
}

// Kinds of files of a key.
const (
	socketFile = ".sock"
	lockFile   = ".lock"
	logFile    = ".log"
)

func (p *Dir) file(key, kind string) string { return filepath.Join(p.dir, key+kind) }

// keys returns the keys that have a file of a kind.
func (p *Dir) keys(kind string) []string {
	names, _ := filepath.Glob(filepath.Join(escaped(p.dir), "*"+kind)) // the pattern is right
	for i, name := range names {
		names[i] = strings.TrimSuffix(filepath.Base(name), kind)
	}
	return names
}

// escaped is a path as a pattern that only it matches.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// lock is held until it is closed here and in whomever it was handed to.
type lock struct{ f *os.File }

// lock waits for the lock of a key.
func (p *Dir) lock(ctx context.Context, key string) (*lock, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lockWait, fmt.Errorf("another process holds %s for longer than %s", p.file(key, lockFile), lockWait))
	defer cancel()
	for {
		f, err := os.OpenFile(p.file(key, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		for {
			ok, err := tryLock(f)
			if err == nil && !ok {
				err = wait(ctx, 2*time.Millisecond)
			}
			if err != nil {
				return nil, errors.Join(err, f.Close())
			}
			if ok {
				break
			}
		}
		// A process that cleans up may have removed the name meanwhile.
		opened, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if named, err := os.Lstat(f.Name()); err == nil && os.SameFile(opened, named) {
			return &lock{f}, nil
		}
		_ = f.Close() // nothing was written
	}
}

func (l *lock) unlock() { _ = l.f.Close() } // nothing was written

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// old is when the files of a key go that has no daemon any more.
const old = 7 * 24 * time.Hour

// sweep removes what daemons have left that ended long ago.
func (p *Dir) sweep() {
	for _, key := range p.keys(logFile) {
		info, err := os.Lstat(p.file(key, logFile))
		if err != nil || time.Since(info.ModTime()) < old {
			continue
		}
		f, err := os.OpenFile(p.file(key, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			continue
		}
		if ok, err := tryLock(f); ok && err == nil {
			if _, err := os.Lstat(p.file(key, socketFile)); errors.Is(err, fs.ErrNotExist) {
				_ = os.Remove(p.file(key, logFile)) // if it cannot be removed, the next cleaning tries again
				_ = os.Remove(p.file(key, lockFile))
			}
		}
		_ = f.Close() // nothing was written
	}
}
