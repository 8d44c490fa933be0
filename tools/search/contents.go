package search

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// contents caches the text of small files that were searched lately, since most of the time of
// an indexed search goes into opening and reading the few files that may match. It caches
// versions of files, so it is of use only where the system reports every change. A nil
// contents caches nothing.
type contents struct {
	most int // bytes

	mu     sync.Mutex
	recent map[version][]byte // used since it replaced older
	older  map[version][]byte
	size   int // of recent
}

// version names a version of a file.
type version struct {
	shelf    uint64
	id, file uint32
}

const (
	mostContent  = 128 << 10 // bytes of one file
	contentShare = 4         // a call may replace one part in so many
	mostPuts     = 256       // files that a call may put
)

func newContents(most int) *contents {
	return &contents{most: most, recent: map[version][]byte{}}
}

func (c *contents) get(v version) (text []byte, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text, ok = c.recent[v]; ok {
		return text, true
	}
	if text, ok = c.older[v]; ok {
		c.add(v, text)
	}
	return text, ok
}

// has reports whether a version was put or got lately.
func (c *contents) has(v version) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.recent[v]
	return ok
}

func (c *contents) put(v version, text []byte) {
	text = slices.Clone(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(v, text)
}

// add needs mu.
func (c *contents) add(v version, text []byte) {
	if c.size > c.most/2 {
		c.older, c.recent, c.size = c.recent, map[version][]byte{}, 0
	}
	if _, ok := c.recent[v]; !ok {
		c.recent[v] = text
		c.size += len(text) + entryBytes
	}
}

// borrower lets one call use contents.
type borrower struct {
	*contents
	shelf uint64
	left  atomic.Int64 // bytes that the call may still put
	least int64        // the least bytes that a file counts as
}

// borrow returns a borrower, nil if the call must not use contents. Only the first call of a
// search may put texts: the calls for further pages read more files than contents could keep
// until the next search.
func (v visit) borrow(first bool) *borrower {
	if v.contents == nil || v.fresh != fileindex.Watched {
		return nil
	}
	b := &borrower{contents: v.contents, shelf: v.number}
	if first {
		share := int64(v.contents.most / contentShare)
		b.left.Store(share)
		b.least = share / mostPuts
	}
	return b
}

// keptFile is a file that is read from contents.
type keptFile struct {
	*bytes.Reader
	text []byte
}

// Rest implements [scan.Kept].
func (f keptFile) Rest() []byte {
	rest := f.text[len(f.text)-f.Len():]
	_, _ = f.Seek(0, io.SeekEnd) // of a reader of bytes it cannot fail
	return rest
}

func (f keptFile) Info() workspace.Info {
	return workspace.Info{Kind: workspace.KindFile, Size: f.Size()}
}

func (keptFile) Close() error { return nil }
