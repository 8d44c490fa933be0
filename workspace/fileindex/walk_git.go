package fileindex

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"toolcrib/workspace/ignore"
	"toolcrib/workspace/internal/fsys"
)

// excludesShown names a core.excludesFile that is not read.
const excludesShown = ".git/config (core.excludesFile)"

// repository reads the rules of the repository whose top is h: info/exclude, and the
// core.excludesFile of its configuration.
func (r *ruleReader) repository(f *ignore.Files, h fsys.Dir, kind fsys.Kind, host string, named func(string) string) {
	f.Top = true
	g, err := openGit(h, kind, host)
	if err != nil {
		r.note(named(".git/info/exclude"), err)
		return
	}
	defer g.Close()
	hidden := func(err error) error {
		if err != nil && kind != fsys.KindDirectory {
			return fs.ErrNotExist // as of openGit
		}
		return err
	}
	text, err := readInfoExclude(g)
	f.Exclude = r.parse(named(".git/info/exclude"), text, hidden(err))
	config, err := readSmall(g, "config")
	if err != nil {
		r.note(named(".git/config"), hidden(err))
		return
	}
	name, set, elsewhere := excludesFile(config, host)
	if !set {
		return
	}
	if elsewhere {
		r.bad = append(r.bad, named(excludesShown))
		return
	}
	f.Global = r.parse(named(excludesShown), nil, nil)
	if r.excludes = name; name == "" {
		return
	}
	text, err = readBelow(h, name)
	if rules := r.parse(named(name), text, err); rules != nil {
		f.Global = rules
	}
}

// excludesFile returns the core.excludesFile of the configuration of a repository, below
// its top, which is host; "" is none. elsewhere says that the file is not below: anybody
// can write such a configuration, and the results of the walk would reveal the text of the
// file.
func excludesFile(config []byte, host string) (name string, set, elsewhere bool) {
	value, set := ignore.ExcludesFile(config)
	switch {
	case value == "":
		return "", set, false
	case filepath.IsAbs(value):
		name, below := fsys.Below(host, path.Clean(filepath.ToSlash(value)))
		return name, true, !below
	}
	name = path.Clean(filepath.ToSlash(value))
	return name, true, strings.HasPrefix(name, "~") || !filepath.IsLocal(name)
}

// readBelow reads a file below h, through no link.
func readBelow(h fsys.Dir, name string) ([]byte, error) {
	first, rest, deeper := strings.Cut(name, "/")
	if !deeper {
		return readSmall(h, name)
	}
	sub, err := h.Open(first)
	if err != nil {
		return nil, err
	}
	defer sub.Close()
	return readBelow(sub, rest)
}

// openGit opens the git directory of the repository whose top is h, or of a worktree the
// one that it shares. The entry .git is the git directory, a link to it, or a file that
// names it. The error for any file elsewhere that cannot be read is fs.ErrNotExist: anybody
// can write such a .git, and it must not reveal which files the host has.
func openGit(h fsys.Dir, kind fsys.Kind, host string) (fsys.Dir, error) {
	if kind == fsys.KindDirectory {
		return h.Open(".git")
	}
	name := path.Join(host, ".git")
	if kind != fsys.KindSymlink {
		text, err := readSmall(h, ".git")
		if err != nil {
			return nil, err
		}
		gitdir, ok := strings.CutPrefix(string(text), "gitdir:")
		if !ok {
			return nil, fs.ErrNotExist // not git's: for the rules there is no repository
		}
		name = joinHost(host, strings.TrimSpace(gitdir))
	}
	real, err := filepath.EvalSymlinks(filepath.FromSlash(name))
	if err != nil {
		return nil, fs.ErrNotExist
	}
	if name, err = linkedGitDir(filepath.ToSlash(real)); err != nil {
		return nil, fs.ErrNotExist
	}
	g, err := hostDir(name)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	return g, nil
}

func readInfoExclude(g fsys.Dir) ([]byte, error) {
	info, err := g.Open("info")
	if err != nil {
		return nil, err
	}
	defer info.Close()
	return readSmall(info, "exclude")
}

// linkedGitDir returns the directory that holds info/exclude and config for the git directory
// name, which is free of links. Only those that git makes for a worktree,
// GIT/worktrees/NAME, and for a submodule, GIT/modules/..., are accepted, where
// each, and GIT, has a HEAD: no other directory can be made a source of rules.
func linkedGitDir(name string) (string, error) {
	if !hasHead(name) {
		return "", fs.ErrNotExist
	}
	if above := path.Dir(name); path.Base(above) == "worktrees" && hasHead(path.Dir(above)) {
		return path.Dir(above), nil
	}
	for at := path.Dir(name); path.Dir(at) != at; at = path.Dir(at) {
		if path.Base(at) == "modules" && hasHead(path.Dir(at)) {
			return name, nil
		}
	}
	return "", fs.ErrNotExist
}

func hasHead(host string) bool {
	_, err := os.Lstat(filepath.FromSlash(path.Join(host, "HEAD")))
	return err == nil
}

// joinHost resolves name relative to the directory host.
func joinHost(host, name string) string {
	if filepath.IsAbs(name) {
		return filepath.ToSlash(name)
	}
	return path.Join(host, filepath.ToSlash(name))
}

// global reads the user's global ignore file.
func (r *ruleReader) global(getenv func(string) string) *ignore.Rules {
	home := cmp.Or(getenv("HOME"), getenv("USERPROFILE"))
	config := getenv("XDG_CONFIG_HOME")
	if config == "" && home != "" {
		config = filepath.Join(home, ".config")
	}
	var files []string // the last one that sets the variable counts
	switch one := getenv("GIT_CONFIG_GLOBAL"); {
	case one != "":
		files = []string{one}
	default:
		if config != "" {
			files = append(files, filepath.Join(config, "git", "config"))
		}
		if home != "" {
			files = append(files, filepath.Join(home, ".gitconfig"))
		}
	}
	name := ""
	if config != "" {
		name = filepath.Join(config, "git", "ignore")
	}
	for _, file := range files {
		text, err := readHost(file)
		if err != nil {
			r.note(outsideRules, err)
			continue
		}
		if value, ok := ignore.ExcludesFile(text); ok {
			name = value
		}
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(home, rest)
	}
	if name == "" {
		return nil
	}
	if !filepath.IsAbs(name) { // relative to the directory that git runs in, or ~user
		r.bad = append(r.bad, outsideRules)
		return nil
	}
	text, err := readHost(name)
	return r.parse(outsideRules, text, err)
}

// readHost reads a file of the user's configuration. It follows links: many users keep
// these files elsewhere.
func readHost(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|fsys.OpenFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case name == os.DevNull:
		return nil, nil
	case !fi.Mode().IsRegular():
		return nil, fsys.ErrSpecial
	}
	return readLimited(f, fi.Size())
}
