package recorder

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/history"
)

// change is what a program does between two ends. A directory that existed before and is
// moved divides it: each part becomes a record of the history, and the records of one call are
// undone together, the newest first.
type change struct {
	recorder *Recorder
	label    Label
	began    time.Time
	parts    []*part
	moves    int

	dirMu    sync.Mutex
	dir      fsys.Dir // of the last entry; nil = none is open
	dirAt    string   // its host path
	dirSince time.Time
	late     []string // files that had changed since the begin, without a report, when they were taken

	mu        sync.Mutex
	linked    map[inode]*entry // files that have a link in a folder of taken files
	bytes     int64            // that were taken
	files     int
	leftOut   int                         // ignored files that lost their names
	leftFirst string                      // one of them
	stores    map[*history.History]*store // nil values: nothing can be kept
	rules     map[string]*fileindex.Ignored
	problems  problems
}

// part is a part of a change: entries, or one move.
type part struct {
	id      string
	time    time.Time
	entries map[string]*entry // by their host paths
	order   []*entry
	moved   *moved
	closed  []state // of the entries of a part that is not the last
	sparse  int     // how many entries there may be until those that came to nothing go
}

// entry is a path that the program has touched.
type entry struct {
	host   string
	path   workspace.Path
	taken  chan struct{}    // closed when the former state is known
	before *history.Version // nil = it did not exist
	file   string           // that was taken, in the folder of its store; "" = none
	in     *store
	lost   string // why its content is not kept, "" = it is; said if the content has changed
	left   bool   // it is not recorded: the ignore rules leave it out, or it cannot be read
	came   bool   // with all that it holds, from outside the roots
	moved  bool   // a file was moved there
	inode  uint64 // of that file as it was seen, 0 = it was not
	seen   string // the version token of a file whose content is hashed
}

// moved is a directory that was moved.
type moved struct {
	from, to workspace.Path
	inode    uint64
	mode     fs.FileMode
	replaced *history.Version // an empty directory
	verified bool             // that it happened
}

type inode struct{ device, inode uint64 }

func newChange(r *Recorder, label Label) *change {
	return &change{recorder: r, label: label, began: time.Now(), linked: map[inode]*entry{}, stores: map[*history.History]*store{}, rules: map[string]*fileindex.Ignored{}}
}

// open returns the part that takes entries.
func (c *change) open() *part {
	if n := len(c.parts); n > 0 && c.parts[n-1].moved == nil {
		return c.parts[n-1]
	}
	s := &part{id: history.NewID(), time: time.Now(), entries: map[string]*entry{}}
	c.parts = append(c.parts, s)
	return s
}

// mostIdle is how many entries a part may have that came to nothing, besides as many as there
// are others.
const mostIdle = 4096

// thin forgets the older entries that came to nothing: files that the program made and deleted
// again, and what the ignore rules leave out. A server that runs for days makes them without end.
func (s *part) thin() {
	old, young := slices.Clone(s.order[:len(s.order)/2]), s.order[len(s.order)/2:]
	old = slices.DeleteFunc(old, func(e *entry) bool {
		select {
		case <-e.taken:
		default:
			return false
		}
		if !e.left {
			if e.before != nil || e.came {
				return false
			}
			if _, exists, err := e.path.Find(false); exists || err != nil {
				return false
			}
		}
		delete(s.entries, e.host)
		return true
	})
	s.order = slices.Concat(old, young)
	s.sparse = len(s.order) + len(old) + mostIdle
}

func (s *part) add(host string, p workspace.Path) *entry {
	if len(s.order) >= max(s.sparse, mostIdle) {
		s.thin()
	}
	e := &entry{host: host, path: p, taken: make(chan struct{})}
	s.entries[host] = e
	s.order = append(s.order, e)
	return e
}

// wait waits until all former states are known.
func (c *change) wait() {
	for _, s := range c.parts {
		for _, e := range s.order {
			<-e.taken
		}
	}
}

// knows reports whether the change has an entry for a path, or a directory above it that came
// or was moved. An entry that was gone before it was taken does not count for one that is gone, nor
// one that had its new permissions already for a file that got them.
func (c *change) knows(x other) bool {
	for _, s := range c.parts {
		if m := s.moved; m != nil && (within(x.host, m.to.Anchor().Canonical()) || within(x.host, m.from.Anchor().Canonical())) {
			return true
		}
		if e := s.entries[x.host]; e != nil && (e.left || e.before == nil && !x.gone || e.before != nil && (x.mode == nil || e.before.Mode == *x.mode)) {
			return true
		}
	}
	return c.came(x.host)
}

