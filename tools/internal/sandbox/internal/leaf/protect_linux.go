package leaf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// protect makes what decides which programs run later readable alone below a root.
func (t *tree) protect(root string) error {
	for _, rel := range t.view.Protect {
		if rel == ".git" {
			if err := t.protectGit(join(root, rel)); err != nil {
				return err
			}
			continue
		}
		if err := bindOver(root, rel, true); err != nil {
			return fmt.Errorf("protect %s: %w", join(root, rel), err)
		}
	}
	return nil
}

// protectGit keeps the configuration and the hooks of a repository. Commits need all
// else to be writable. That it is a mount point keeps it from being moved away.
func (t *tree) protectGit(git string) error {
	info, err := os.Lstat(git)
	if err != nil {
		return nil
	}
	root := filepath.Dir(git)
	if !info.IsDir() { // the file of a worktree or submodule
		return bindOver(root, ".git", true)
	}
	if err := bindOver(root, ".git", false); err != nil {
		return fmt.Errorf("protect %s: %w", git, err)
	}
	list := []string{"config", "config.worktree", "hooks", "commondir"}
	for _, pattern := range []string{"modules/*/config", "modules/*/hooks", "modules/*/*/config", "modules/*/*/hooks", "worktrees/*/config.worktree"} {
		found, err := filepath.Glob(join(git, pattern))
		if err != nil {
			return err
		}
		for _, name := range found {
			list = append(list, strings.TrimPrefix(name, git+"/"))
		}
	}
	for _, rel := range list {
		if err := bindOver(git, rel, true); err != nil {
			return fmt.Errorf("protect %s: %w", join(git, rel), err)
		}
	}
	return nil
}

// bindOver mounts what lies at a path below a directory over itself, where it exists and
// no link is on the way.
func bindOver(dir, rel string, ro bool) error {
	base, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(base)
	fd, err := unix.Openat2(base, rel, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
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
