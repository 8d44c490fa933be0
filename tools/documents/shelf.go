package documents

import (
	"crypto/sha256"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// shelf keeps the documents that were read last, by their content and what was wanted of
// them. A file that has changed has another key.
type shelf struct {
	most int

	mu   sync.Mutex
	size int
	kept *simplelru.LRU[[sha256.Size]byte, rendering] // nil until something is kept
}

// rendering is a document in one form.
type rendering struct {
	format, title string
	fields        []string
	warnings      []string
	body          string
	note          string // about where it was read; it is not kept
}

// kind names the format of the document, and that of the rendering unless it is Markdown.
func (r rendering) kind(format string) string {
	if format == "markdown" {
		return r.format
	}
	return r.format + ", " + format
}

func newShelf(most int) *shelf { return &shelf{most: most} }

func (s *shelf) get(key [sha256.Size]byte) (rendering, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		return rendering{}, false
	}
	return s.kept.Get(key)
}

func (s *shelf) put(key [sha256.Size]byte, r rendering) {
	const entries = 64
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(r.body) > s.most {
		return
	}
	if s.kept == nil {
		s.kept, _ = simplelru.NewLRU(entries, func(_ [sha256.Size]byte, old rendering) { s.size -= len(old.body) })
	}
	if s.kept.Contains(key) {
		return
	}
	s.kept.Add(key, r)
	for s.size += len(r.body); s.size > s.most; {
		s.kept.RemoveOldest()
	}
}
