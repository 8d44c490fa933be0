package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/tools/internal/programs/sandbox/internal/sandboxinit"
	"toolcrib/workspace/repository"
)

// Bounds of the protection of a zygote's roots.
const (
	maxEntries   = 200_000 // of the first search
	maxLook      = 500 * time.Millisecond
	maxGather    = 500 * time.Millisecond // for one program
	maxPlaces    = 4_000                  // paths that are mounted over themselves
	maxWatched   = 16_000
	maxDeep      = 16 // directories between a repository and those of its submodules
	maxLinks     = 40 // links in one path
	maxLinked    = 2  // levels of a protected directory that are searched for links
	maxGitConfig = 1 << 20
)

// often is the interval at which all protected paths are gathered again. Those at the top of
// a root, and in the parents of a program's directory, are gathered for each program.
const often = time.Second

// protection knows the protected paths of the roots, which decide which programs run later:
// configurations of agents, and the configuration and hooks of each repository. The zygote
// mounts these paths over themselves, so that programs can neither change nor move them. A
// mount over an ordinary directory would make renames across it fail. Ordinary directories
// are therefore not pinned, and a program can move one with a protected path in it; these
// paths are compared after the program, see comparison.
type protection struct {
	rels  []string // protected paths below any directory, see workspace.ProtectedPlaces
	roots []sandboxinit.Dir
	home  string // of the user, for "~/"

	mu       sync.Mutex
	holding  []string // directories below the tops that contain one of rels
	bare     []string // repositories below the tops without a .git
	unread   []string // directories that the server could not read
	gathered time.Time
	watched  map[string]bool // paths to compare; true = it has existed
	partial  string          // why not everything is protected
	told     bool            // partial has been reported
	untold   []Touched       // of ended programs, not reported yet
}

// searchAll searches the roots below their tops.
func (p *protection) searchAll() {
	if len(p.rels) > 0 {
		for _, d := range p.roots {
			p.search(d.Path, false)
		}
	}
}

// tops returns the protected paths at the tops of the roots.
func (p *protection) tops() (paths []string) {
	for _, d := range p.roots {
		for _, rel := range p.rels {
			paths = append(paths, filepath.Join(d.Path, rel))
		}
	}
	return paths
}

// before returns the restrictions of a program that starts in dir, the outer paths before
// the inner ones, and the paths to compare after it.
func (p *protection) before(dir string) (restrictions []sandboxinit.Restriction, watched map[string]bool) {
	if len(p.rels) == 0 {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	limit, done := newBudget(maxGather)
	defer done()
	g := &gathering{protection: p, kinds: map[string]sandboxinit.RestrictionKind{}, budget: limit, read: map[string]repository.Config{}, plain: map[string]bool{}}
	for _, d := range p.roots { // their paths have no links
		g.plain[d.Path] = true
	}
	all := time.Since(p.gathered) > often
	if p.watched == nil {
		p.watched = map[string]bool{}
	}
	for _, path := range p.tops() {
		p.watch(path, false)
	}
	for _, d := range p.roots {
		g.top(d.Path, all)
		for at := filepath.Clean(dir); at != d.Path && within(at, []sandboxinit.Dir{d}); at = filepath.Dir(at) {
			g.git(at, all)
		}
	}
	if all {
		g.below()
		p.gathered = time.Now()
	}
	return g.restrictions(), maps.Clone(p.watched)
}

// watch has a path of a root compared. It stays so after its deletion, so that a new file
// there is reported.
func (p *protection) watch(path string, there bool) {
	switch known, ok := p.watched[path]; {
	case !within(path, p.roots):
	case !ok && len(p.watched) >= maxWatched:
		p.cut("more than %d protected paths have come and gone: not all are compared any more", maxWatched)
	default:
		p.watched[path] = known || there
	}
}

// below gathers the protected paths that search has found.
func (g *gathering) below() {
	unread := g.unread
	g.unread = nil
	for _, dir := range unread {
		g.search(dir, true)
	}
	for _, dir := range g.unread {
		g.put(dir, sandboxinit.Unreadable)
	}
	for _, dir := range g.holding {
		g.directory(dir, true)
	}
	for _, dir := range g.bare {
		g.watch(dir, true)
		g.repository(dir, "", true)
	}
}

// tell returns, once, why not everything is protected, and the warnings about ended programs
// that nobody has asked for.
func (p *protection) tell() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var lines []string
	if p.partial != "" && !p.told {
		lines, p.told = append(lines, p.partial), true
	}
	for _, t := range p.untold {
		if !t.told.Load() {
			lines = append(lines, "by an earlier program, "+t.Warning())
		}
	}
	p.untold = nil
	return strings.Join(lines, "\n")
}

