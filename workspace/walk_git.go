package workspace

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"toolcrib/workspace/ignore"
)

// readExclude reads info/exclude of the repository whose top is h. Its entry .git
// is the git directory, a link to it, or a file that names it.
func readExclude(h dir, kind Kind, host string) ([]byte, error) {
	g, err := openGit(h, kind, host)
	if err != nil {
		return nil, err
	}
	defer g.close()
	info, err := g.open("info")
	if err != nil {
		return nil, err
	}
	defer info.close()
	return readSmall(info, "exclude")
}

// openGit opens the directory that holds info/exclude.
func openGit(h dir, kind Kind, host string) (dir, error) {
	switch kind {
	case KindDirectory:
		return h.open(".git")
	case KindSymlink:
		return hostDir(path.Join(host, ".git"))
	}
	text, err := readSmall(h, ".git")
	if err != nil {
		return nil, err
	}
	name, ok := strings.CutPrefix(string(text), "gitdir:")
	if !ok {
		return nil, fs.ErrNotExist // not git's: no repository as far as rules go
	}
	name = joinHost(host, strings.TrimSpace(name))
	g, err := hostDir(name)
	if err != nil {
		return nil, err
	}
	// A worktree has a directory of its own, and in it the way to the common one.
	common, err := readSmall(g, "commondir")
	if errors.Is(err, fs.ErrNotExist) {
		return g, nil
	}
	g.close()
	if err != nil {
		return nil, err
	}
	return hostDir(joinHost(name, strings.TrimSpace(string(common))))
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
			r.note(file, err)
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
		r.bad = append(r.bad, name)
		return nil
	}
	text, err := readHost(name)
	return r.parse(name, text, err)
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
	return readLimited(f)
}
