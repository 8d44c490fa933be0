package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/state"
)

// The folders of changes under way: their journals in the state of the root, and in the
// folder of the history the files that they took.
const (
	pendingFolder = "pending"
	takenFolder   = "taken"
)

// Pending is a change that is not complete yet, with what it took from the user's files. It
// survives a kill of the process, after which [History.Orphans] returns it.
type Pending struct {
	h      *History
	id     string // names its folder
	log    *state.Owned
	folder *os.Root

	mu   sync.Mutex
	pack *os.File // the contents of small files, one after another; nil = none yet
	size int64

	took atomic.Int64 // bytes
}

const packName = "pack"

// Begin makes a pending change.
func (h *History) Begin(head any) (*Pending, error) {
	p := &Pending{h: h, id: NewID()}
	if err := h.Folder.Mkdir(takenFolder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := h.Folder.Mkdir(takenFolder+"/"+p.id, 0o700); err != nil {
		return nil, err
	}
	var err error
	if p.folder, err = h.Folder.OpenRoot(takenFolder + "/" + p.id); err != nil {
		return nil, err
	}
	if p.log, err = h.dir.Own(pendingFolder); err != nil {
		return nil, errors.Join(err, p.folder.Close())
	}
	if err = p.Note(pendingHead{p.id}); err == nil {
		err = p.Note(head)
	}
	if err != nil {
		return nil, errors.Join(err, p.End(true))
	}
	return p, nil
}

// pendingHead is the first line of a journal.
type pendingHead struct {
	Taken string `json:"taken"`
}

// Folder is where taken files are put, each with a name of its own.
func (p *Pending) Folder() *os.Root { return p.folder }

// Note appends a line of JSON to the journal.
func (p *Pending) Note(line any) error {
	data, err := json.Marshal(line)
	if err != nil {
		return err
	}
	return p.log.Append(append(data, '\n'))
}

// Put stores the content of a small file and returns where it is, see [Version].
func (p *Pending) Put(data []byte) (at string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pack == nil {
		if p.pack, err = p.folder.OpenFile(packName, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return "", err
		}
	}
	if _, err := p.pack.WriteAt(data, p.size); err != nil {
		return "", err
	}
	at = fmt.Sprintf("%s/%s:%d", p.id, packName, p.size)
	p.size += int64(len(data))
	p.took.Add(int64(len(data)))
	return at, nil
}

// Took returns where the content of a file is that was put into the folder, see [Version].
func (p *Pending) Took(name string, size int64) (at string) {
	p.took.Add(size)
	return p.id + "/" + name
}

// Readable makes a taken file readable for this process. sole reports whether it has no name
// elsewhere, where it could still change.
func (p *Pending) Readable(name string) (sole bool, err error) {
	info, err := p.folder.Lstat(name)
	if err != nil || !soleName(info) {
		return false, err
	}
	if info.Mode().Perm()&0o400 == 0 {
		err = p.folder.Chmod(name, 0o600)
	}
	return true, err
}

// openTaken opens a content by its place.
func (h *History) openTaken(at string, size int64) (io.ReadCloser, error) {
	name, text, packed := strings.Cut(at, ":")
	if !fs.ValidPath(name) {
		return nil, fs.ErrNotExist
	}
	f, err := h.Folder.Open(takenFolder + "/" + name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	start := int64(0)
	if packed && err == nil {
		start, err = strconv.ParseInt(text, 10, 64)
	}
	if err == nil && (info.Size()-start < size || !packed && info.Size() != size) {
		err = fmt.Errorf("the kept content %s is damaged: it has another size", at)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return section{io.NewSectionReader(f, start, size), f}, nil
}

// section is a part of a file, which it closes.
type section struct {
	*io.SectionReader
	io.Closer
}

// sweepTaken removes what changes took that no record names and that are not pending.
func (h *History) sweepTaken(named map[string]bool, old time.Time) error {
	dirs, err := fs.ReadDir(h.Folder.FS(), takenFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	pending, err := h.pendingIDs()
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range dirs {
		if name := takenFolder + "/" + d.Name(); !named[name] && !pending[d.Name()] && h.isOlder(name, old) {
			errs = append(errs, h.Folder.RemoveAll(name))
		}
	}
	return errors.Join(errs...)
}

// pendingIDs returns the IDs of all pending changes.
func (h *History) pendingIDs() (map[string]bool, error) {
	ids := map[string]bool{}
	r, err := h.dir.Folder(pendingFolder)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	names, err := fs.ReadDir(r.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		data, err := r.ReadFile(n.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		line, _, _ := bytes.Cut(data, []byte{'\n'})
		var head pendingHead
		if json.Unmarshal(line, &head) == nil {
			ids[head.Taken] = true
		}
	}
	return ids, nil
}

// End ends the change: the history has it. With discard, nothing of what it took is in the history.
func (p *Pending) End(discard bool) error {
	var err error
	if p.pack != nil {
		err = p.pack.Close()
	}
	err = errors.Join(err, p.folder.Close())
	if discard {
		err = errors.Join(err, p.h.Folder.RemoveAll(takenFolder+"/"+p.id))
	}
	if p.log != nil {
		err = errors.Join(err, p.log.Close())
	}
	p.h.count(p.took.Load(), 0)
	return err
}

// Abandon leaves the change to the next server.
func (p *Pending) Abandon() error {
	var err error
	if p.pack != nil {
		err = p.pack.Close()
	}
	return errors.Join(err, p.folder.Close(), p.log.Abandon())
}

// Orphan is a pending change whose process has ended.
type Orphan struct {
	*Pending
	orphan *state.Orphan
	Lines  [][]byte // of its journal, whole ones
}

// Orphans returns the pending changes of processes that have ended. Each is to be ended.
func (h *History) Orphans() ([]*Orphan, error) {
	if !h.dir.HasFolder(pendingFolder) {
		return nil, nil
	}
	files, err := h.dir.Orphans(pendingFolder)
	if err != nil {
		return nil, err
	}
	var list []*Orphan
	var errs []error
	for _, f := range files {
		o, err := h.orphan(f)
		if err != nil {
			errs = append(errs, err, f.Remove())
			continue
		}
		list = append(list, o)
	}
	return list, errors.Join(errs...)
}

func (h *History) orphan(f *state.Orphan) (*Orphan, error) {
	data, err := f.Data()
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(data[:bytes.LastIndexByte(data, '\n')+1], []byte{'\n'})
	lines = lines[:len(lines)-1]
	var head pendingHead
	if len(lines) == 0 || json.Unmarshal(lines[0], &head) != nil || !fs.ValidPath(head.Taken) {
		return nil, errors.New("a journal of a program's changes is damaged")
	}
	o := &Orphan{Pending: &Pending{h: h, id: head.Taken}, orphan: f, Lines: lines[1:]}
	if o.folder, err = h.Folder.OpenRoot(takenFolder + "/" + o.id); err != nil {
		return nil, fmt.Errorf("what a killed server had taken: %w", err)
	}
	return o, nil
}

// Release leaves the orphan to the next server.
func (o *Orphan) Release() error { return errors.Join(o.folder.Close(), o.orphan.Release()) }

// End removes the orphan.
func (o *Orphan) End(discard bool) error {
	return errors.Join(o.Pending.End(discard), o.orphan.Remove())
}

// soleName reports whether a file has no other name.
func soleName(info fs.FileInfo) bool {
	_, _, links := fsys.Identity(info)
	return links == 1
}