// pending keeps the warning of t for the report of the next program, unless somebody asks
// for it before.
func (p *protection) pending(t Touched) Touched {
	if t.Warning() == "" {
		return t
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t.told = new(atomic.Bool)
	p.untold = append(p.untold, t)
	return t
}

func (p *protection) cut(format string, args ...any) {
	p.partial = cmp.Or(p.partial, fmt.Sprintf(format, args...))
}

// search finds the directories in a root, or below one of its directories, that contain a
// protected path, and bare repositories. It is breadth-first: if it takes too long, only the
// deep directories are missing.
func (p *protection) search(top string, itself bool) {
	first := map[string]bool{} // first components of rels; true = it is the whole path
	for _, rel := range p.rels {
		name, _, deeper := strings.Cut(rel, "/")
		first[name] = first[name] || !deeper
	}
	limit, done := newBudget(maxLook)
	defer done()
	looked := 0
	for queue := []string{top}; len(queue) > 0; queue = queue[1:] {
		dir := queue[0]
		entries, err := listed(dir)
		switch {
		case os.IsPermission(err):
			p.unread = append(p.unread, dir)
		case errors.Is(err, unix.ENAMETOOLONG):
			p.cut("%s has directories whose paths are too long to search: repositories and configurations of agents in them are not protected from programs", top)
		}
		if looked += len(entries) + 1; looked > maxEntries || limit.spent() {
			p.cut("%s has more than %d entries or takes more than %v of work to search: repositories and configurations of agents further down in it are not all protected from programs", top, maxEntries, maxLook)
			return
		}
		holds, head, below := false, false, dir != top || itself
		for _, e := range entries {
			whole, begins := first[e.Name()]
			holds, head = holds || begins, head || e.Name() == "HEAD"
			if e.IsDir() && !whole && !isObjects(dir, e.Name()) {
				queue = append(queue, filepath.Join(dir, e.Name()))
			}
		}
		if below && holds {
			p.holding = append(p.holding, dir)
		}
		if below && head && isRepository(dir) {
			p.bare = append(p.bare, dir)
		}
	}
}

// isObjects reports whether a directory is one of the 256 directories of loose objects of a
// repository.
func isObjects(dir, name string) bool {
	return len(name) == 2 && filepath.Base(dir) == "objects" && strings.Trim(name, "0123456789abcdef") == ""
}

// restrictions returns the restrictions under each name that their root has in the sandbox.
func (g *gathering) restrictions() []sandboxinit.Restriction {
	var list []sandboxinit.Restriction
	for path, kind := range g.kinds {
		for _, d := range g.roots {
			rel, ok := strings.CutPrefix(path, strings.TrimSuffix(d.Path, "/"))
			if !within(path, []sandboxinit.Dir{d}) || !ok {
				continue
			}
			for _, name := range d.Names() {
				list = append(list, sandboxinit.Restriction{Path: filepath.Join(name, rel), Kind: kind})
			}
		}
	}
	slices.SortFunc(list, func(a, b sandboxinit.Restriction) int {
		return cmp.Or(cmp.Compare(strings.Count(a.Path, "/"), strings.Count(b.Path, "/")), cmp.Compare(a.Path, b.Path))
	})
	return slices.Compact(list)
}
