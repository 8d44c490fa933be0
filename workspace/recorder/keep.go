package recorder

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"toolcrib/workspace"
	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/history"
	"toolcrib/workspace/repository"
)

// store is where a change keeps what belongs to one history.
type store struct {
	h       *history.History
	root    workspace.Path
	pending *history.Pending
	folder  fsys.Dir // of the taken files
	taken   atomic.Int64
}

// storeOf returns the store for a path; nil if nothing can be kept. The caller holds c.mu.
func (c *change) storeOf(p workspace.Path) *store {
	h, err := historyOf(p)
	if err != nil {
		c.problems.add("everything", fsys.Cause(err))
		return nil
	}
	s, known := c.stores[h]
	if known {
		return s
	}
	s, err = newStore(h, p.Root(), c.label)
	if err != nil {
		c.problems.add("the state directory", "keeps nothing: "+fsys.Cause(err))
	}
	c.stores[h] = s
	return s
}

// historyOf returns the history of the root of a path.
func historyOf(p workspace.Path) (*history.History, error) {
	a := p.Anchor()
	return a.Store().History(a.Given())
}

func newStore(h *history.History, root workspace.Path, label Label) (*store, error) {
	p, err := h.Begin(line{Label: &label, Time: time.Now().UTC().Truncate(time.Millisecond)})
	if err != nil {
		return nil, err
	}
	folder, err := folderOf(p.Folder())
	if err != nil {
		return nil, errors.Join(err, p.End(true))
	}
	return &store{h: h, root: root, pending: p, folder: folder}, nil
}

// folderOf opens a folder in the way in which the roots are open: only between these can the
// system link.
func folderOf(folder *os.Root) (fsys.Dir, error) {
	r, err := fsys.OpenKernel(folder)
	if err != nil {
		if r, err = fsys.OpenPortable(folder); err != nil {
			return nil, err
		}
	}
	defer r.Close()
	return r.OpenDir(".")
}

// close ends the change in the history. With discard, no record names what was taken.
func (s *store) close(discard bool) error {
	return errors.Join(s.folder.Close(), s.pending.End(discard))
}

// abandon leaves everything to the next server.
func (s *store) abandon() error { return errors.Join(s.folder.Close(), s.pending.Abandon()) }

// atOnce is the size of the largest file, in bytes, that is copied while other system calls of
// the program wait.
const atOnce = 256 << 10

// copied is the size of the largest file, in bytes, that is copied where a link would do: to
// copy it takes less time.
const copied = 4 << 10

// take finds out what an entry was and keeps it. What takes long is left to rest.
func (c *change) take(e *entry, goes bool) (rest func()) {
	taken := sync.OnceFunc(func() { close(e.taken) })
	defer func() {
		if value := recover(); value != nil { // nobody waits for ever
			taken()
			panic(value)
		}
	}()
	c.dirMu.Lock()
	defer c.dirMu.Unlock()
	info, exists, err := c.look(e.path)
	if err != nil {
		c.problems.add(e.path.String(), "is not kept: "+fsys.Cause(err))
		e.left = true
		taken()
		return nil
	}
	if c.ignored(e.path, info.Kind == workspace.KindDirectory) {
		if e.left = true; exists && goes && info.Kind != workspace.KindDirectory {
			c.leaveOut(e.path)
		}
		taken()
		return nil
	}
	if exists {
		e.before = history.VersionOf(info)
		e.before.Index = c.indexOf(e.host, info)
		if info.Kind == workspace.KindFile && info.ModTime.After(c.began) && info.ModTime.Before(time.Now()) && !repository.IsObject(e.host) {
			c.late = append(c.late, e.host)
		}
		if info.Kind == workspace.KindOther {
			e.lost = "is not kept: it is a FIFO, socket or device"
		}
	}
	if !goes {
		c.unshare(info)
	}
	if info.Kind != workspace.KindFile || !c.reserve(e, info) {
		c.note(e)
		taken()
		return nil
	}
	links := goes && info.Links == 1
	keep := func(parent fsys.Dir) {
		defer taken()
		if err := e.copyFile(parent, info); err == nil {
			e.before.Kept = true
		} else if !links || !c.linkFile(e, parent, info) {
			e.lost, e.file = "is not kept: "+fsys.Cause(err), ""
		}
		c.note(e)
	}
	switch {
	case links && info.Size > copied && c.linkFile(e, c.dir, info):
		c.note(e)
		taken()
		return nil
	case info.Size <= atOnce:
		keep(c.dir)
		return nil
	}
	parent := c.dir // which is not closed before rest has run
	c.dir = nil
	return func() {
		keep(parent)
		_ = parent.Close()
	}
}

// dirFor is how long a directory is held open: another program may move it meanwhile.
const dirFor = 50 * time.Millisecond

// look describes an entry. It leaves the directory of the entry in c.dir, open for the next
// entries. The caller holds c.dirMu.
func (c *change) look(p workspace.Path) (info workspace.Info, exists bool, err error) {
	if err = c.enter(p); err == nil {
		info, err = c.dir.Stat(path.Base(p.Anchor().Canonical()))
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return info, false, nil
	}
	return info, err == nil, err
}

// enter leaves the directory of an entry in c.dir. The caller holds c.dirMu.
func (c *change) enter(p workspace.Path) (err error) {
	a := p.Anchor()
	if !a.Allowed() {
		return errDenied
	}
	at := path.Dir(a.Canonical())
	if c.dir != nil && c.dirAt == at && time.Since(c.dirSince) <= dirFor {
		return nil
	}
	c.closeDir()
	if c.dir, err = a.At(path.Dir(a.Rel())).Anchor().OpenPlainDir(); err != nil {
		return err
	}
	c.dirAt, c.dirSince = at, time.Now()
	return nil
}

