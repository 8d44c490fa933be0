package jobs

import (
	"bytes"
	"io"
	"sync"

	"toolcrib/workspace"
)

// Bounds of the output that is kept of one job.
const (
	inMemory  = 64 << 10  // bytes kept in memory before a file is made
	leastTail = 64 << 10  // bytes at the end that are always kept
	growth    = 1 << 20   // bytes by which a file grows
	memHead   = 64 << 10  // bytes kept in memory if no file can be made
	memTail   = 192 << 10 // likewise
)

// store stores the output of a job.
type store interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// Log is the output of a job. If it is too long, only its first and last bytes are kept. The
// store is a file of bounded size: the head, then a ring. Several goroutines may use a Log.
type Log struct {
	mu    sync.Mutex
	mem   []byte // all of it, while store is nil
	store store
	spill func() (store, error)
	// grant returns how many of the wanted bytes of disk the log may take.
	grant func(want int64) bool

	head, tail int64 // bytes of either end that the store keeps
	granted    int64 // bytes that the store may have
	taken      int64 // bytes of granted that came from grant
	n          int64 // bytes of output
	kept       int64 // bytes that were written to the store: less than n after an error
	err        error // of the store
	index      index
	grown      chan struct{} // closed with the next output or the end; nil: nobody waits
	ended      bool
}

// Extent is the size of the output, and the part of it that is not kept.
type Extent struct {
	Bytes, Lines   int64 // a last line without a line feed counts
	GapFrom, GapTo int64 // offsets; equal = everything is kept
	Ended          bool
	Err            error // why output was not kept
}

func newLog(head, tail int64, spill func() (store, error), grant func(int64) bool) *Log {
	return &Log{head: head, tail: tail, spill: spill, grant: grant}
}

// Write implements [io.Writer]. It never fails: bytes that cannot be kept are only counted.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.index.add(p, l.n, l.gap)
	l.n += int64(len(p))
	if err := l.put(p); err != nil && l.err == nil {
		l.err = err
	}
	l.wake()
	return len(p), nil
}

func (l *Log) put(p []byte) error {
	if l.err != nil || l.ended {
		return nil
	}
	if l.store == nil {
		if len(l.mem)+len(p) <= inMemory {
			l.mem = append(l.mem, p...)
			l.kept += int64(len(p))
			return nil
		}
		l.open()
		mem := l.mem
		l.mem, l.kept = nil, 0
		if err := l.put(mem); err != nil {
			return err
		}
	}
	for len(p) > 0 {
		at, room := l.place(l.kept)
		k := min(room, int64(len(p)))
		if at+k > l.granted && !l.more(at+k-l.granted) {
			continue // with the new bounds
		}
		if _, err := l.store.WriteAt(p[:k], at); err != nil {
			return err
		}
		l.kept += k
		p = p[k:]
	}
	return nil
}

// open makes the store: a file, or memory if no file can be made.
func (l *Log) open() {
	s, err := l.spill()
	if err != nil {
		l.head, l.tail = memHead, memTail
		l.granted = memHead + memTail
		s = make(memory, memHead+memTail)
	}
	l.store = s
}

// more takes disk for the log. If there is none, the ring stays as large as it is.
func (l *Log) more(want int64) bool {
	want = max(want, min(growth, l.head+l.tail-l.granted))
	if l.grant(want) {
		l.granted += want
		l.taken += want
		return true
	}
	l.head = min(l.head, l.granted)
	l.tail = max(l.granted-l.head, leastTail)
	l.granted = l.head + l.tail
	return false
}

// place returns the position in the store of the byte at an offset, and how many bytes follow
// it there.
func (l *Log) place(offset int64) (at, room int64) {
	if offset < l.head {
		return offset, l.head - offset
	}
	in := (offset - l.head) % l.tail
	return l.head + in, l.tail - in
}

// gap returns the offsets of the part between head and tail that is not kept.
func (l *Log) gap() (from, to int64) {
	if l.store == nil || l.kept <= l.head+l.tail {
		return l.kept, l.kept
	}
	return l.head, l.kept - l.tail
}

