package server

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// A body takes memory before anything is known of it, so what all bodies together
// take is bounded: small ones are read at once, medium ones share some memory,
// large ones one buffer. What a body says of its length is believed only as far as
// a medium one: a small body takes what it announces at once, a medium one when the
// first smallBody bytes have come; without a length, memory is taken as bytes come
// in. Where none is free, the bodies lose theirs that stall, those first of which
// nothing came for longest.
const (
	smallBody   = 8 << 10
	middleBody  = 64 << 10
	mediumBody  = 256 << 10
	mediumBytes = 8 << 20 // of all medium bodies; those over middleBody have half
	// maxQueue is how many bodies wait for the large buffer, with what they have, and
	// largeIdle how long it is kept that nobody uses.
	maxQueue  = 16
	largeIdle = time.Minute
	// bodyWait is how long a body may take, memoryWait how long it waits for
	// memory, and memoryCheck how often those who wait look for bodies that stall.
	bodyWait    = 30 * time.Second
	memoryWait  = 5 * time.Second
	memoryCheck = 20 * time.Millisecond
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
	idle  *time.Timer // lets go of the buffer

	mu      sync.Mutex
	held    int // bytes of medium bodies
	wanted  int // bytes that bodies wait for
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
	bodies  *bodies
	request *http.Request
	control *http.ResponseController
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
		buffer = make([]byte, maxMessage+1)
	}
	defer func() {
		o.bodies.large <- buffer
		o.bodies.idle.Reset(largeIdle)
	}()
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
			o.giveBack() // before somebody takes it for one that stalls
			return true, nil
		case err != nil:
			return false, err
		}
	}
	return false, nil
}