// indexOf returns a digest of what the index of a git repository says, "" of what is none. The
// caller has looked at it.
func (c *change) indexOf(host string, info workspace.Info) string {
	if info.Kind != workspace.KindFile || info.Size > repository.MaxIndex || !repository.IsIndex(host) {
		return ""
	}
	in, err := fsys.OpenFile(c.dir, path.Base(host))
	if err != nil {
		return ""
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, repository.MaxIndex+1))
	if err != nil || in.Info().Version() != info.Version() {
		return ""
	}
	digest, _ := repository.Index(data)
	return digest
}

// errDenied says that the policy denies a path, of which nothing may be kept then.
var errDenied = errors.New("the policy denies it")

func (c *change) closeDir() {
	if c.dir != nil {
		_ = c.dir.Close() // it was only read
		c.dir = nil
	}
}

// leaveOut notes that a file goes that the ignore rules leave out.
func (c *change) leaveOut(p workspace.Path) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leftOut++; c.leftOut == 1 {
		c.leftFirst = p.String()
	}
}

// reserve gives the content of a file its name in the store of the change. It reports whether
// it is kept.
func (c *change) reserve(e *entry, info workspace.Info) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case info.Size > history.MaxKept:
		e.lost = "is not kept: it is larger than " + history.Megabytes(history.MaxKept)
		return false
	case c.files >= history.MaxKeptFiles, c.bytes+info.Size > history.MaxKeptBytes:
		e.lost = fmt.Sprintf("is not kept: of one command at most %d files and %s are", history.MaxKeptFiles, history.Megabytes(history.MaxKeptBytes))
		return false
	}
	if e.in = c.storeOf(e.path); e.in == nil {
		return false
	}
	c.files++
	c.bytes += info.Size
	return true
}

// linkFile keeps the content of a file, which has no other name, by a link. It reports whether
// the system can do that.
func (c *change) linkFile(e *entry, parent fsys.Dir, info workspace.Info) bool {
	file := e.in.next()
	if link(parent, path.Base(e.host), e.in.folder, file) != nil {
		return false
	}
	e.file, e.before.At, e.before.Kept = file, e.in.pending.Took(file, info.Size), true
	c.mu.Lock()
	defer c.mu.Unlock()
	c.linked[inode{info.Device, info.Inode}] = e
	return true
}

// copyFile keeps the content of a file by a copy. Small copies share one file, since to make a
// file takes longer than to write it.
func (e *entry) copyFile(parent fsys.Dir, info workspace.Info) error {
	name := path.Base(e.host)
	if info.Size <= atOnce {
		in, err := fsys.OpenFile(parent, name)
		if err != nil {
			return err
		}
		defer in.Close()
		data := make([]byte, info.Size+1)
		n, err := io.ReadFull(in, data)
		if err != io.EOF && err != io.ErrUnexpectedEOF {
			return cmp.Or(err, fsys.ErrSwapped) // it has grown
		}
		e.seen = e.before.Hash
		e.before.Hash, e.before.Size = fsys.HashBytes(data[:n]), int64(n)
		e.before.At, err = e.in.pending.Put(data[:n])
		return err
	}
	in, _, err := parent.OpenRead(name)
	if err != nil {
		return err
	}
	defer in.Close()
	file := e.in.next()
	if e.before.Size, err = copyTo(in, e.in.folder, file); err != nil {
		return err
	}
	e.file, e.before.At = file, e.in.pending.Took(file, e.before.Size)
	return nil
}

// next returns the name of the next taken file.
func (s *store) next() string { return strconv.FormatInt(s.taken.Add(1), 10) }

// linker is the part of a directory that links.
type linker interface {
	Link(name string, to fsys.Dir, as string) error
}

func link(from fsys.Dir, name string, to fsys.Dir, as string) error {
	l, ok := from.(linker)
	if !ok {
		return errors.ErrUnsupported
	}
	return l.Link(name, to, as)
}

// copyTo copies a file into a folder, as a clone where the file system can, and returns its size.
func copyTo(in *os.File, to fsys.Dir, as string) (size int64, err error) {
	out, err := to.Create(as, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			_ = to.Remove(as)
		}
	}()
	if fsys.Clone(out, in) == nil {
		info, err := out.Stat()
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	size, err = io.Copy(out, io.LimitReader(in, history.MaxKept+1))
	if err == nil && size > history.MaxKept {
		err = history.ErrTooLarge
	}
	return size, err
}

// copyTaken gives a file that was taken by a link a content of its own.
func (s *store) copyTaken(file string) error {
	in, _, err := s.folder.OpenRead(file)
	if err != nil {
		return err
	}
	defer in.Close()
	const part = "part"
	if _, err := copyTo(in, s.folder, part); err != nil {
		return err
	}
	return s.folder.Replace(part, s.folder, file)
}

// again is called before a file changes whose former state is known already.
func (c *change) again(e *entry) {
	c.mu.Lock()
	linked := len(c.linked) > 0
	c.mu.Unlock()
	if !linked {
		return
	}
	c.dirMu.Lock()
	defer c.dirMu.Unlock()
	if info, exists, err := c.look(e.path); err == nil && exists {
		c.unshare(info)
	}
}

// unshare gives a file that was taken by a link a content of its own, if the file of info, which
// is about to change in place, is the same.
func (c *change) unshare(info workspace.Info) {
	if info.Links < 2 {
		return
	}
	key := inode{info.Device, info.Inode}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.linked[key]
	if e == nil {
		return
	}
	delete(c.linked, key)
	if err := e.in.copyTaken(e.file); err != nil {
		e.lost = "is not kept: " + fsys.Cause(err)
		e.before.Kept, e.before.At = false, ""
	}
}
