package outbound

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/diskcache"
)

// onDisk is the cache that all processes of a workspace share.
var onDisk = diskcache.Cache{Folder: "web", Most: 64 << 20, AtOnce: 16 << 20}

const (
	mostInRAM = 16 << 20 // of pages that must not be written to disk
	block     = 4 << 10  // what a page takes at least
)

// head is what is kept of a page in addition to its body.
type head struct {
	URL    string      `json:"url"`
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	At     time.Time   `json:"at"`
	Until  time.Time   `json:"until"`
}

// load returns a page of the cache, nil if it is not there.
func (c *Client) load(ctx context.Context, k key) *kept {
	if found := c.kept.get(k); found != nil {
		return found
	}
	var h head
	body, used, ok := onDisk.Load(ctx, k, &h)
	if !ok {
		return nil
	}
	return &kept{page: Page{URL: h.URL, Status: h.Status, Header: h.Header, Body: body, At: h.At}, until: h.Until, used: used}
}

// store keeps a page: in memory if it is secret or there is no state. What is too large is
// not kept.
func (c *Client) store(ctx context.Context, k key, page *kept) {
	c.kept.drop(k)
	if page.secret {
		onDisk.Remove(ctx, k) // an older page must not come back
	} else {
		p := page.page
		err := onDisk.Store(ctx, k, head{p.URL, p.Status, p.Header, p.At, page.until}, p.Body)
		if err == nil {
			return
		}
		if !errors.Is(err, diskcache.ErrNotKept) {
			tools.Log(ctx).Warn("a page is kept in memory, since the state cannot keep it", "err", err)
		}
	}
	c.kept.put(k, page)
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
