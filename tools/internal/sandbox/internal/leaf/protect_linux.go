package leaf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// protect makes what decides which programs run later readable alone in a directory; of
// a repository with those of its submodules and worktrees, where all is set. It can be
// called again: what another program has replaced meanwhile is no mount any more.
func (t *tree) protect(dir string, all bool) error {
	for _, rel := range t.view.Protect {
		if rel == git {
			if err := t.protectGit(dir, all); err != nil {
				return err
			}
			continue
		}
		if err := bindOver(dir, rel, true); err != nil {
			return fmt.Errorf("protect %s: %w", join(dir, rel), err)
		}
	}
	return nil
}

// git is the name of what makes a directory a repository.
const git = ".git"

// protectGit keeps the configuration and the hooks of the repository that a directory is
// the top of. Commits need all else to be writable. That .git is a mount point keeps it
// from being moved away.
func (t *tree) protectGit(dir string, all bool) error {
	deep := 0
	if all {
		deep = deepest
	}
	path := join(dir, git)
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	if info.IsDir() {
		if err := bindOver(dir, git, false); err != nil {
			return fmt.Errorf("protect %s: %w", path, err)
		}
		return t.protectRepository(path, deep)
	}
	if err := bindOver(dir, git, true); err != nil { // the file of a worktree or submodule
		return fmt.Errorf("protect %s: %w", path, err)
	}
	to := ledTo(path)
	if to == "" || !t.inRoots(to) {
		return nil
	}
	if main := filepath.Dir(to); filepath.Base(main) == "worktrees" {
		to = filepath.Dir(main)
	}
	return t.protectRepository(to, deep)
}

// ledTo returns where the .git file of a worktree or submodule leads, "" where it does
// not.
func ledTo(file string) string {
	f, err := openPlain(file, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return ""
	}
	defer f.Close()
	line := make([]byte, unix.PathMax)
	n, err := f.Read(line)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(line[:n])), "gitdir: ")
	if err != nil || !ok {
		return ""
	}
	if !filepath.IsAbs(to) {
		to = join(filepath.Dir(file), to)
	}
	return filepath.Clean(to)
}

func (t *tree) inRoots(path string) bool {
	for _, d := range t.view.Roots {
		for _, name := range append([]string{d.Path}, d.At...) {
			if inside(path, name) {
				return true
			}
		}
	}
	return false
}

// deepest bounds how far below a repository those of its submodules are looked for.
const deepest = 6

// protectRepository keeps what decides in a repository which programs run: its own, and
// unless deep is 0 that of its worktrees and of its submodules.
func (t *tree) protectRepository(dir string, deep int) error {
	if t.repositories++; t.repositories > maxRepositories {
		if t.repositories == maxRepositories+1 {
			t.note("more than %d repositories: not all are protected from programs", maxRepositories)
		}
		return nil
	}
	list := []string{"config", "config.worktree", "hooks", "commondir"}
	if deep > 0 {
		for _, e := range listed(join(dir, "worktrees")) {
			for _, name := range []string{"config.worktree", "commondir", "gitdir"} {
				list = append(list, "worktrees/"+e.Name()+"/"+name)
			}
		}
	}
	for _, rel := range list {
		if err := bindOver(dir, rel, true); err != nil {
			return fmt.Errorf("protect %s: %w", join(dir, rel), err)
		}
	}
	if deep == 0 {
		return nil
	}
	return t.protectModules(join(dir, "modules"), deep)
}

// maxRepositories bounds the mounts that each program starts with.
const maxRepositories = 500

// protectModules finds the repositories of submodules, whose names may have several parts.
func (t *tree) protectModules(dir string, deep int) error {
	for _, e := range listed(dir) {
		path := join(dir, e.Name())
		if !e.IsDir() || deep == 0 {
			continue
		}
		find := t.protectModules
		if isRepository(listed(path)) {
			find = t.protectRepository
		}
		if err := find(path, deep-1); err != nil {
			return err
		}
	}
	return nil
}

// isRepository tells a repository by what it holds.
func isRepository(entries []os.DirEntry) bool {
	found := 0
	for _, e := range entries {
		switch e.Name() {
		case "HEAD", "objects", "refs":
			found++
		}
	}
	return found == 3
}

// openPlain opens what no link is on the way to.
func openPlain(path string, flags int) (*os.File, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// listed reads a directory, in the order of the file system; nothing where it cannot be.
func listed(dir string) []os.DirEntry {
	f, err := openPlain(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil
	}
	return entries
}

// bindOver mounts what lies at a path below a directory over itself, where it exists, is
// none yet, and no link is on the way.
func bindOver(dir, rel string, ro bool) error {
	if done, err := isMount(join(dir, rel), ro); done || absent(err) {
		return nil
	}
	base, err := openPlain(dir, unix.O_PATH|unix.O_DIRECTORY)
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer base.Close()
	fd, err := unix.Openat2(int(base.Fd()), rel, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	part, err := unix.OpenTree(fd, "", unix.AT_EMPTY_PATH|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return err
	}
	defer unix.Close(part)
	if ro {
		if err := unix.MountSetattr(part, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return err
		}
	}
	return unix.MoveMount(part, "", fd, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// isMount tells whether something is mounted at a path, and where ro is set whether it can
// only be read.
func isMount(path string, ro bool) (bool, error) {
	var at unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, 0, &at); err != nil || at.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0 || !ro {
		return err == nil && at.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0, err
	}
	var fs unix.Statfs_t
	err := unix.Statfs(path, &fs)
	return err == nil && fs.Flags&unix.ST_RDONLY != 0, err
}

func absent(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR)
}

// hideSockets covers sockets that can be seen: neither a mount that can only be read nor
// the private network keeps from connecting to one.
func hideSockets(paths []string) error {
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&os.ModeSocket == 0 {
			continue // it is hidden with what it lies in, or gone
		}
		if err := unix.Mount("/dev/null", path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("hide the socket %s: %w", path, err)
		}
	}
	return nil
}
