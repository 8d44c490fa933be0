package sandbox

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/tools/internal/programs/sandbox/internal/sandboxinit"
	"toolcrib/workspace/repository"
)

// gathering is what of a protection stands in the file system now.
type gathering struct {
	*protection
	how    map[string]sandboxinit.CoverHow // of places without links on the way
	budget budget
	read   map[string]repository.Config // by their files
	plain  map[string]bool              // directories without links on the way
	hooks  string                       // core.hooksPath of the user's own configuration
	global bool                         // that has been read
}

// spent reports whether the search has taken as much work as it may.
func (g *gathering) spent() bool {
	if !g.budget.spent() {
		return false
	}
	g.cut("the places that decide which programs run take more than %v of work to be found: not all are protected from programs", maxGather)
	return true
}

// put enters a place that exists, unless it lies in no root.
func (g *gathering) put(path string, how sandboxinit.CoverHow) {
	if !within(path, g.roots) || g.how[path] >= how {
		return
	}
	if len(g.how) >= maxPlaces {
		g.cut("more than %d places decide which programs run: not all are protected from programs", maxPlaces)
		return
	}
	g.how[path] = how
}

// follow returns where a path leads, and what is there, nil where nothing is. Links on the
// way are kept where they are.
func (g *gathering) follow(path string) (string, os.FileInfo) {
	if g.spent() {
		return path, nil
	}
	at, rest := g.begin(path)
	info, err := os.Lstat(at)
	for links := 0; err == nil; {
		var name string
		name, rest, _ = strings.Cut(strings.TrimLeft(rest, "/"), "/")
		switch name {
		case "":
			if rest == "" {
				return at, info
			}
			continue
		case ".":
			continue
		case "..":
			at = filepath.Dir(at)
			info, err = os.Lstat(at)
			continue
		}
		if info.IsDir() {
			g.plain[at] = true
		}
		next := filepath.Join(at, name)
		info, err = os.Lstat(next)
		if os.IsPermission(err) {
			g.put(at, sandboxinit.CoverUnread)
		}
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			at = next
			continue
		}
		g.put(next, sandboxinit.CoverKeep)
		to, failed := os.Readlink(next)
		if links++; failed != nil || links > maxLinks {
			break
		}
		if rest = to + "/" + rest; filepath.IsAbs(to) {
			at = "/"
		}
	}
	return at, nil
}

// begin divides a path behind the last directory that is known to have no links on the way.
func (g *gathering) begin(path string) (at, rest string) {
	if path != filepath.Clean(path) {
		return "/", path
	}
	for at = path; at != "/"; at = filepath.Dir(at) {
		if g.plain[at] {
			return at, path[len(at):]
		}
	}
	return "/", path
}

// keep enters a directory that is not to be moved.
func (g *gathering) keep(path string) (at string, there bool) {
	at, info := g.follow(path)
	if info == nil || !info.IsDir() {
		return at, false
	}
	g.put(at, sandboxinit.CoverKeep)
	return at, true
}

// freeze enters a place that is not to be changed, with what links in it lead to. One that
// exists is compared afterwards.
func (g *gathering) freeze(path string) {
	at, info := g.follow(path)
	if info == nil {
		return
	}
	g.watch(path, true)
	if g.frozen(path, at) && info.IsDir() {
		g.linked(at, maxLinked)
	}
}

// frozen enters what a path leads to as not to be changed, unless that holds the path, or a
// root: a link to there would have nothing be changed any more.
func (g *gathering) frozen(path, at string) bool {
	holds := at != path && within(path, []sandboxinit.Dir{{Path: at}}) || slices.ContainsFunc(g.roots, func(d sandboxinit.Dir) bool { return within(d.Path, []sandboxinit.Dir{{Path: at}}) })
	if !holds {
		g.put(at, sandboxinit.CoverReadOnly)
	}
	return !holds && within(at, g.roots)
}

// linked enters what links in a directory lead to, and in its directories down to a depth.
func (g *gathering) linked(dir string, deep int) {
	for _, e := range g.entries(dir) {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&os.ModeSymlink != 0:
			to, info := g.follow(path)
			g.watch(path, true) // what it leads to may be made
			if info != nil && !within(to, []sandboxinit.Dir{{Path: dir}}) {
				g.frozen(path, to)
			}
		case e.IsDir() && deep > 1:
			g.linked(path, deep-1)
		}
	}
}

