package inbound

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"
)

// A body takes memory before anything is known of it, so what all bodies together
// take is bounded: small ones are read at once, medium ones share some memory,
// large ones one buffer. The announced length of a body is trusted only up to a
// medium one: a small body takes that memory at once, a medium one when the
// first smallBody bytes have come; without a length, memory is taken as bytes come
// in. Where none is free, the bodies lose theirs that stall, those first of which
// nothing came for longest.
const (
	smallBody   = 8 << 10
	middleBody  = 64 << 10
	mediumBody  = 256 << 10
	mediumBytes = 8 << 20 // of all medium bodies; those over middleBody have half
	// maxQueue is how many bodies wait for the large buffer, keeping the bytes that they
	// have. largeIdle is how long an unused large buffer is kept.
	maxQueue  = 16
	largeIdle = time.Minute
	// BodyWait is how long a body may take, memoryWait how long it waits for
	// memory, and memoryCheck how often those who wait look for bodies that stall.
	BodyWait    = 30 * time.Second
	memoryWait  = 5 * time.Second
	memoryCheck = 20 * time.Millisecond
	// A body stalls if nothing of it came for stallAfter, or if it has come more slowly
	// than stallRate bytes a second for as long as slowAfter.
	stallAfter = 50 * time.Millisecond
	slowAfter  = time.Second
	stallRate  = 64 << 10
)

// Reasons not to read a body.
var (
	ErrTooLarge = errors.New("too large")
	ErrCrowded  = errors.New("no memory is free")
	ErrSlow     = errors.New("too slow")
)

// Bodies reads the bodies of requests.
type Bodies struct {
	large chan []byte // the buffer, nil if it is not made yet
	queue chan struct{}
	idle  *time.Timer // lets go of the buffer

	mu      sync.Mutex
	held    int // bytes of medium bodies
	wanted  int // bytes that bodies wait for
	reading map[*body]struct{}
	freed   chan struct{} // closed when bytes are given back
	looked  time.Time     // for bodies that stall
}

// NewBodies makes a reader of bodies that holds no memory yet.
func NewBodies() *Bodies {
	b := &Bodies{
		large: make(chan []byte, 1), queue: make(chan struct{}, maxQueue),
		reading: map[*body]struct{}{}, freed: make(chan struct{}),
	}
	b.large <- nil
	b.idle = time.AfterFunc(largeIdle, func() {
		select {
		case <-b.large:
			b.large <- nil
		default: // it is in use
		}
	})
	return b
}

// body is the body of one request while it is read.
type body struct {
	bodies  *Bodies
	request *http.Request
	control *http.ResponseController
	limit   int // in bytes
	read    []byte

	// Under the lock of the bodies:
	held     int  // bytes of the shared memory
	large    bool // has the large buffer
	waits    bool // for that
	expelled bool
	since    time.Time
	moved    time.Time // when bytes came last
	came     int       // since since
}

// Read returns the body of a request, of at most limit bytes. Its error is ErrTooLarge,
// ErrCrowded, ErrSlow or that of the connection.
func (b *Bodies) Read(w http.ResponseWriter, r *http.Request, limit int) ([]byte, error) {
	if r.ContentLength > int64(limit) {
		return nil, ErrTooLarge
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(BodyWait))
	one := &body{bodies: b, request: r, control: control, limit: limit}
	whole, err := one.drain()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, ErrSlow
	case err != nil:
		return nil, err
	}
	_ = control.SetReadDeadline(time.Time{})
	return whole, nil
}

// drain reads the body into memory of its own.
func (o *body) drain() ([]byte, error) {
	defer o.giveBack()
	length := int(o.request.ContentLength)
	if 0 <= length && length < smallBody {
		_, err := o.grow(length+1, length+1) // a byte more, to see the end
		return o.read, err
	}
	if whole, err := o.grow(1<<10, smallBody); whole || err != nil {
		return o.read, err
	}
	if length < 0 {
		if whole, err := o.grow(4*smallBody, mediumBody); whole || err != nil {
			return o.read, err
		}
	} else if length < mediumBody {
		_, err := o.grow(length+1, length+1)
		return o.read, err
	}
	return o.drainLarge()
}

// grow reads on in a buffer of low bytes, and in ever larger ones up to high.
func (o *body) grow(low, high int) (whole bool, err error) {
	for size := low; ; size = min(4*size, high) {
		if size > smallBody {
			if err := o.reserve(size); err != nil {
				return false, err
			}
		}
		o.read = append(make([]byte, 0, size), o.read...)
		if whole, err := o.fill(); whole || err != nil || size == high {
			return whole, err
		}
	}
}

