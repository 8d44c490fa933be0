// Package fileindex lists files and finds changes: [Walk] and [Stream] list the files below
// a directory with the ignore rules applied, and an [Index] holds them in memory and is kept
// up to date by the reports of the system.
//
// It reads directories by the handles that a [workspace.Anchor] opens, and ignore files;
// it never reads other files. It may import workspace, workspace/ignore and
// workspace/internal/fsys. Start with walk.go, then walk_run.go and walk_rules.go; of the
// index with index.go, then list.go, sync.go (watched) and validate.go (not watched).
package fileindex

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"sync"

	"toolcrib/workspace"
	"toolcrib/workspace/internal/fsys"
)

// Options limits an index and says how it is kept up to date.
type Options struct {
	// MaxEntries is how many files and directories the index may hold before it is
	// given up; 0 = 2,000,000.
	MaxEntries int
	Stat       bool // validate by stat even if watching is possible
	// Pause, if set, is called now and then while the index is made, to leave the CPU to
	// others. Its error, such as the cause of the context, ends New.
	Pause func(context.Context) error

	hooks hooks
}

// hooks are for tests.
type hooks struct {
	getenv   func(string) string         // as WalkOptions.Getenv
	addWatch func() error                // its error is that of a new watch
	event    func(fsys.Event) fsys.Event // replaces the events of the system
}

// Freshness says how an index knows that it is up to date.
type Freshness int

// The kinds of freshness.
const (
	Watched   Freshness = iota + 1 // the system reported every change
	Validated                      // every directory and file was looked at
)

// ErrLost says that an index cannot be brought up to date any more: close it and make
// another.
var ErrLost = errors.New("the list of files is lost")

// Index is the list of all files below a directory, held in memory: those that Walk finds
// with Hidden and the ignore rules. Only Sync changes it. Several goroutines may use it.
//
// If the system reports changes (inotify, on local file systems of Linux), Sync costs next
// to nothing when there were none. Elsewhere, and when the system has no watches left, Sync
// compares the times, sizes and inodes of all directories and files.
//
// Sync sees every change whose system call has returned. A store through mmap is seen once
// the mapping and all descriptors of that opening are closed. Two kinds of writes to a
// watched file are missed. One is a write under another hard link outside of the index, or
// in a directory that is as new as the link and has lost it since, if the file had one name
// before. The other is a write by a descriptor that was opened under a name which is gone.
// On file systems without a status time, a file whose size and modification time were both
// put back counts as unchanged.
type Index struct {
	start workspace.Anchor
	above string // path of start below its root, "" or ending in a slash
	opt   Options
	base  fsys.Root     // the directory itself, held open
	self  fsys.Dir      // the same for what asks for a dir
	turn  chan struct{} // holds one value while a goroutine changes the index

	// These belong to the goroutine that has the turn.
	watch    *fsys.Watcher // nil = validate by stat
	watched  map[int32]*directory
	dirty    map[*directory]*touched
	recheck  bool // the directory itself has moved, or may be barred
	stale    bool // everything must be validated anew
	unseen   bool // a file may have been written under a name that is gone since
	outer    outerRules
	tops     map[*directory]struct{} // directories with rules that no watch reports
	linked   map[*directory]struct{} // directories with files that have several names
	newLinks map[uint64]struct{}     // inodes that were found to have several names
	lost     error

	// These are locked by mu, and changed only by the goroutine that has the turn.
	mu         sync.RWMutex
	top        *directory
	generation uint64
	changing   bool // the changes under way belong to generation+1
	log        changeLog
	lastID     uint32
	count      int    // entries of all directories
	listings   uint64 // grows whenever a directory is listed, emptied or removed

	// These are made under mu for reading, from data that changes only with listings.
	making sync.Mutex
	names  nameList    // locked by making
	stats  cachedStats // locked by making: the last ones that were asked for
}

