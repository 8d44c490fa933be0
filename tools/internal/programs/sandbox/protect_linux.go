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

// Bounds of what is protected in the roots of a holder.
const (
	maxEntries   = 200_000 // that the first look goes through
	maxLook      = 500 * time.Millisecond
	maxGather    = 500 * time.Millisecond // for a program
	maxPlaces    = 4_000                  // that are mounted over themselves
	maxWatched   = 16_000
	maxDeep      = 16 // directories between a repository and those of its submodules
	maxLinks     = 40 // on the way to a place
	maxLinked    = 2  // levels of a protected directory in which links are looked for
	maxGitConfig = 1 << 20
)

// often is how often all that was found is gathered again. What lies at the top of a root,
// or on the way up from where a program runs, is gathered for each program.
const often = time.Second

// protection is what in the roots decides which programs run later: configurations of
// agents and, of each repository, its configuration and hooks. The holder mounts these
// places over themselves, so that programs can neither change nor move them. A mount over
// an ordinary directory would make renames across it fail, so what lies in one moves with
// it: such places are compared afterwards, see places.
type protection struct {
	rels  []string // places below any directory, see workspace.ProtectedPlaces
	roots []sandboxinit.Dir
	home  string // of the user, for "~/"

	mu       sync.Mutex
	holding  []string // directories below the tops that hold one of rels
	bare     []string // repositories below the tops without a .git
	unread   []string // directories that could not be looked into
	gathered time.Time
	watched  map[string]bool // what is compared; true = it has been there
	partial  string          // why not all is protected
	told     bool            // that is, which once is enough
	untold   []Touched       // by programs that have ended
}

// searchAll looks through the roots for what lies below their tops.
func (p *protection) searchAll() {
	if len(p.rels) > 0 {
		for _, d := range p.roots {
			p.search(d.Path, false)
		}
	}
}

// tops are the places at the tops of the roots.
func (p *protection) tops() (paths []string) {
	for _, d := range p.roots {
		for _, rel := range p.rels {
			paths = append(paths, filepath.Join(d.Path, rel))
		}
	}
	return paths
}

// before returns what a program that starts in dir is kept from changing, the outer places
// before the inner, and what is to be compared after it.
func (p *protection) before(dir string) (covers []sandboxinit.Cover, watched map[string]bool) {
	if len(p.rels) == 0 {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	limit, done := newBudget(maxGather)
	defer done()
	g := &gathering{protection: p, how: map[string]sandboxinit.CoverHow{}, budget: limit, read: map[string]repository.Config{}, plain: map[string]bool{}}
	for _, d := range p.roots { // whose names have no links
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
	return g.covers(), maps.Clone(p.watched)
}

// watch has a place of a root compared. It stays so when it has gone: what comes in its
// stead is told.
func (p *protection) watch(path string, there bool) {
	switch known, ok := p.watched[path]; {
	case !within(path, p.roots):
	case !ok && len(p.watched) >= maxWatched:
		p.cut("more than %d places that decide which programs run have come and gone: not all are compared any more", maxWatched)
	default:
		p.watched[path] = known || there
	}
}

// below gathers what was found below the tops.
func (g *gathering) below() {
	unread := g.unread
	g.unread = nil
	for _, dir := range unread {
		g.search(dir, true)
	}
	for _, dir := range g.unread {
		g.put(dir, sandboxinit.CoverUnread)
	}
	for _, dir := range g.holding {
		g.directory(dir, true)
	}
	for _, dir := range g.bare {
		g.watch(dir, true)
		g.repository(dir, "", true)
	}
}

// tell returns, once, why not all is protected, and what programs have touched whose end
// nobody has asked for.
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

// pending has what a program has touched told with the next one, unless somebody asks
// before.
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

// search finds, in a root or below one of its directories, the directories that hold
// something protected, and bare repositories. It goes from the top down, so that what is
// left out where it takes too long lies deep.
func (p *protection) search(top string, itself bool) {
	first := map[string]bool{} // names that places begin with; true = all below them is one
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
			p.cut("%s has directories whose names are too long to be looked into: repositories and configurations of agents in them are not protected from programs", top)
		}
		if looked += len(entries) + 1; looked > maxEntries || limit.spent() {
			p.cut("%s has more than %d entries or takes more than %v of work to be looked through: repositories and configurations of agents further down in it are not all protected from programs", top, maxEntries, maxLook)
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

// isObjects reports whether a name in a directory is that of a shelf of git's objects:
// there are 256 in each repository.
func isObjects(dir, name string) bool {
	return len(name) == 2 && filepath.Base(dir) == "objects" && strings.Trim(name, "0123456789abcdef") == ""
}

// covers are the places under each name that their root has inside.
func (g *gathering) covers() []sandboxinit.Cover {
	var list []sandboxinit.Cover
	for path, how := range g.how {
		for _, d := range g.roots {
			rel, ok := strings.CutPrefix(path, strings.TrimSuffix(d.Path, "/"))
			if !within(path, []sandboxinit.Dir{d}) || !ok {
				continue
			}
			for _, name := range append([]string{d.Path}, d.At...) {
				list = append(list, sandboxinit.Cover{Path: filepath.Join(name, rel), How: how})
			}
		}
	}
	slices.SortFunc(list, func(a, b sandboxinit.Cover) int {
		return cmp.Or(cmp.Compare(strings.Count(a.Path, "/"), strings.Count(b.Path, "/")), cmp.Compare(a.Path, b.Path))
	})
	return slices.Compact(list)
}
