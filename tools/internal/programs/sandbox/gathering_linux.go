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

// gathering collects the protected paths that exist now, with their restrictions.
type gathering struct {
	*protection
	kinds  map[string]sandboxinit.RestrictionKind // of places without links on the way
	budget budget
	read   map[string]repository.Config // by file
	plain  map[string]bool              // directories whose path has no links
	hooks  string                       // core.hooksPath of the user's global configuration
	global bool                         // hooks is known
}

// spent reports whether the time limit is reached.
func (g *gathering) spent() bool {
	if !g.budget.spent() {
		return false
	}
	g.cut("the search for protected paths takes more than %v of work: not all are protected from programs", maxGather)
	return true
}

// put adds a restriction of an existing path, if it lies in a root.
func (g *gathering) put(path string, kind sandboxinit.RestrictionKind) {
	if !within(path, g.roots) || g.kinds[path] >= kind {
		return
	}
	if len(g.kinds) >= maxPlaces {
		g.cut("there are more than %d protected paths: not all are protected from programs", maxPlaces)
		return
	}
	g.kinds[path] = kind
}

// follow resolves the links of a path and returns the file there, nil = there is none. It
// pins the links.
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
			g.put(at, sandboxinit.Unreadable)
		}
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			at = next
			continue
		}
		g.put(next, sandboxinit.Pinned)
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

// begin splits a path after the longest prefix that is known to have no links.
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

// keep pins a directory.
func (g *gathering) keep(path string) (at string, there bool) {
	at, info := g.follow(path)
	if info == nil || !info.IsDir() {
		return at, false
	}
	g.put(at, sandboxinit.Pinned)
	return at, true
}

// freeze makes a path read-only, with the targets of links in it. If it exists it is
// compared after the program.
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

// frozen makes at, the target of path, read-only, and reports whether at lies in a root. It
// does nothing if at contains the path itself or a root: then nothing could be changed.
func (g *gathering) frozen(path, at string) bool {
	holds := at != path && within(path, []sandboxinit.Dir{{Path: at}}) || slices.ContainsFunc(g.roots, func(d sandboxinit.Dir) bool { return within(d.Path, []sandboxinit.Dir{{Path: at}}) })
	if !holds {
		g.put(at, sandboxinit.ReadOnly)
	}
	return !holds && within(at, g.roots)
}

// linked makes the targets of links in a directory read-only, down to a depth.
func (g *gathering) linked(dir string, deep int) {
	for _, e := range g.entries(dir) {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&os.ModeSymlink != 0:
			to, info := g.follow(path)
			g.watch(path, true) // its target may be created
			if info != nil && !within(to, []sandboxinit.Dir{{Path: dir}}) {
				g.frozen(path, to)
			}
		case e.IsDir() && deep > 1:
			g.linked(path, deep-1)
		}
	}
}

// expect is freeze for a path that is compared even if it does not exist yet.
func (g *gathering) expect(path string) {
	g.freeze(path)
	g.watch(path, false)
}

// top gathers the protected paths at the top of a root. The root may itself be a repository
// or lie in one.
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
			g.put(root, sandboxinit.ReadOnly)
		}
		return
	}
}

// directory gathers the protected paths of a directory.
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

// gitName is the name of a repository in its worktree.
const gitName = ".git"

// git gathers the protected paths of the repository whose worktree is dir. It pins .git,
// so that programs cannot move its files with it.
func (g *gathering) git(dir string, all bool) {
	path := filepath.Join(dir, gitName)
	at, info := g.follow(path)
	if info == nil {
		return
	}
	g.watch(path, true)
	if info.IsDir() {
		g.put(at, sandboxinit.Pinned)
		g.repository(at, dir, all)
		return
	}
	g.put(at, sandboxinit.ReadOnly)
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
	g.put(to, sandboxinit.Pinned)
	if above := filepath.Dir(to); filepath.Base(above) == "worktrees" {
		to = filepath.Dir(above)
		g.put(to, sandboxinit.Pinned)
	}
	g.repository(to, dir, all)
}

// repository gathers the files of a git directory that decide which programs run. top is the
// worktree, "" = unknown.
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

// decisive gathers the files that decide for this repository alone, including files that its
// configuration names. It returns the configured directory of hooks.
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

// hooksAt gathers a configured directory of hooks; it is relative to the worktree top.
func (g *gathering) hooksAt(top, hooks string) {
	if path := g.from(top, hooks); hooks != "" && path != top && within(path, g.roots) {
		g.expect(path)
	}
}

// worktrees gathers the deciding files in the directories that a repository has for its
// linked worktrees.
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

// modules gathers the repositories of submodules and reports whether there are any. Their
// names may have several parts, so it also searches below directories that look like a
// repository.
func (g *gathering) modules(dir string, deep int) (found bool) {
	if deep == 0 {
		g.cut("repositories of submodules in %s are deeper than %d directories: not all are protected from programs", dir, maxDeep)
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
			g.put(path, sandboxinit.Pinned)
			found = true
		}
	}
	return found
}

// entries lists a directory. One that the server cannot read becomes Unreadable.
func (g *gathering) entries(dir string) []os.DirEntry {
	if g.spent() {
		return nil
	}
	entries, err := listed(dir)
	if os.IsPermission(err) {
		g.put(dir, sandboxinit.Unreadable)
	}
	return entries
}

// config reads a git configuration file, each file once, with the files that it includes.
func (g *gathering) config(file string) repository.Config {
	at, info := g.follow(file)
	if c, known := g.read[at]; info == nil || known {
		return c
	}
	g.read[at] = repository.Config{} // ends a cycle of includes
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

// from resolves a path of a git configuration, relative to dir.
func (g *gathering) from(dir, path string) string {
	switch rest, ok := strings.CutPrefix(path, "~/"); {
	case ok:
		return filepath.Join(g.home, rest)
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// usersHooks returns core.hooksPath of the user's global configuration.
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

// readPlain reads a regular file. It returns nil for any other file: opening a pipe would
// block.
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

// budget limits the CPU time of a search, and its elapsed time to a multiple of that, so
// that a busy machine does not cut it short.
type budget struct {
	most  time.Duration
	work  time.Duration // CPU time of the thread at the start
	start time.Time
}

// patient is how many times its CPU limit a search may take in elapsed time.
const patient = 4

// newBudget begins a search. It locks the goroutine to its thread until done is called.
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
