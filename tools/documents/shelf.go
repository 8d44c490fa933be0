package documents

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"toolcrib/tools/internal/diskcache"
)

// shelf keeps the documents that were read last, by their content and what was wanted of
// them. A file that has changed has another key.
type shelf struct {
	most int

	mu   sync.Mutex
	size int
	kept *simplelru.LRU[diskcache.Key, rendering] // nil until something is kept
}

// onDisk has the renderings of all processes of a workspace.
var onDisk = diskcache.Cache{Folder: "documents", Most: 64 << 20, AtOnce: 16 << 20}

// rendering is a document in one form.
type rendering struct {
	head
	body string
	note string // about where it was read; it is not kept
}

// head is what a rendering says beside its text.
type head struct {
	Format, Title    string
	Fields, Warnings []string
}

// kind names the format of the document, and that of the rendering unless it is Markdown.
func (r rendering) kind(format string) string {
	if format == "markdown" {
		return r.Format
	}
	return r.Format + ", " + format
}

func newShelf(most int) *shelf { return &shelf{most: most} }

func (s *shelf) get(key diskcache.Key) (rendering, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		return rendering{}, false
	}
	return s.kept.Get(key)
}

func (s *shelf) put(key diskcache.Key, r rendering) {
	const entries = 64
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(r.body) > s.most {
		return
	}
	if s.kept == nil {
		s.kept, _ = simplelru.NewLRU(entries, func(_ diskcache.Key, old rendering) { s.size -= len(old.body) })
	}
	if s.kept.Contains(key) {
		return
	}
	s.kept.Add(key, r)
	for s.size += len(r.body); s.size > s.most; {
		s.kept.RemoveOldest()
	}
}
