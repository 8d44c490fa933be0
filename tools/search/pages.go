package search

import (
	"context"
	"encoding/json"
	"maps"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"toolcrib/tools"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// Bounds of the state kept between pages.
const (
	keptPages  = 64
	keptSize   = 16 << 20 // bytes, roughly
	entryBytes = 100      // of a path that is kept
)

// pages keeps, for searches of more than one page, the state with which the next page begins,
// so that the files before it are not searched again. If the state of a page is missing or
// something has changed, the search starts from the beginning: only its time depends on the
// kept state.
type pages struct {
	mu   sync.Mutex
	kept *simplelru.LRU[pageKey, page] // the order is that in which they were kept
	size int
}

// pageKey identifies a page: its principal, its workspace, and the arguments without the
// limit.
type pageKey struct {
	ws              *workspace.Workspace
	principal, args string
	stamp           stamp
}

// stamp identifies a state of the files. The zero stamp is for files that may have changed:
// nothing is kept with it.
type stamp struct {
	table      *fileindex.Index // nil = of one question, whose pages are of one state
	generation uint64
}

// oneQuestion is the stamp of all pages if the process answers a single call.
var oneQuestion = stamp{generation: 1}

type page struct {
	state any
	size  int
}

// meta returns the metadata of a result for programs. next is the offset of the next page, 0
// for none.
func meta(next int, freshness, index string) map[string]any {
	m := map[string]any{"toolcrib/freshness": freshness}
	if index != "" {
		m["toolcrib/index"] = index
	}
	if next > 0 {
		maps.Copy(m, tools.NextAt("offset", next).Meta())
	}
	return m
}

func newPages() *pages {
	p := &pages{}
	// It fails only for a bound below one.
	p.kept, _ = simplelru.NewLRU(keptPages, func(_ pageKey, old page) { p.size -= old.size })
	return p
}

// key returns the key of the page that in asks for, without its limit.
func (p *pages) key(ctx context.Context, at stamp, in any) (pageKey, bool) {
	s := tools.Session(ctx)
	args, err := json.Marshal(in)
	if s == nil || err != nil || at == (stamp{}) {
		return pageKey{}, false
	}
	return pageKey{s.Workspace, s.Principal, string(args), at}, true
}

// keep stores the state with which the page of in begins; size is in bytes. The oldest states
// make room.
func (p *pages) keep(ctx context.Context, at stamp, in, state any, size int) {
	key, ok := p.key(ctx, at, in)
	size += len(key.args) + entryBytes
	if !ok || size > keptSize {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept.Remove(key)
	for p.size+size > keptSize {
		p.kept.RemoveOldest()
	}
	p.size += size
	p.kept.Add(key, page{state, size})
}

// begin returns the state with which the page of in begins, if it is kept.
func begin[State any](ctx context.Context, p *pages, at stamp, in any) (state State, ok bool) {
	key, known := p.key(ctx, at, in)
	if !known {
		return state, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	found, _ := p.kept.Peek(key) // not Get: a page that was asked for is no younger
	state, ok = found.state.(State)
	return state, ok
}

// headerBytes is the room for the lines of a page before its entries.
const headerBytes = 4_000
