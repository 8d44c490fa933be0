package history

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/state"
)

// History is the former contents of one root and the log of its changes, for all
// processes that serve the root. Its folder holds
//
//	objects/ab/<hash>  contents by their SHA-256; ab are its first two digits
//	incoming/          contents that are not whole yet
//	log                records, a line of JSON each, see log.go
//	end                how far the log went, see end.go
//	pruned             its time is that of the last pruning, see prune.go
//
// A record names a content only after the content is whole in its place. Nothing here is
// synced: a loss of power may cost the last changes of the history, but never the user's
// files. [History.Gap] reports the lost changes.
type History struct {
	Root   string // canonical
	dir    *state.Dir
	Folder *os.Root
	bounds Bounds
	busy   chan struct{} // has room for one: who holds the lock of the state, in this process

	mu      sync.Mutex
	closed  bool
	written int64 // bytes kept since the last pruning of this process
	changes int   // and changes
	Prunes  sync.WaitGroup
	pruning bool
	failed  error           // of the last pruning
	ctx     context.Context // of pruning
	stop    context.CancelFunc
}

// Folder is the folder of the state of a root that holds its history.
const Folder = "history"

// Open opens the history of the root of that canonical name, whose state d is. It starts to
// prune if no process has done so for a while.
func Open(d *state.Dir, root string, bounds Bounds) (*History, error) {
	folder, err := d.Folder(Folder)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"objects", "incoming"} {
		if err := folder.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, errors.Join(err, folder.Close())
		}
	}
	h := &History{Root: root, dir: d, Folder: folder, bounds: bounds, busy: make(chan struct{}, 1)}
	h.ctx, h.stop = context.WithCancel(context.Background())
	if h.due() {
		h.startPruning()
	}
	return h, nil
}

// Close waits for a pruning under way, and returns the error of the last.
func (h *History) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.stop()
	h.Prunes.Wait()
	return errors.Join(h.failed, h.Folder.Close())
}

// locked runs f under the lock that every process takes before it changes the log or relies
// on an object.
func (h *History) locked(ctx context.Context, f func() error) (err error) {
	select {
	case h.busy <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.busy }()
	lock, err := h.dir.Lock(ctx, "history")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	return f()
}

// ErrTooLarge says that a content is above the limit.
var ErrTooLarge = errors.New("too large to be kept")

// keepWhole is the size in bytes up to which a content is read before any of it is written:
// if it is kept already, nothing needs writing.
const keepWhole = 1 << 20

// Keep stores the content of r, up to limit bytes, and returns its SHA-256 in lower-case
// hex and its size; ErrTooLarge above limit. The content stays for at least an hour, so
// that a record can name it.
func (h *History) Keep(ctx context.Context, r io.Reader, limit int64) (hash string, size int64, err error) {
	if err := ctx.Err(); err != nil {
		return "", 0, err
	}
	in := io.LimitReader(r, limit+1)
	head, err := io.ReadAll(io.LimitReader(in, keepWhole))
	if err != nil {
		return "", 0, err
	}
	if int64(len(head)) > limit {
		return "", 0, ErrTooLarge
	}
	sum := sha256.New()
	sum.Write(head)
	var c *content
	if len(head) < keepWhole {
		c = &content{hash: hex.EncodeToString(sum.Sum(nil)), size: int64(len(head)), data: head}
	} else if c, err = h.receive(ctx, head, in, limit); err != nil {
		return "", 0, err
	}
	if err := h.store(ctx, c); err != nil {
		return "", 0, err
	}
	h.count(c.size, 0)
	return c.hash, c.size, nil
}

// content is a content that is about to be kept: in memory, or in a file of incoming.
type content struct {
	hash string
	size int64
	data []byte
	file string
}

// receive streams a content into a file: its head, which is read already, and the rest.
func (h *History) receive(ctx context.Context, head []byte, rest io.Reader, limit int64) (_ *content, err error) {
	f, name, err := h.incoming()
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			err = errors.Join(err, h.Folder.Remove(name))
		}
	}()
	sum := sha256.New()
	to := io.MultiWriter(f, sum)
	if _, err := to.Write(head); err != nil {
		return nil, err
	}
	n, err := io.Copy(to, &stoppable{ctx, rest})
	size := int64(len(head)) + n
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, ErrTooLarge
	}
	return &content{hash: hex.EncodeToString(sum.Sum(nil)), size: size, file: name}, nil
}

