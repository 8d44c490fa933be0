package outbound

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"toolcrib/tools"
)

// Limits of the cache. On disk it is shared by all processes of a workspace.
const (
	folder     = "web"
	mostOnDisk = 64 << 20
	mostAtOnce = 16 << 20 // of one page
	mostInRAM  = 16 << 20 // of pages that must not be written to disk
	block      = 4 << 10  // what a file takes at least
	unfinished = ".new"
	orphanTime = time.Hour // after which an unfinished file has no writer
)

// head is what is kept of a page in addition to its body, as the first line of its file.
type head struct {
	URL    string            `json:"url"`
	Status int               `json:"status"`
	Header http.Header       `json:"header"`
	At     time.Time         `json:"at"`
	Until  time.Time         `json:"until"`
	Sum    [sha256.Size]byte `json:"sum"`
}

// load returns a page of the cache, nil if it is not there.
func (c *Client) load(ctx context.Context, k key) *kept {
	if found := c.kept.get(k); found != nil {
		return found
	}
	r := open(ctx)
	if r == nil {
		return nil
	}
	defer r.Close()
	found, err := readFile(r, k)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			_ = r.Remove(k.file()) // it is torn
		}
		return nil
	}
	touch(r, k) // pages that are read stay
	return found
}

// store keeps a page: in memory if it is secret or there is no state. What is too large is
// not kept.
func (c *Client) store(ctx context.Context, k key, page *kept) {
	c.kept.drop(k)
	if r := open(ctx); r != nil {
		defer r.Close()
		if !page.secret && len(page.page.Body) <= mostAtOnce {
			err := writeFile(r, k, page)
			if err == nil {
				touch(r, k)
				shrink(r)
				return
			}
			tools.Log(ctx).Warn("a page is kept in memory, since the state cannot keep it", "err", err)
		}
		_ = r.Remove(k.file()) // an older page must not come back
	}
	c.kept.put(k, page)
}

// open opens the cache of the workspace of the call; nil if there is none.
func open(ctx context.Context) *os.Root {
	s := tools.Session(ctx)
	if s == nil || s.Workspace == nil {
		return nil
	}
	dir, err := s.Workspace.State()
	if err != nil {
		return nil
	}
	r, err := dir.Folder(folder)
	if err != nil {
		return nil
	}
	return r
}

// touch notes the use of a page in its file.
func touch(r *os.Root, k key) {
	now := time.Now()
	_ = r.Chtimes(k.file(), now, now)
}

func (k key) file() string { return hex.EncodeToString(k[:]) }

var errTorn = errors.New("the file of a page is torn")

func readFile(r *os.Root, k key) (*kept, error) {
	info, err := r.Stat(k.file())
	if err != nil {
		return nil, err
	}
	text, err := r.ReadFile(k.file())
	if err != nil {
		return nil, err
	}
	line, data, ok := bytes.Cut(text, []byte("\n"))
	var h head
	if !ok || json.Unmarshal(line, &h) != nil || sha256.Sum256(data) != h.Sum {
		return nil, errTorn
	}
	return &kept{page: Page{URL: h.URL, Status: h.Status, Header: h.Header, Body: data, At: h.At}, until: h.Until, used: info.ModTime()}, nil
}

// writeFile gives a file its name when it is whole.
func writeFile(r *os.Root, k key, page *kept) (err error) {
	p := page.page
	line, err := json.Marshal(head{p.URL, p.Status, p.Header, p.At, page.until, sha256.Sum256(p.Body)})
	if err != nil {
		return err
	}
	var name [8]byte
	rand.Read(name[:])
	temp := hex.EncodeToString(name[:]) + unfinished
	f, err := r.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.MultiReader(bytes.NewReader(append(line, '\n')), bytes.NewReader(p.Body)))
	if err = errors.Join(err, f.Close()); err == nil {
		err = r.Rename(temp, k.file())
	}
	if err != nil {
		_ = r.Remove(temp)
	}
	return err
}

// shrink removes the pages that were not read for the longest time, until the rest is within
// the limit, and the files of writers that were killed.
func shrink(r *os.Root) {
	entries, err := fs.ReadDir(r.FS(), ".")
	if err != nil {
		return // the next page tries again
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
		if total <= mostOnDisk {
			return
		}
		if err := r.Remove(old.Name()); err == nil || errors.Is(err, fs.ErrNotExist) {
			total -= old.Size() + block
		}
	}
}

// memory keeps pages for SnapshotTime from their last use, within a limit.
type memory struct {
	mu    sync.Mutex
	pages map[key]*kept
	size  int
}

func (m *memory) get(k key) *kept {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.pages[k]
	if found == nil {
		return nil
	}
	copied := *found
	found.used = time.Now()
	return &copied
}

func (m *memory) put(k key, page *kept) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if page.cost() > mostInRAM {
		return
	}
	if m.pages == nil {
		m.pages = map[key]*kept{}
	}
	page.used = time.Now()
	m.pages[k] = page
	m.size += page.cost()
	for m.size > mostInRAM {
		m.remove(m.oldest())
	}
	m.expire(k, page, SnapshotTime)
}

// expire gives the memory of a page back when nobody reads on in it.
func (m *memory) expire(k key, page *kept, after time.Duration) {
	time.AfterFunc(after, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.pages[k] != page {
			return
		}
		if left := SnapshotTime - time.Since(page.used); left > 0 {
			m.expire(k, page, left)
			return
		}
		m.remove(k)
	})
}

func (k *kept) cost() int { return len(k.page.Body) + block }

func (m *memory) oldest() (first key) {
	var at time.Time
	for k, p := range m.pages {
		if at.IsZero() || p.used.Before(at) {
			first, at = k, p.used
		}
	}
	return first
}

func (m *memory) drop(k key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remove(k)
}

func (m *memory) remove(k key) {
	if p := m.pages[k]; p != nil {
		m.size -= p.cost()
		delete(m.pages, k)
	}
}
