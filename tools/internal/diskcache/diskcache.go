// Package diskcache keeps what can be made again in files of the state of a workspace, which all
// its processes share: pages of the web, texts of documents.
//
// A file gets its name when it is whole, and one that is torn is as good as none. It imports the
// contract of tools. Start at [Cache].
package diskcache

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
)

// Cache is a folder of the state of the workspace of a call.
type Cache struct {
	Folder string
	Most   int64 // bytes of all entries; those that were not read for the longest time go
	AtOnce int   // bytes of one body; larger ones are not kept
}

// Key names an entry.
type Key [sha256.Size]byte

// ErrNotKept is the error of an entry that the cache does not take: it is too large, or the call
// has no workspace with a state.
var ErrNotKept = errors.New("there is no place for it")

const (
	unfinished = ".new"
	orphanTime = time.Hour // after which an unfinished file has no writer
	block      = 4 << 10   // what a file takes at least
)

// sealed is the first line of a file; the rest is the body.
type sealed struct {
	Head json.RawMessage   `json:"head"`
	Sum  [sha256.Size]byte `json:"sum"` // of the body
}

func (k Key) file() string { return hex.EncodeToString(k[:]) }

// open opens the folder; nil if there is none.
func (c Cache) open(ctx context.Context) *os.Root {
	s := tools.Session(ctx)
	if s == nil || s.Workspace == nil {
		return nil
	}
	dir, err := s.Workspace.State()
	if err != nil {
		return nil
	}
	r, err := dir.Folder(c.Folder)
	if err != nil {
		return nil
	}
	return r
}

// Load returns the body of an entry and when it was last used, and puts the rest into head.
func (c Cache) Load(ctx context.Context, k Key, head any) (body []byte, used time.Time, ok bool) {
	r := c.open(ctx)
	if r == nil {
		return nil, used, false
	}
	defer r.Close()
	info, err := r.Stat(k.file())
	if err != nil {
		return nil, used, false
	}
	text, err := r.ReadFile(k.file())
	line, body, _ := bytes.Cut(text, []byte("\n"))
	var seal sealed
	if err != nil || json.Unmarshal(line, &seal) != nil || sha256.Sum256(body) != seal.Sum || json.Unmarshal(seal.Head, head) != nil {
		_ = r.Remove(k.file()) // it is torn
		return nil, used, false
	}
	touch(r, k) // what is read stays
	return body, info.ModTime(), true
}

// Store keeps an entry in the place of an older one. If it cannot, the older one is gone too.
func (c Cache) Store(ctx context.Context, k Key, head any, body []byte) error {
	r := c.open(ctx)
	if r == nil {
		return ErrNotKept
	}
	defer r.Close()
	err := ErrNotKept
	if len(body) <= c.AtOnce {
		err = write(r, k, head, body)
	}
	if err != nil {
		_ = r.Remove(k.file())
		return err
	}
	touch(r, k)
	c.shrink(r)
	return nil
}

// Remove forgets an entry.
func (c Cache) Remove(ctx context.Context, k Key) {
	if r := c.open(ctx); r != nil {
		_ = r.Remove(k.file())
		_ = r.Close()
	}
}

// touch notes the use of an entry in its file.
func touch(r *os.Root, k Key) {
	now := time.Now()
	_ = r.Chtimes(k.file(), now, now)
}

// write gives a file its name when it is whole.
func write(r *os.Root, k Key, head any, body []byte) (err error) {
	seal := sealed{Sum: sha256.Sum256(body)}
	if seal.Head, err = json.Marshal(head); err != nil {
		return err
	}
	line, err := json.Marshal(seal)
	if err != nil {
		return err
	}
	temp := rand.Text() + unfinished
	f, err := r.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.MultiReader(bytes.NewReader(append(line, '\n')), bytes.NewReader(body)))
	if err = errors.Join(err, f.Close()); err == nil {
		err = r.Rename(temp, k.file())
	}
	if err != nil {
		_ = r.Remove(temp)
		return fmt.Errorf("keeping %s: %w", k.file(), err)
	}
	return nil
}

// shrink removes the entries that were not used for the longest time, until the rest is within
// the limit, and the files of writers that were killed.
func (c Cache) shrink(r *os.Root) {
	entries, err := fs.ReadDir(r.FS(), ".")
	if err != nil {
		return // the next entry tries again
	}
	var files []fs.FileInfo
	total := int64(0)
	for _, entry := range entries {
		info, err := entry.Info()
		switch {
		case err != nil: // another process has removed it
		case strings.HasSuffix(info.Name(), unfinished):
			if time.Since(info.ModTime()) > orphanTime {
				_ = r.Remove(info.Name())
			}
		default:
			files = append(files, info)
			total += info.Size() + block
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, old := range files {
		if total <= c.Most {
			return
		}
		if err := r.Remove(old.Name()); err == nil || errors.Is(err, fs.ErrNotExist) {
			total -= old.Size() + block
		}
	}
}