// New lists all files below the directory p as Walk does with Hidden. It fails as
// Walk does. The index serves until Close, also when ctx has ended.
func New(ctx context.Context, p workspace.Path, opt Options) (*Index, error) {
	if opt.MaxEntries <= 0 {
		opt.MaxEntries = maxEntries
	}
	if opt.Pause == nil {
		opt.Pause = context.Cause
	}
	if opt.hooks.getenv == nil {
		opt.hooks.getenv = os.Getenv
	}
	t := &Index{
		start: p.Anchor().Bare(), opt: opt, turn: make(chan struct{}, 1),
		watched: map[int32]*directory{}, dirty: map[*directory]*touched{}, tops: map[*directory]struct{}{},
		linked: map[*directory]struct{}{}, newLinks: map[uint64]struct{}{},
		generation: p.Anchor().Ordinal() << 32, // above those of earlier indexes
	}
	if rel := t.start.Rel(); rel != "." {
		t.above = rel + "/"
	}
	err := t.inTurn(ctx, func() error {
		if err := t.openBase(); err != nil {
			return err
		}
		if !opt.Stat {
			t.beginWatch()
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.top = &directory{wd: fsys.NoWatch}
		t.outer = t.readOuter()
		err := t.list(ctx, reading{dir: t.top, deep: true})
		t.changing, t.log, t.opt.Pause = false, changeLog{since: t.generation}, context.Cause
		return err
	})
	if err != nil {
		go func() { _ = t.Close() }() // waits for calls that a dead file system may hold up
		if ended := context.Cause(ctx); ended != nil {
			return nil, ended
		}
		return nil, p.Anchor().Refuse(err)
	}
	if t.start.IsGiven() {
		t.start.Register((*registered)(t))
	}
	return t, nil
}

// registered is an index as [Workspace.Generation] asks it.
type registered Index

func (r *registered) Generation(ctx context.Context) (n uint64, exact bool) {
	t := (*Index)(r)
	how, err := t.sync(ctx, false) // a look at all files would not make it exact
	if err != nil || how != Watched {
		return 0, false
	}
	return t.Generation(), true
}

// Since returns the host paths of the files whose content may have changed since a generation,
// and of the last entries that came or went; none if that is too long ago. modes has the permissions
// that the last files had then whose permissions have changed.
func (r *registered) Since(n uint64) (hosts []string, modes map[string]fs.FileMode) {
	t := (*Index)(r)
	t.mu.RLock()
	defer t.mu.RUnlock()
	ids, known := t.log.after(n)
	if !known {
		return nil, nil
	}
	base := t.start.Canonical() + "/"
	for d, of := range ids {
		for i := range d.entries {
			e := &d.entries[i]
			if _, ok := of[e.id]; ok && e.kind != entryDirectory {
				hosts = append(hosts, base+d.path+d.nameOf(e))
			}
		}
	}
	for _, x := range slices.Backward(t.log.names) {
		if x.generation <= n {
			break
		}
		hosts = append(hosts, base+x.rel)
	}
	modes = map[string]fs.FileMode{}
	for _, x := range slices.Backward(t.log.modes) {
		if x.generation <= n {
			break
		}
		modes[base+x.rel] = fs.FileMode(x.mode)
	}
	return hosts, modes
}

func (t *Index) openBase() (err error) {
	if t.base, err = t.start.OpenRoot(); err != nil {
		return err
	}
	t.self, err = t.base.OpenPlainDir(".")
	return err
}

// Sync brings the index up to date: it has every change that returned before the call. An
// error wraps ErrLost if the index must be given up. Any other is the cause of ctx or of
// the system, and the next Sync looks at everything.
func (t *Index) Sync(ctx context.Context) (Freshness, error) { return t.sync(ctx, true) }

var errNotWatched = errors.New("the system does not report changes")

// sync is Sync; it fails for an index that is not watched unless validate is set.
func (t *Index) sync(ctx context.Context, validate bool) (Freshness, error) {
	how := Validated
	err := t.inTurn(ctx, func() (err error) {
		switch {
		case t.lost != nil:
			return t.lost
		case t.watch != nil:
			if err = t.follow(ctx); err == nil && t.watch != nil {
				how = Watched
			}
		case !validate:
			return errNotWatched
		default:
			err = t.validate(ctx)
		}
		if errors.Is(err, ErrLost) {
			t.lost = err
		}
		t.stale = t.stale || err != nil
		return err
	})
	if err != nil {
		return 0, err
	}
	return how, nil
}

// inTurn calls f while no other goroutine changes the index. A system call on a dead
// network file system cannot be interrupted: when ctx ends, f goes on alone, and ends when
// it next checks ctx.
func (t *Index) inTurn(ctx context.Context, f func() error) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if t.watch != nil { // the file systems are local
		defer func() { <-t.turn }()
		return f()
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-t.turn }()
		done <- caught(f)
	}()
	select {
	case err := <-done:
		if isPanic(err) {
			panic(err)
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close frees the system's resources of the index. Sync fails from then on; the present
// entries can still be read.
func (t *Index) Close() error {
	t.turn <- struct{}{}
	defer func() { <-t.turn }()
	if t.base == nil {
		return nil
	}
	t.lost = fmt.Errorf("%w: closed", ErrLost)
	t.start.Unregister((*registered)(t))
	t.endWatch()
	err := t.base.Close()
	if t.self != nil {
		err = errors.Join(err, t.self.Close())
	}
	t.base = nil
	return err
}

// Generation grows with every change that Sync has seen.
func (t *Index) Generation() uint64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.generation
}

// newID gives an ID that no file had.
func (t *Index) newID() (uint32, error) {
	if t.lastID == math.MaxUint32 {
		return 0, fmt.Errorf("%w: no IDs are left", ErrLost)
	}
	t.lastID++
	return t.lastID, nil
}

// changed notes that the index is being changed.
func (t *Index) changed() { t.changing = true }

// publish begins a new generation if something has changed.
func (t *Index) publish() {
	if t.changing {
		t.generation++
		t.changing = false
	}
}
