package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// A body takes memory before anything is known of it, so what all bodies together
// take is bounded: small ones are read at once, medium ones share some memory,
// large ones one buffer. Memory is taken as bytes come in, never as they are
// announced. Where none is free, the bodies lose theirs that stall, those first of
// which nothing came for longest.
const (
	smallBody   = 8 << 10
	middleBody  = 64 << 10
	mediumBody  = 256 << 10
	mediumBytes = 8 << 20 // of all medium bodies; those over middleBody have half
	// maxQueue is how many bodies wait for the large buffer, with what they have.
	maxQueue = 16
	// bodyWait is how long a body may take, memoryWait how long it waits for
	// memory, and memoryCheck how often those who wait look for bodies that stall.
	bodyWait    = 30 * time.Second
	memoryWait  = 5 * time.Second
	memoryCheck = 50 * time.Millisecond
	// A body stalls of which nothing came for stallAfter, or which has come more
	// slowly than stallRate bytes a second for as long as slowAfter.
	stallAfter = 50 * time.Millisecond
	slowAfter  = time.Second
	stallRate  = 64 << 10
)

var (
	errTooLarge = errors.New("too large")
	errCrowded  = errors.New("no memory is free")
)

// bodies reads the bodies of requests.
type bodies struct {
	large chan []byte // the buffer, nil where it is not made yet
	queue chan struct{}

	mu      sync.Mutex
	held    int // bytes of medium bodies
	reading map[*body]struct{}
	freed   chan struct{} // closed when bytes are given back
	looked  time.Time     // for bodies that stall
}

func newBodies() *bodies {
	b := &bodies{
		large: make(chan []byte, 1), queue: make(chan struct{}, maxQueue),
		reading: map[*body]struct{}{}, freed: make(chan struct{}),
	}
	b.large <- nil
	return b
}

// body is the body of one request while it is read.
type body struct {
	bodies  *bodies
	request *http.Request
	control *http.ResponseController
	read    []byte

	// Under the lock of the bodies:
	held     int  // bytes of the shared memory
	large    bool // has the large buffer
	waits    bool // for memory
	expelled bool
	since    time.Time
	moved    time.Time // when bytes came last
	came     int       // since since
}

// read returns the body of a request, or the status and the error that refuse it.
func (b *bodies) read(w http.ResponseWriter, r *http.Request) ([]byte, int, *fault) {
	tooLarge := refuse(mcp.INVALID_REQUEST, "the message is longer than %d bytes", maxMessage)
	if r.ContentLength > maxMessage {
		return nil, http.StatusRequestEntityTooLarge, tooLarge
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyWait))
	one := &body{bodies: b, request: r, control: control}
	whole, err := one.drain()
	if err == nil {
		_ = control.SetReadDeadline(time.Time{})
		return whole, 0, nil
	}
	// What is left of the body must not hold the answer back.
	_ = control.SetReadDeadline(time.Now().Add(time.Second))
	switch {
	case errors.Is(err, errTooLarge):
		return nil, http.StatusRequestEntityTooLarge, tooLarge
	case errors.Is(err, errCrowded):
		return nil, http.StatusServiceUnavailable, refuse(mcp.INTERNAL_ERROR, "too many large messages at once; try again")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, http.StatusRequestTimeout, refuse(mcp.INVALID_REQUEST, "the message came too slowly")
	}
	return nil, http.StatusBadRequest, refuse(mcp.INVALID_REQUEST, "the message did not come whole")
}

// drain reads the body into memory of its own.
func (o *body) drain() ([]byte, error) {
	defer o.giveBack()
	for size := 1 << 10; ; size *= 4 {
		if n := o.request.ContentLength + 1; n > 0 && n <= mediumBody && (n <= smallBody || len(o.read) >= smallBody) {
			size = int(n) // a byte more, to see the end
		}
		if size > smallBody {
			if err := o.reserve(size); err != nil {
				return nil, err
			}
		}
		o.read = append(make([]byte, 0, size), o.read...)
		if whole, err := o.fill(); whole || err != nil {
			return o.read, err
		}
		if size >= mediumBody {
			return o.drainLarge()
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
		buffer = make([]byte, maxMessage+1)
	}
	defer func() { o.bodies.large <- buffer }()
	o.read = append(buffer[:0], o.read...)
	switch whole, err := o.fill(); {
	case err != nil:
		return nil, err
	case !whole || len(o.read) > maxMessage:
		return nil, errTooLarge
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
			return true, nil
		case err != nil:
			return false, err
		}
	}
	return false, nil
}

// reserve waits until the body may hold size bytes of the shared memory.
func (o *body) reserve(size int) error {
	b := o.bodies
	b.mu.Lock()
	defer b.mu.Unlock()
	room := mediumBytes
	if size > middleBody {
		room /= 2
	}
	o.waits = true
	for end := time.Now().Add(memoryWait); b.held+size-o.held > room; {
		b.expel(false, b.held+size-o.held-room)
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
			return errCrowded
		}
	}
	now := time.Now()
	if o.held == 0 {
		o.since = now
		b.reading[o] = struct{}{}
	}
	o.waits, o.moved = false, now
	b.held += size - o.held
	o.held = size
	return nil
}

// takeLarge waits for the large buffer.
func (o *body) takeLarge() (buffer []byte, err error) {
	b := o.bodies
	select {
	case b.queue <- struct{}{}:
		defer func() { <-b.queue }()
	default:
		return nil, errCrowded
	}
	o.mark(func() { o.waits = true })
	defer o.mark(func() {
		o.waits, o.large, o.came = false, true, 0
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
			return nil, errCrowded
		}
	}
}

// expel ends the reading of bodies that stall until they give back as many bytes
// as are wanted. The caller holds the lock.
func (b *bodies) expel(large bool, wanted int) {
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
		if o.held > 0 {
			delete(b.reading, o)
			b.held -= o.held
			close(b.freed)
			b.freed = make(chan struct{})
		}
	})
}