// came reports whether a path lies in a directory that came from outside the roots.
func (c *change) came(host string) bool {
	for _, s := range c.parts {
		for dir := path.Dir(host); len(dir) > 1; dir = path.Dir(dir) {
			if e := s.entries[dir]; e != nil && e.came {
				return true
			}
		}
	}
	return false
}

// within reports whether a host path is dir, or lies in it.
func within(host, dir string) bool {
	rest, ok := strings.CutPrefix(host, dir)
	return ok && (rest == "" || rest[0] == '/')
}

// arrived notes that an entry comes from outside the roots.
func (c *change) arrived(host string) {
	s := c.open()
	e := s.entries[host]
	if e == nil {
		return
	}
	<-e.taken
	e.came = true
	c.note(e)
}

// expect notes that a file is about to come to a path of the part that is open.
func (c *change) expect(host string, inode uint64) {
	if e := c.open().entries[host]; e != nil {
		e.moved, e.inode = true, inode
	}
}

// move notes that a directory is about to be moved.
func (c *change) move(from string, p workspace.Path, to string, q workspace.Path, info workspace.Info) {
	s := c.open()
	if e := s.entries[from]; e != nil && e.before == nil {
		s.rename(c.recorder.ws, from, to)
		c.journal(p, line{Renamed: &renamedLine{history.PackName(from), history.PackName(to)}})
		return
	}
	m := &moved{from: p, to: q, inode: info.Inode, mode: info.Mode.Perm()}
	switch there, exists, err := q.Find(false); {
	case there.Kind == workspace.KindDirectory:
		m.replaced = history.VersionOf(there)
	case exists || err != nil:
		return // it will fail
	}
	ignored := c.ignored(p, true)
	if c.moves++; c.moves > maxMoves || ignored != c.ignored(q, true) {
		c.problems.add(p.String(), "was moved in a way that cannot be undone")
		return
	}
	if ignored {
		return
	}
	c.verifyMove()
	s.closed, s.time = c.states(s), time.Now()
	c.hashAfter(s.closed)
	for _, x := range s.closed {
		c.journal(x.path, line{After: &afterLine{history.PackName(x.host), x.after}})
	}
	c.parts = append(c.parts, &part{id: history.NewID(), time: time.Now(), moved: m})
	c.journal(p, line{Move: m.line()})
}

// rename moves the entries of a directory that the program itself has made.
func (s *part) rename(ws *workspace.Workspace, from, to string) {
	s.order = slices.DeleteFunc(s.order, func(e *entry) bool {
		if !within(e.host, from) {
			return false
		}
		rest := e.host[len(from):]
		delete(s.entries, e.host)
		p, ok := ws.Located(to + rest)
		if !ok || s.entries[to+rest] != nil { // whose former state is known already
			return true
		}
		e.host, e.path = to+rest, p
		s.entries[e.host] = e
		return false
	})
}

// verifyMove drops the last move if the directory is where it was: the system call failed.
func (c *change) verifyMove() {
	for i, p := range slices.Backward(c.parts) {
		m := p.moved
		if m == nil {
			continue
		}
		if info, exists, _ := m.from.Find(false); exists && info.Inode == m.inode && !m.verified {
			c.parts = slices.Delete(c.parts, i, i+1)
		}
		m.verified = true
		return
	}
}

// ignored reports whether the ignore rules leave out p.
func (c *change) ignored(p workspace.Path, dir bool) bool {
	c.mu.Lock()
	key := p.Root().String()
	x := c.rules[key]
	if x == nil {
		x = fileindex.NewIgnored(p)
		c.rules[key] = x
	}
	c.mu.Unlock()
	return x.Below(p, dir)
}

// state is an entry with what is there after the part.
type state struct {
	*entry
	after *history.Version // nil = nothing
}

// states compares the entries of a part with what is there now. It leaves out those that are
// as they were.
func (c *change) states(s *part) []state {
	c.dirMu.Lock()
	defer c.dirMu.Unlock()
	c.closeDir() // what it was may be elsewhere by now
	var list []state
	for _, e := range s.order {
		if e.left {
			continue
		}
		var after *history.Version
		info, exists, err := c.look(e.path)
		if errors.Is(err, fsys.ErrIsLink) { // in the place of a directory above
			exists, err = false, nil
		}
		if err != nil {
			c.problems.add(e.path.String(), "cannot be looked at: "+fsys.Cause(err))
			continue
		}
		if exists {
			after = history.VersionOf(info)
			after.Index = c.indexOf(e.host, info)
			if e.seen != "" && e.seen == after.Hash { // it was not written, or has its old time again
				if hash, ok := c.hashIf(e.path, e.seen); ok && hash == e.before.Hash {
					after.Hash = hash
				}
			}
		}
		if e.before == nil && exists && info.Kind == workspace.KindDirectory && c.ignored(e.path, true) {
			continue // which was not known before it was made
		}
		if same(e.before, after) {
			continue
		}
		if e.moved && exists && info.Inode != e.inode && info.ModTime.Before(c.began) {
			c.problems.add(e.path.String(), "has come from a file that was not seen")
		}
		list = append(list, state{e, after})
	}
	slices.SortFunc(list, func(a, b state) int { return strings.Compare(a.host, b.host) })
	return list
}