// stoppable is a reader that ends with its context.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s *stoppable) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(b)
}

// incoming makes a file for a content that is not whole yet.
func (h *History) incoming() (*os.File, string, error) {
	name := "incoming/" + NewID()
	f, err := h.Folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return f, name, err
}

// store moves a content to its place; if it is there already, it makes it young again. Both
// are under the lock, so that pruning never removes a content that is found here.
func (h *History) store(ctx context.Context, c *content) error {
	name := objectName(c.hash)
	there := false
	if c.file == "" {
		if h.isWhole(name, c.size) {
			err := h.locked(ctx, func() error { there = h.renew(name, c.size); return nil })
			if err != nil || there {
				return err
			}
		}
		if err := h.spill(c); err != nil {
			return err
		}
	}
	err := h.locked(ctx, func() error {
		if there = h.renew(name, c.size); there {
			return nil
		}
		err := h.Folder.Rename(c.file, name)
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := h.Folder.Mkdir(objectDir(c.hash), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return h.Folder.Rename(c.file, name)
	})
	if err != nil || there {
		err = errors.Join(err, h.Folder.Remove(c.file))
	}
	return err
}

// isWhole reports whether an object exists with its size: after a loss of power it may be
// empty.
func (h *History) isWhole(name string, size int64) bool {
	info, err := h.Folder.Lstat(name)
	return err == nil && info.Size() == size
}

// renew makes an object young again, and reports whether it exists.
func (h *History) renew(name string, size int64) bool {
	now := time.Now()
	return h.isWhole(name, size) && h.Folder.Chtimes(name, now, now) == nil
}

// spill writes a content in memory to a file.
func (h *History) spill(c *content) error {
	f, name, err := h.incoming()
	if err != nil {
		return err
	}
	_, err = f.Write(c.data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, h.Folder.Remove(name))
	}
	c.file = name
	return nil
}

// Open opens a kept content; fs.ErrNotExist if it is not kept. hash may be the first digits
// of its hash. The error for a damaged one comes before any of it is read.
func (h *History) Open(ctx context.Context, hash string) (_ io.ReadCloser, size int64, err error) {
	if hash = h.whole(hash); !isHash(hash) {
		return nil, 0, fs.ErrNotExist
	}
	f, err := h.Folder.Open(objectName(hash))
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	sum := sha256.New()
	if size, err = io.Copy(sum, &stoppable{ctx, f}); err != nil {
		return nil, 0, err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != hash {
		return nil, 0, fmt.Errorf("the kept content %s is damaged: it has the hash %s", hash, got)
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, size, err
}

// whole returns the hash of the kept content that begins with some digits; the digits as they
// are if there is none.
func (h *History) whole(digits string) string {
	if len(digits) < fsys.HashDigits || len(digits) == 2*sha256.Size || strings.Trim(digits, hexDigits) != "" {
		return digits
	}
	entries, err := fs.ReadDir(h.Folder.FS(), objectDir(digits))
	if err != nil {
		return digits // the folder is missing: it has no content
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), digits) {
			return e.Name()
		}
	}
	return digits
}

// OpenVersion opens the content of a version; fs.ErrNotExist if it is not kept.
func (h *History) OpenVersion(ctx context.Context, v *Version) (io.ReadCloser, int64, error) {
	if v.At == "" {
		return h.Open(ctx, v.Hash)
	}
	r, err := h.openTaken(v.At, v.Size)
	return r, v.Size, err
}

func objectDir(hash string) string  { return "objects/" + hash[:2] }
func objectName(hash string) string { return objectDir(hash) + "/" + hash }

const hexDigits = "0123456789abcdef"

// isHash reports whether text is a SHA-256 in lower-case hex, so that it can name nothing
// but an object.
func isHash(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, hexDigits) == ""
}
