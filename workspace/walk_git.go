package workspace

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"toolcrib/workspace/ignore"
)

// readExclude reads info/exclude of the repository whose top is h. Its entry .git
// is the git directory, a link to it, or a file that names it. Whatever lies
// elsewhere and cannot be read is fs.ErrNotExist: anybody can write such a file, and
// it must not tell what is where on the host.
func readExclude(h dir, kind Kind, host string) ([]byte, error) {
	if kind == KindDirectory {
		g, err := h.open(".git")
		if err != nil {
			return nil, err
		}
		defer g.close()
		return readInfoExclude(g)
	}
	name := path.Join(host, ".git")
	if kind != KindSymlink {
		text, err := readSmall(h, ".git")
		if err != nil {
			return nil, err
		}
		gitdir, ok := strings.CutPrefix(string(text), "gitdir:")
		if !ok {
			return nil, fs.ErrNotExist // not git's: no repository as far as rules go
		}
		name = joinHost(host, strings.TrimSpace(gitdir))
	}
	text, err := readLinkedExclude(name)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	return text, nil
}

func readInfoExclude(g dir) ([]byte, error) {
	info, err := g.open("info")
	if err != nil {
		return nil, err
	}
	defer info.close()
	return readSmall(info, "exclude")
}

// readLinkedExclude reads info/exclude for a git directory elsewhere on the host.
func readLinkedExclude(name string) ([]byte, error) {
	real, err := filepath.EvalSymlinks(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	gitDir, err := linkedGitDir(filepath.ToSlash(real))
	if err != nil {
		return nil, err
	}
	g, err := hostDir(gitDir)
	if err != nil {
		return nil, err
	}
	defer g.close()
	return readInfoExclude(g)
}

// linkedGitDir returns the directory that holds info/exclude for the git directory
// name, which is free of links. Only those that git makes for a worktree,
// GIT/worktrees/NAME, and for a submodule, GIT/modules/..., are accepted, where
// each, and GIT, has a HEAD: no other directory can be made to lend its rules.
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

// joinHost returns name as it is seen from the directory host.
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
	if !filepath.IsAbs(name) { // relative to whatever directory git runs in, or ~user
		r.bad = append(r.bad, outsideRules)
		return nil
	}
	text, err := readHost(name)
	return r.parse(outsideRules, text, err)
}

// readHost reads a file of the user's configuration. Links are followed: many keep
// these files elsewhere.
func readHost(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|openFlags, 0)
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
		return nil, errSpecial
	}
	return readLimited(f, fi.Size())
}