func (l *Log) wake() {
	if l.grown != nil {
		close(l.grown)
		l.grown = nil
	}
}

// end marks the end of the output.
func (l *Log) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.wake()
}

// drop releases the store.
func (l *Log) drop() (disk int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.wake()
	disk, l.taken = l.taken, 0
	l.mem, l.kept = nil, 0
	if l.store != nil {
		err = l.store.Close()
		l.store = memory(nil)
	}
	return disk, err
}

// onDisk reports whether the log uses disk.
func (l *Log) onDisk() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken > 0
}

// Grown returns a channel that is closed when there is output beyond offset, or the output
// has ended.
func (l *Log) Grown(offset int64) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n > offset || l.ended {
		now := make(chan struct{})
		close(now)
		return now
	}
	if l.grown == nil {
		l.grown = make(chan struct{})
	}
	return l.grown
}

// Extent returns the extent of the output.
func (l *Log) Extent() Extent {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := Extent{Bytes: l.n, Lines: l.index.lines, Ended: l.ended, Err: l.err}
	if l.index.open {
		e.Lines++
	}
	e.GapFrom, e.GapTo = l.gap()
	if l.kept < l.n {
		e.GapTo = l.n
	}
	return e
}

// Read returns at most most bytes from an offset on. from is their offset: it is later than
// asked for if that part is not kept. Bytes before and after the gap are never returned
// together.
func (l *Log) Read(offset int64, most int) (data []byte, from int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read(offset, most)
}

func (l *Log) read(offset int64, most int) (data []byte, from int64, err error) {
	offset = max(offset, 0)
	gapFrom, gapTo := l.gap()
	if offset >= gapFrom && offset < gapTo {
		offset = gapTo
	}
	end := l.kept
	if offset < gapFrom {
		end = gapFrom
	}
	if offset >= end {
		return nil, max(offset, l.kept), nil
	}
	if l.store == nil {
		end = min(end, offset+int64(most))
		return bytes.Clone(l.mem[offset:end]), offset, nil
	}
	data = make([]byte, min(end-offset, int64(most)))
	for done := int64(0); done < int64(len(data)); {
		at, room := l.place(offset + done)
		part := data[done:min(done+room, int64(len(data)))]
		n, err := l.store.ReadAt(part, at)
		if n < len(part) {
			return nil, offset, err
		}
		done += int64(n)
	}
	return data, offset, nil
}

// memory is a store of a fixed size.
type memory []byte

func (m memory) ReadAt(p []byte, at int64) (int, error) {
	if at >= int64(len(m)) {
		return 0, io.EOF
	}
	n := copy(p, m[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m memory) WriteAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > int64(len(m)) {
		return 0, io.ErrShortWrite
	}
	return copy(m[at:], p), nil
}

func (m memory) Close() error { return nil }

// spoolFolder is the folder of the state that holds output.
const spoolFolder = "output"

// spool makes a file for the output of a job in the state of its workspace.
func (m *Manager) spool(ws *workspace.Workspace) (store, error) {
	dir, err := ws.State()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	swept := m.swept[dir.Path()]
	m.swept[dir.Path()] = true
	m.mu.Unlock()
	if !swept {
		_ = dir.Sweep(spoolFolder) // the next sweep tries again
	}
	return dir.Spool(spoolFolder)
}

// grant takes disk for a log. If there is none left, it takes that of the jobs that ended
// first.
func (m *Manager) grant(want int64) bool {
	for {
		m.mu.Lock()
		if m.disk+want <= m.opt.Disk {
			m.disk += want
			m.mu.Unlock()
			return true
		}
		var oldest *Job
		for _, j := range m.jobs {
			if j.isDone() && j.log.onDisk() && (oldest == nil || j.Ended().Before(oldest.Ended())) {
				oldest = j
			}
		}
		m.mu.Unlock()
		if oldest == nil {
			return false
		}
		m.Forget(oldest)
	}
}
