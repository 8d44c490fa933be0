package history

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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
}

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
		return nil, errors.Join(err, p.End())
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

// Adopt makes a taken file a content of the history and returns its SHA-256 in lower-case hex
// and its size. A file that has another name elsewhere is copied.
func (p *Pending) Adopt(ctx context.Context, name string) (hash string, size int64, err error) {
	return p.h.adopt(ctx, takenFolder+"/"+p.id+"/"+name)
}

func (h *History) adopt(ctx context.Context, name string) (hash string, size int64, err error) {
	info, err := h.Folder.Lstat(name)
	if err != nil {
		return "", 0, err
	}
	sole := soleName(info)
	if sole { // it may have been unreadable
		if err := h.Folder.Chmod(name, 0o600); err != nil {
			return "", 0, err
		}
	}
	f, err := h.Folder.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if !sole {
		return h.Keep(ctx, f, MaxKept)
	}
	sum := sha256.New()
	if size, err = io.Copy(sum, &stoppable{ctx, f}); err != nil {
		return "", 0, err
	}
	if size > MaxKept {
		return "", 0, ErrTooLarge
	}
	now := time.Now()
	if err := h.Folder.Chtimes(name, now, now); err != nil { // or pruning would find it old
		return "", 0, err
	}
	hash = hex.EncodeToString(sum.Sum(nil))
	err = h.store(ctx, &content{hash: hash, size: size, file: name})
	h.count(size, 0)
	return hash, size, err
}

// End removes the pending change with what it took and nobody adopted.
func (p *Pending) End() error {
	err := errors.Join(p.folder.Close(), p.h.Folder.RemoveAll(takenFolder+"/"+p.id))
	if p.log != nil {
		err = errors.Join(err, p.log.Close())
	}
	return err
}

// Abandon leaves the change to the next server.
func (p *Pending) Abandon() error { return errors.Join(p.folder.Close(), p.log.Abandon()) }

// Orphan is a pending change whose process has ended.
type Orphan struct {
	Pending
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
	o := &Orphan{Pending: Pending{h: h, id: head.Taken}, orphan: f, Lines: lines[1:]}
	if o.folder, err = h.Folder.OpenRoot(takenFolder + "/" + o.id); err != nil {
		return nil, fmt.Errorf("what a killed server had taken: %w", err)
	}
	return o, nil
}

// Release leaves the orphan to the next server.
func (o *Orphan) Release() error { return errors.Join(o.folder.Close(), o.orphan.Release()) }

// End removes the orphan.
func (o *Orphan) End() error { return errors.Join(o.Pending.End(), o.orphan.Remove()) }

// soleName reports whether a file has no other name.
func soleName(info fs.FileInfo) bool {
	_, _, links := fsys.Identity(info)
	return links == 1
}