// expect is freeze for a place that is compared also where nothing is there yet.
func (g *gathering) expect(path string) {
	g.freeze(path)
	g.watch(path, false)
}

// top gathers what lies at the top of a root, which may itself be a repository or lie in
// one.
func (g *gathering) top(root string, all bool) {
	g.directory(root, all)
	if isRepository(root) {
		g.repository(root, "", all)
		return
	}
	for at := filepath.Dir(root); at != "/"; at = filepath.Dir(at) {
		if !isRepository(at) {
			continue
		}
		parts := strings.Split(strings.TrimPrefix(root, at+"/"), "/")
		switch {
		case parts[0] == "modules":
			g.modules(root, maxDeep)
		case parts[0] == "worktrees" && len(parts) == 1:
			g.worktrees(root, "")
		case parts[0] == "worktrees" && len(parts) == 2:
			for _, name := range repository.DecisiveOfWorktree() {
				g.expect(filepath.Join(root, name))
			}
		case repository.Decides(strings.Join(parts, "/"), true):
			g.put(root, sandboxinit.CoverReadOnly)
		}
		return
	}
}

// directory gathers what is protected in a directory.
func (g *gathering) directory(dir string, all bool) {
	for _, rel := range g.rels {
		if rel == gitName {
			g.git(dir, all)
			continue
		}
		for i, c := range rel {
			if c == '/' {
				g.keep(filepath.Join(dir, rel[:i]))
			}
		}
		g.freeze(filepath.Join(dir, rel))
	}
}

// gitName is the name of what makes a directory a repository.
const gitName = ".git"

// git gathers what decides in the repository that a directory is the top of. That .git
// itself is kept where it is keeps all else of it together.
func (g *gathering) git(dir string, all bool) {
	path := filepath.Join(dir, gitName)
	at, info := g.follow(path)
	if info == nil {
		return
	}
	g.watch(path, true)
	if info.IsDir() {
		g.put(at, sandboxinit.CoverKeep)
		g.repository(at, dir, all)
		return
	}
	g.put(at, sandboxinit.CoverReadOnly)
	to := repository.GitDir(readPlain(at)) // of a worktree or submodule
	if to == "" {
		return
	}
	if !filepath.IsAbs(to) {
		to = dir + "/" + to
	}
	if to, info = g.follow(to); info == nil || !info.IsDir() {
		return
	}
	g.put(to, sandboxinit.CoverKeep)
	if above := filepath.Dir(to); filepath.Base(above) == "worktrees" {
		to = filepath.Dir(above)
		g.put(to, sandboxinit.CoverKeep)
	}
	g.repository(to, dir, all)
}

// repository gathers what decides in a directory of git which programs run. top is that of
// the worktree it was found from, "" where there is none.
func (g *gathering) repository(dir, top string, all bool) {
	hooks := g.decisive(dir, top)
	if !all {
		return
	}
	g.worktrees(filepath.Join(dir, "worktrees"), hooks)
	if at, there := g.keep(filepath.Join(dir, "modules")); there {
		g.modules(at, maxDeep)
	}
}

// decisive gathers what decides for a repository alone, also where its configuration says
// that other files do. It returns the directory of hooks that this names.
func (g *gathering) decisive(dir, top string) (hooks string) {
	for _, name := range repository.Decisive() {
		g.expect(filepath.Join(dir, name))
	}
	for _, name := range []string{"config", "config.worktree"} {
		c := g.config(filepath.Join(dir, name))
		hooks = cmp.Or(c.HooksPath, hooks)
		if c.Worktree != "" {
			top = g.from(dir, c.Worktree)
		}
	}
	hooks = cmp.Or(hooks, g.usersHooks())
	g.hooksAt(cmp.Or(top, dir), hooks)
	return hooks
}

// hooksAt gathers the directory of hooks that a configuration names, for a worktree.
func (g *gathering) hooksAt(top, hooks string) {
	if path := g.from(top, hooks); hooks != "" && path != top && within(path, g.roots) {
		g.expect(path)
	}
}

