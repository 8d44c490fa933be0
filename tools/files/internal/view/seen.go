package view

import (
	"bytes"
	"container/list"
	"path"
	"strings"
	"sync"

	"toolcrib/workspace"
)

// Seen remembers for each principal the content of a file that it last read or wrote, so that
// an edit can find later changes. It is bounded and safe for use by several
// goroutines; a nil Seen remembers nothing.
type Seen struct {
	mu       sync.Mutex
	most     int
	held     int                        // bytes of all items
	order    *list.List                 // of *sight, the most recent first
	last     map[sightKey]*list.Element // by path
	contents map[sightKey]*list.Element // by hash
}

// sight is the last content that a principal saw at a path, named by the path, or a
// content, named by its hash.
type sight struct {
	of   map[sightKey]*list.Element // the index that has it
	key  sightKey
	hash string
	data []byte
}

type sightKey struct{ principal, name string }

const (
	// seenWhole is the largest content that is remembered; of a larger one only the
	// hash is.
	seenWhole = 1 << 20
	// sightSize is roughly the memory of an item without its texts, in bytes.
	sightSize = 300
)

func (s *sight) size() int {
	return sightSize + len(s.key.principal) + len(s.key.name) + len(s.hash) + len(s.data)
}

// NewSeen returns a Seen that holds at most the given bytes of content.
func NewSeen(bytes int) *Seen {
	return &Seen{
		most: bytes, order: list.New(),
		last: map[sightKey]*list.Element{}, contents: map[sightKey]*list.Element{},
	}
}

// Note remembers a content of the file with that name, which is its path. data is the whole
// content, or nil if only the hash is known. Note copies the data.
func (s *Seen) Note(principal, name, hash string, data []byte) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if data != nil && len(data) <= seenWhole {
		key := sightKey{principal, hash}
		if e, ok := s.contents[key]; ok {
			s.order.MoveToFront(e)
		} else {
			s.put(&sight{of: s.contents, key: key, hash: hash, data: bytes.Clone(data)})
		}
	}
	key := sightKey{principal, name}
	if e, ok := s.last[key]; ok {
		s.drop(e)
	}
	s.put(&sight{of: s.last, key: key, hash: hash})
	for s.held > s.most && s.order.Len() > 0 {
		s.drop(s.order.Back())
	}
}

// Forget drops the last sight of the principal of the paths and below them. Contents stay
// known by their hashes.
func (s *Seen) Forget(principal string, paths ...string) {
	if s == nil || len(paths) == 0 {
		return
	}
	gone := map[string]bool{}
	for _, name := range paths {
		gone[name] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, e := range s.last {
		if key.principal != principal {
			continue
		}
		for name := key.name; ; name = path.Dir(name) {
			if gone[name] {
				s.drop(e)
				break
			}
			if name == path.Dir(name) {
				break
			}
		}
	}
}

func (s *Seen) put(v *sight) {
	v.of[v.key] = s.order.PushFront(v)
	s.held += v.size()
}

func (s *Seen) drop(e *list.Element) {
	v := s.order.Remove(e).(*sight)
	delete(v.of, v.key)
	s.held -= v.size()
}

// Last returns the content that the principal saw last at a path; data is nil where only its
// hash is remembered, and must not be changed.
func (s *Seen) Last(principal, name string) (hash string, data []byte, ok bool) {
	if s == nil {
		return "", nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.last[sightKey{principal, name}]
	if !ok {
		return "", nil, false
	}
	s.order.MoveToFront(e)
	hash = e.Value.(*sight).hash
	data, _ = s.content(principal, hash)
	return hash, data, true
}

// ByHash returns a content that the principal saw, by its hash or the first digits of it. It
// must not be changed.
func (s *Seen) ByHash(principal, hash string) (data []byte, ok bool) {
	if s == nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(hash) >= workspace.HashDigits {
		for key := range s.contents {
			if key.principal == principal && strings.HasPrefix(key.name, hash) {
				hash = key.name
				break
			}
		}
	}
	return s.content(principal, hash)
}

func (s *Seen) content(principal, hash string) ([]byte, bool) {
	e, ok := s.contents[sightKey{principal, hash}]
	if !ok {
		return nil, false
	}
	s.order.MoveToFront(e)
	return e.Value.(*sight).data, true
}
