package view

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// LineIndex remembers where some lines of large files begin and how many lines there are, so
// that a page far inside a file is read without reading everything before it again. It is
// bounded (64 files of at most 64 KiB each) and safe for use by several goroutines; a nil
// LineIndex remembers nothing.
type LineIndex struct {
	mu    sync.Mutex
	files *simplelru.LRU[string, *lineMap] // by path on the host
}

// NewLineIndex returns an empty index.
func NewLineIndex() *LineIndex {
	files, _ := simplelru.NewLRU[string, *lineMap](indexedFiles, nil) // it fails only for a bound below one
	return &LineIndex{files: files}
}

const (
	indexedFiles  = 64
	indexedPlaces = 4096 // of a file; then every other one is dropped
	indexStep     = 1 << 20
	// settled is the age from which an unchanged modification time proves that a file is the
	// same: a later change within that time can have the same time.
	settled = 2 * time.Second
)

// lineMap has the known line positions of one version of a file. A nil lineMap is empty and
// stays so.
type lineMap struct {
	version string // of the content, and how it was read

	mu     sync.Mutex
	places []textfile.Position // at least step bytes apart
	step   int64
	total  int64 // number of lines, -1 = not known
}

// of returns the lineMap of a file, to add to; nil if the file changed so recently that its
// time does not distinguish its versions.
func (x *LineIndex) of(path workspace.Path, info workspace.Info, form textfile.Form) *lineMap {
	if x == nil || time.Since(info.ModTime) < settled {
		return nil
	}
	host := path.Host()
	version := fmt.Sprintf("%s %x %s %d", info.Version(), info.Device, form.Encoding.Name(), form.BOM)
	x.mu.Lock()
	defer x.mu.Unlock()
	if m, ok := x.files.Get(host); ok && m.version == version {
		return m
	}
	m := &lineMap{version: version, step: indexStep, total: -1}
	x.files.Add(host, m)
	return m
}

// before returns the last place known that has at most so many lines before it.
func (m *lineMap) before(lines int64) (textfile.Position, bool) {
	if m == nil {
		return textfile.Position{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i, _ := slices.BinarySearchFunc(m.places, lines+1, func(p textfile.Position, line int64) int {
		return cmp.Compare(p.Line, line)
	})
	if i == 0 {
		return textfile.Position{}, false
	}
	return m.places[i-1], true
}

// add remembers a place after the known ones.
func (m *lineMap) add(p textfile.Position) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := int64(0)
	if n := len(m.places); n > 0 {
		last = m.places[n-1].Pos
	}
	if p.Pos < last+m.step {
		return
	}
	if len(m.places) == indexedPlaces {
		m.step *= 2
		kept := m.places[:0]
		for i := 1; i < indexedPlaces; i += 2 {
			kept = append(kept, m.places[i])
		}
		m.places = kept
	}
	m.places = append(m.places, p)
}

// forget drops all places, since the file has changed.
func (m *lineMap) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.places, m.total = nil, -1
}

func (m *lineMap) setTotal(lines int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total = lines
}

// lines returns the number of lines, -1 if unknown.
func (m *lineMap) lines() int64 {
	if m == nil {
		return -1
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total
}