// worktrees gathers what decides in the directories that a repository keeps for its
// worktrees.
func (g *gathering) worktrees(dir, hooks string) {
	dir, there := g.keep(dir)
	if !there {
		return
	}
	for _, e := range g.entries(dir) {
		at, there := g.keep(filepath.Join(dir, e.Name()))
		if !there {
			continue
		}
		for _, name := range repository.DecisiveOfWorktree() {
			g.expect(filepath.Join(at, name))
		}
		own := g.config(filepath.Join(at, "config.worktree")).HooksPath
		if file := strings.TrimSpace(string(readPlain(filepath.Join(at, "gitdir")))); file != "" {
			g.hooksAt(filepath.Dir(g.from(at, file)), cmp.Or(own, hooks))
		}
	}
}

// modules gathers the repositories of submodules, whose names may have several parts, and
// reports whether there are any. What only looks like a repository hides nothing in it.
func (g *gathering) modules(dir string, deep int) (found bool) {
	if deep == 0 {
		g.cut("repositories of submodules in %s lie deeper than %d directories: not all are protected from programs", dir, maxDeep)
		return false
	}
	for _, e := range g.entries(dir) {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() || isObjects(dir, e.Name()) {
			continue
		}
		is := isRepository(path)
		if is {
			g.worktrees(filepath.Join(path, "worktrees"), g.decisive(path, ""))
		}
		if g.modules(path, deep-1) || is {
			g.put(path, sandboxinit.CoverKeep)
			found = true
		}
	}
	return found
}

// entries are those of a directory. One that cannot be looked into is kept as it is.
func (g *gathering) entries(dir string) []os.DirEntry {
	if g.spent() {
		return nil
	}
	entries, err := listed(dir)
	if os.IsPermission(err) {
		g.put(dir, sandboxinit.CoverUnread)
	}
	return entries
}

// config reads a file of git's configuration, each but once. The files that it includes
// decide as it does.
func (g *gathering) config(file string) repository.Config {
	at, info := g.follow(file)
	if c, known := g.read[at]; info == nil || known {
		return c
	}
	g.read[at] = repository.Config{} // of which one that includes itself learns no more
	c := repository.Parse(string(readPlain(at)))
	for _, name := range c.Includes {
		path := g.from(filepath.Dir(at), name)
		if !within(path, g.roots) {
			continue
		}
		g.expect(path)
		if more := g.config(path); more.HooksPath != "" {
			c.HooksPath = more.HooksPath
		}
	}
	g.read[at] = c
	return c
}

// from is a path of git's configuration, from a directory on.
func (g *gathering) from(dir, path string) string {
	switch rest, ok := strings.CutPrefix(path, "~/"); {
	case ok:
		return filepath.Join(g.home, rest)
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// usersHooks is the directory of hooks that the user's own configuration names.
func (g *gathering) usersHooks() string {
	if !g.global {
		g.global = true
		for _, file := range []string{"/etc/gitconfig", filepath.Join(g.home, ".config/git/config"), filepath.Join(g.home, ".gitconfig")} {
			if c := g.config(file); c.HooksPath != "" {
				g.hooks = c.HooksPath
			}
		}
	}
	return g.hooks
}

// isRepository reports whether git takes a directory for a repository.
func isRepository(dir string) bool {
	head := filepath.Join(dir, "HEAD")
	info, err := os.Lstat(head)
	if err != nil {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	if info.Mode()&os.ModeSymlink != 0 {
		to, err := os.Readlink(head)
		return err == nil && strings.HasPrefix(to, "refs/")
	}
	return repository.ValidHead(readPlain(head))
}

// listed reads a directory, in the order of the file system.
func listed(dir string) ([]os.DirEntry, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), dir)
	defer f.Close()
	return f.ReadDir(-1)
}

// readPlain reads a regular file, nothing where it is none: a pipe would wait for whoever
// holds its other end.
func readPlain(path string) []byte {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		unix.Close(fd)
		return nil
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxGitConfig))
	if err != nil {
		return nil
	}
	return data
}

// budget bounds a search: by the processor time that it takes, and by several times that
// on the clock, so that a busy machine does not cut it short.
type budget struct {
	most  time.Duration
	work  time.Duration // of the thread, at the start
	start time.Time
}

// patient is how many times its processor time a search may take on the clock.
const patient = 4

// newBudget begins a search, which stays on its thread until done is called.
func newBudget(most time.Duration) (b budget, done func()) {
	runtime.LockOSThread()
	return budget{most, threadTime(), time.Now()}, runtime.UnlockOSThread
}

func (b budget) spent() bool {
	return threadTime()-b.work > b.most || time.Since(b.start) > patient*b.most
}

func threadTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