// drainLarge reads on in the large buffer, of which the message gets a copy.
func (o *body) drainLarge() ([]byte, error) {
	buffer, err := o.takeLarge()
	if err != nil {
		return nil, err
	}
	if buffer == nil {
		buffer = make([]byte, o.limit+1)
	}
	defer func() {
		o.bodies.large <- buffer
		o.bodies.idle.Reset(largeIdle)
	}()
	o.read = append(buffer[:0], o.read...)
	switch whole, err := o.fill(); {
	case err != nil:
		return nil, err
	case !whole || len(o.read) > o.limit:
		return nil, ErrTooLarge
	}
	return append(make([]byte, 0, len(o.read)), o.read...), nil
}

// fill reads until the buffer is full; whole reports that the body has ended.
func (o *body) fill() (whole bool, err error) {
	for len(o.read) < cap(o.read) {
		n, err := o.request.Body.Read(o.read[len(o.read):cap(o.read)])
		o.read = o.read[:len(o.read)+n]
		o.note(n)
		switch {
		case errors.Is(err, io.EOF):
			o.giveBack() // before somebody takes it for one that stalls
			return true, nil
		case err != nil:
			return false, err
		}
	}
	return false, nil
}

// reserve sees to it that the body holds size bytes of the shared memory. A body
// that holds some already does not wait for more, or those who wait would keep
// the memory from each other.
func (o *body) reserve(size int) error {
	b := o.bodies
	b.mu.Lock()
	defer b.mu.Unlock()
	room := mediumBytes
	if size > middleBody {
		room /= 2
	}
	more := size - o.held
	if b.held+more > room {
		if o.held > 0 {
			return ErrCrowded
		}
		if err := o.await(more, room); err != nil {
			return err
		}
	}
	now := time.Now()
	if o.held == 0 {
		o.since = now
		b.reading[o] = struct{}{}
	}
	o.moved = now
	b.held += more
	o.held = size
	return nil
}

// await waits until more bytes fit into the room. The caller holds the lock.
func (o *body) await(more, room int) error {
	b := o.bodies
	b.wanted += more
	defer func() { b.wanted -= more }()
	for end := time.Now().Add(memoryWait); b.held+more > room; {
		b.expel(false, b.held+b.wanted-room)
		freed := b.freed
		b.mu.Unlock()
		select {
		case <-freed:
		case <-time.After(memoryCheck):
		case <-o.request.Context().Done():
		}
		b.mu.Lock()
		if err := o.request.Context().Err(); err != nil {
			return err
		}
		if time.Now().After(end) {
			return ErrCrowded
		}
	}
	return nil
}

// takeLarge waits for the large buffer.
func (o *body) takeLarge() (buffer []byte, err error) {
	b := o.bodies
	select {
	case b.queue <- struct{}{}:
		defer func() { <-b.queue }()
	default:
		return nil, ErrCrowded
	}
	o.mark(func() {
		o.waits = true
		b.reading[o] = struct{}{}
	})
	defer o.mark(func() {
		o.waits, o.large, o.came = false, err == nil, 0
		o.since = time.Now()
		o.moved = o.since
	})
	ctx, stop := context.WithTimeout(o.request.Context(), memoryWait)
	defer stop()
	look := time.NewTicker(memoryCheck)
	defer look.Stop()
	for {
		select {
		case buffer := <-b.large:
			return buffer, nil
		case <-look.C:
			b.mu.Lock()
			b.expel(true, 1)
			b.mu.Unlock()
		case <-ctx.Done():
			return nil, ErrCrowded
		}
	}
}

// expel ends the reading of bodies that stall until they give back as many bytes
// as are wanted. The caller holds the lock.
func (b *Bodies) expel(large bool, wanted int) {
	now := time.Now()
	if now.Sub(b.looked) < stallAfter/10 {
		return // others look too
	}
	b.looked = now
	var stalled []*body
	for o := range b.reading {
		held := now.Sub(o.since)
		slow := held > slowAfter && float64(o.came)/held.Seconds() < stallRate
		switch {
		case o.large != large || o.waits:
		case o.expelled: // it is about to give back
			wanted -= o.held
		case slow || now.Sub(o.moved) > stallAfter:
			stalled = append(stalled, o)
		}
	}
	slices.SortFunc(stalled, func(a, b *body) int { return a.moved.Compare(b.moved) })
	for _, o := range stalled {
		if wanted <= 0 {
			return
		}
		wanted -= max(o.held, 1)
		o.expelled = true
		_ = o.control.SetReadDeadline(now) // its read ends with a timeout
	}
}

// note notes that bytes came. A body that holds nothing need not be watched.
func (o *body) note(n int) {
	if cap(o.read) > smallBody {
		o.mark(func() { o.came, o.moved = o.came+n, time.Now() })
	}
}

func (o *body) mark(change func()) {
	o.bodies.mu.Lock()
	defer o.bodies.mu.Unlock()
	change()
}

func (o *body) giveBack() {
	o.mark(func() {
		b := o.bodies
		delete(b.reading, o)
		if o.held > 0 {
			b.held -= o.held
			o.held = 0
			close(b.freed)
			b.freed = make(chan struct{})
		}
	})
}