func same(a, b *history.Version) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.Mode == b.Mode && a.Target == b.Target && (a.Kind != workspace.KindFile || a.Hash == b.Hash)
}

// Changes are the files that a program changed, as tools print them, each list sorted.
type Changes struct {
	Created, Changed, Deleted []string
	Lost                      bool        // the content of no file of Deleted is kept
	Moved                     [][2]string // directories: from, to
	// Others are files that changed meanwhile according to the file index, without a report:
	// somebody else changed them, or the program in a way that is not seen.
	Others []string
	// NotKept says what cannot be undone, "" = everything can be.
	NotKept string
}

// end ends the change: it returns what was changed, and hands it to the history.
func (c *change) end() Changes {
	c.wait()
	c.verifyMove()
	last := c.open()
	last.closed, last.time = c.states(last), time.Now()
	c.closeDir()
	c.dropLook()
	for _, s := range c.parts {
		for _, e := range s.closed {
			if e.lost != "" {
				c.problems.add(e.path.String(), e.lost)
			}
		}
	}
	changes := c.list()
	c.finish()
	return changes
}

// dropLook leaves out the index of git that says the same as before, if nothing else has changed:
// whoever looks at a repository renews it.
func (c *change) dropLook() {
	if len(c.parts) > 1 {
		return
	}
	last := c.open()
	if !slices.ContainsFunc(last.closed, func(e state) bool {
		return e.before == nil || e.after == nil || e.before.Index == "" || e.before.Index != e.after.Index || e.before.Mode != e.after.Mode
	}) {
		last.closed = nil
	}
}

// list lists what was changed from the first state to the last.
func (c *change) list() Changes {
	var changes Changes
	first := map[string]*history.Version{}
	final := map[string]*history.Version{}
	names := map[string]string{}
	lost := map[string]bool{}
	for _, s := range c.parts {
		if m := s.moved; m != nil {
			changes.Moved = append(changes.Moved, [2]string{m.from.String(), m.to.String()})
			continue
		}
		for _, e := range s.closed {
			if _, known := first[e.host]; !known {
				first[e.host], names[e.host], lost[e.host] = e.before, e.path.String(), e.lost != ""
			}
			final[e.host] = e.after
		}
	}
	for host, before := range first {
		name, after := names[host], final[host]
		switch {
		case before == nil && after == nil || before != nil && after != nil && after.Kind == workspace.KindDirectory && before.Kind == after.Kind:
		case before == nil && after.Kind == workspace.KindDirectory, after == nil && before.Kind == workspace.KindDirectory:
			// the files in it are named
		case before == nil:
			changes.Created = append(changes.Created, name)
		case after == nil:
			changes.Lost = lost[host] && (changes.Lost || len(changes.Deleted) == 0)
			changes.Deleted = append(changes.Deleted, name)
		default:
			changes.Changed = append(changes.Changed, name)
		}
	}
	for _, list := range [][]string{changes.Created, changes.Changed, changes.Deleted} {
		slices.Sort(list)
	}
	if changes.NotKept = c.problems.String(); changes.NotKept == "" && c.leftOut > 0 {
		changes.NotKept = strconv.Itoa(c.leftOut) + " deleted or replaced in directories that git ignores, such as " + c.leftFirst
	}
	return changes
}

// problems says what cannot be undone.
type problems struct {
	mu   sync.Mutex
	list []string
	more int
}

const mostProblems = 4

func (p *problems) add(path, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text := path + " " + why; len(p.list) < mostProblems {
		p.list = append(p.list, text)
	} else {
		p.more++
	}
}

func (p *problems) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := strings.Join(p.list, "; ")
	if p.more > 0 {
		text += "; and " + strconv.Itoa(p.more) + " more"
	}
	return text
}

// nameIn returns the path of p for a history: below its root, or absolute.
func nameIn(h *history.History, p workspace.Path) string {
	if of, err := historyOf(p); err == nil && of == h {
		return p.Anchor().Origin()
	}
	return p.Anchor().Canonical()
}
