package fileindex

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"toolcrib/workspace/ignore"
	"toolcrib/workspace/internal/fsys"
)

// This file and walk_git.go read the ignore files of a walk. Their rules change which entries
// a walk reports and nothing else; no result shows their text.
//
// Inside the roots, .gitignore, .ignore, .git/info/exclude, .git/config and the file
// that this names as core.excludesFile are read like any other file of the walk, relative to the open directory and never through a link.
// Outside the roots, these are read for their rules alone:
//
//   - .gitignore and .ignore of the directories above the root, from the top of the
//     repository that holds the root, if one does;
//   - info/exclude and config of a repository whose .git is above the root, or is a
//     file or link that names the git directory of a worktree or submodule elsewhere;
//   - the user's git configuration, for core.excludesFile, and the file it names.
//
// Hence .ignore files count from the root down, or from the top of the repository
// if that is higher. Includes in git's configuration are not followed, the
// configuration of the system is not read, and a core.excludesFile of a repository counts
// only if it is a file of that repository.

// maxRules is the size in bytes up to which an ignore file counts. Larger ones are ignored
// and named, as git does from 100 MB on.
const maxRules = 8 << 20

// outsideRules names all ignore files outside the roots that could not be applied. A walk
// must not show their paths.
const outsideRules = "an ignore file above the workspace"

var errRulesSize = fmt.Errorf("more than %d bytes", maxRules)

// ruleFiles says which files a directory has; "" is none.
type ruleFiles struct{ dotIgnore, gitIgnore, git fsys.Kind }

func (r *ruleFiles) set(name string, kind fsys.Kind) {
	switch name {
	case ".ignore":
		r.dotIgnore = kind
	case ".gitignore":
		r.gitIgnore = kind
	case ".git":
		r.git = kind
	}
}

// ruleReader collects the rules of directories, and the files that could not be read.
type ruleReader struct {
	bad      []string
	excludes string       // see excludesFile; of the directory that was read last
	sum      maphash.Hash // over all rules that were read
}

// enter returns the rules in force in d, which has the entries list.
func (w *walker) enter(d *walkDir, h fsys.Dir, list []fsys.DirEntry) *ignore.Level {
	var have ruleFiles
	for _, e := range list {
		if e.Name[0] == '.' {
			have.set(e.Name, e.Kind)
		}
	}
	if have == (ruleFiles{}) {
		return d.level.Enter(d.name, ignore.Files{})
	}
	at := w.start.Child(d.rel)
	var r ruleReader
	level := d.level.Enter(d.name, r.files(h, have, at.String(), at.Anchor().Canonical()))
	d.unreadable = append(d.unreadable, r.bad...)
	return level
}

// levelAbove returns the rules in force in the directory above the start.
func (w *walker) levelAbove() *ignore.Level {
	getenv := w.opt.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	var r ruleReader
	level := ignore.NewLevel(r.global(getenv))

	// The directories from the root of the workspace to the one above the start.
	type step struct {
		name  string
		files ignore.Files
	}
	var steps []step
	top := false
	root := w.start.Path().Root().Anchor()
	for at := range dirsAbove(w.start.Rel()) {
		p := root.Child(at).Anchor()
		host := p.Canonical()
		h, err := p.OpenDir()
		if err != nil {
			r.bad = append(r.bad, p.Path().String())
			continue
		}
		files := r.files(h, lookRules(h), p.Path().String(), host)
		h.Close()
		top = top || files.Top
		steps = append(steps, step{path.Base(host), files})
	}
	if !top && lookRules(w.root.handle).git == "" {
		for _, host := range repositoryAbove(w.start.RootCanonical()) {
			h, err := hostDir(host)
			if err != nil {
				r.bad = append(r.bad, outsideRules)
				continue
			}
			level = level.Enter(path.Base(host), r.files(h, lookRules(h), "", host))
			h.Close()
		}
	}
	for _, s := range steps {
		level = level.Enter(s.name, s.files)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats.Unreadable = r.unreadable()
	return level
}

// dirsAbove yields the directories above rel, from "." down.
func dirsAbove(rel string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if rel == "." || !yield(".") {
			return
		}
		for i := range len(rel) {
			if rel[i] == '/' && !yield(rel[:i]) {
				return
			}
		}
	}
}

// repositoryAbove returns the directories above root, from the top of the repository that
// holds it down; none if it is in no repository.
func repositoryAbove(root string) []string {
	var dirs []string
	for at := root; path.Dir(at) != at; {
		at = path.Dir(at)
		dirs = append(dirs, at)
		if _, err := os.Lstat(filepath.FromSlash(path.Join(at, ".git"))); err == nil {
			slices.Reverse(dirs)
			return dirs
		}
	}
	return nil
}

// hostDir opens a directory outside the roots, for its rules. The directories and
// files below it are opened without following links.
func hostDir(host string) (fsys.Dir, error) {
	// The dot refuses anything but a directory at once; a FIFO would block.
	r, err := os.OpenRoot(filepath.FromSlash(host) + "/.")
	if err != nil {
		return nil, err
	}
	return fsys.NewDir(r), nil
}

// lookRules finds out which files an open directory has.
func lookRules(h fsys.Dir) ruleFiles {
	var have ruleFiles
	for _, name := range []string{".ignore", ".gitignore", ".git"} {
		if info, err := h.Stat(name); err == nil {
			have.set(name, info.Kind)
		}
	}
	return have
}

// files reads the ignore files of the directory h. shown is its name for the report of a
// file that cannot be read, "" outside the roots; host is its path on the host.
func (r *ruleReader) files(h fsys.Dir, have ruleFiles, shown, host string) ignore.Files {
	named := func(name string) string {
		if shown == "" {
			return outsideRules
		}
		return path.Join(shown, name)
	}
	read := func(name string, kind fsys.Kind) *ignore.Rules {
		if kind != fsys.KindFile && kind != fsys.KindSymlink { // git takes no link, and the user should know
			return nil
		}
		text, err := readSmall(h, name)
		return r.parse(named(name), text, err)
	}
	f := ignore.Files{DotIgnore: read(".ignore", have.dotIgnore), GitIgnore: read(".gitignore", have.gitIgnore)}
	if r.excludes = ""; have.git != "" {
		r.repository(&f, h, have.git, host, named)
	}
	return f
}

// unreadable returns the files that could not be read, with all outside the roots as one.
func (r *ruleReader) unreadable() []string {
	slices.Sort(r.bad)
	return slices.Compact(r.bad)
}

// parse compiles a file that was read, or notes why it was not.
func (r *ruleReader) parse(name string, text []byte, err error) *ignore.Rules {
	if err != nil {
		r.note(name, err)
		return nil
	}
	fmt.Fprintf(&r.sum, "%q %d\n%s", name, len(text), text)
	return ignore.Parse(text)
}

// note remembers a file that could not be read. One that does not exist is none.
func (r *ruleReader) note(name string, err error) {
	if !errors.Is(err, fs.ErrNotExist) {
		r.bad = append(r.bad, name)
	}
}

func readSmall(h fsys.Dir, name string) ([]byte, error) {
	f, err := fsys.OpenFile(h, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readLimited(f, f.Info().Size)
}

// readLimited reads a file that has about size bytes.
func readLimited(f io.Reader, size int64) ([]byte, error) {
	var text bytes.Buffer
	text.Grow(int(max(0, min(size, maxRules))) + bytes.MinRead)
	_, err := text.ReadFrom(io.LimitReader(f, maxRules+1))
	if err == nil && text.Len() > maxRules {
		err = errRulesSize
	}
	return text.Bytes(), err
}
