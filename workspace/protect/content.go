package protect

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/repository"
)

// maxGitConfig limits the bytes read of a git configuration file, maxGitConfigs the files that
// include each other.
const (
	maxGitConfig  = 1 << 20
	maxGitConfigs = 100
)

// decides reports whether a path below r, free of links, decides which programs run though
// its text does not show it: it is the target of a protected link at the top of r, belongs
// to a repository without a .git, or the configuration of a repository above it names it
// for hooks or as more configuration. mayBeDirectory is that of [ByName].
func (r Root) decides(rel string, mayBeDirectory bool) bool {
	if r.linkedTo(rel, mayBeDirectory) || r.inRepository(rel, mayBeDirectory) {
		return true
	}
	for dir := path.Dir(rel); ; dir = path.Dir(dir) {
		gitDir := path.Join(dir, ".git")
		if _, err := r.Lstat(path.Join(gitDir, "config")); err != nil {
			gitDir = dir
		}
		if gitDir != dir || r.isRepository(dir) {
			if gitDir == dir && repository.Decides(strings.TrimPrefix(rel, dir+"/"), mayBeDirectory) {
				return true
			}
			if slices.ContainsFunc(r.named(path.Join(gitDir, "config"), dir, map[string]bool{}), func(at string) bool { return overlaps(at, rel, mayBeDirectory) }) {
				return true
			}
		}
		if dir == "." {
			return false
		}
	}
}

// overlaps reports whether rel is at or below it; if it may be a directory, also whether it
// holds at.
func overlaps(at, rel string, mayBeDirectory bool) bool {
	if _, ok := fsys.Below(at, rel); ok {
		return true
	}
	_, ok := fsys.Below(rel, at)
	return mayBeDirectory && ok
}

// linkedTo reports whether a protected path at the top of r is a link that leads to rel.
func (r Root) linkedTo(rel string, mayBeDirectory bool) bool {
	for _, parts := range protected {
		if _, err := r.Lstat(parts[0]); err != nil {
			continue
		}
		name := path.Join(parts...)
		at, inside, err := r.Follow(name)
		if errors.Is(err, fs.ErrNotExist) { // a change may make the target of the link
			if text, err := r.Readlink(name); err == nil && !path.IsAbs(text) {
				at, inside = path.Join(path.Dir(name), text), true
			}
		} else if err != nil {
			continue
		}
		if inside && at != name && overlaps(at, rel, mayBeDirectory) {
			return true
		}
	}
	return false
}

// inRepository reports whether r is in a repository without a .git and rel decides there
// which programs run.
func (r Root) inRepository(rel string, mayBeDirectory bool) bool {
	for above, below := path.Dir(r.Canonical), path.Join(path.Base(r.Canonical), rel); above != path.Dir(above); above, below = path.Dir(above), path.Join(path.Base(above), below) {
		if _, err := os.Lstat(filepath.FromSlash(path.Join(above, "HEAD"))); err != nil {
			continue
		}
		host, err := os.OpenRoot(filepath.FromSlash(above))
		if err != nil {
			continue
		}
		b, err := fsys.OpenPortable(host)
		if err != nil {
			host.Close()
			continue
		}
		is := Root{Root: b}.isRepository(".")
		b.Close()
		if is && repository.Decides(below, mayBeDirectory) {
			return true
		}
	}
	return false
}

// isRepository reports whether git takes a directory for a repository.
func (r Root) isRepository(dir string) bool {
	head := path.Join(dir, "HEAD")
	info, err := r.Lstat(head)
	if err != nil {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := r.Stat(path.Join(dir, name)); err != nil || info.Kind != fsys.KindDirectory {
			return false
		}
	}
	if info.Kind == fsys.KindSymlink {
		to, err := r.Readlink(head)
		return err == nil && strings.HasPrefix(to, "refs/")
	}
	return repository.ValidHead(r.readConfig(head))
}

// named returns the paths below r that a git configuration file names as hooks of the worktree
// top, or as more configuration. It reads each file only once.
func (r Root) named(file, top string, read map[string]bool) (list []string) {
	if read[file] || len(read) >= maxGitConfigs {
		return nil
	}
	read[file] = true
	c := repository.Parse(string(r.readConfig(file)))
	add := func(dir, name string) string {
		if path.IsAbs(name) {
			rel, ok := fsys.Below(r.Canonical, path.Clean(name))
			if !ok {
				return ""
			}
			dir, name = ".", rel
		}
		at := path.Join(dir, name)
		if at == "." || at == ".." || strings.HasPrefix(at, "../") {
			return ""
		}
		list = append(list, at)
		return at
	}
	if c.HooksPath != "" {
		add(top, c.HooksPath)
	}
	for _, name := range c.Includes {
		if at := add(path.Dir(file), name); at != "" {
			list = append(list, r.named(at, top, read)...)
		}
	}
	return list
}

// readConfig reads a small file; nil if it cannot be read.
func (r Root) readConfig(rel string) []byte {
	f, err := fsys.OpenFile(r.Root, rel)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxGitConfig))
	if err != nil {
		return nil
	}
	return data
}
