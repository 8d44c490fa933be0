package server

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// A body takes memory before anything is known of it, so what all bodies together
// take is bounded: a small one is read at once, one that turns out to be larger
// goes on in one of a few places, whose memory is used again. Whoever stalls in
// a place loses it when another body needs one.
const (
	smallBody   = 8 << 10
	mediumBody  = 256 << 10
	mediumCount = 32
	// bodyWait is how long a body may take, placeWait how long it waits for a
	// place.
	bodyWait  = 30 * time.Second
	placeWait = 5 * time.Second
	// A body is stalling that has had its place for stallAfter and come in more
	// slowly than stallRate bytes a second.
	stallAfter = 500 * time.Millisecond
	stallRate  = 256 << 10
)

var (
	errTooLarge = errors.New("too large")
	errCrowded  = errors.New("no place")
)

// isJSON reports whether the request has a body of JSON, which is UTF-8.
func isJSON(r *http.Request) bool {
	values := r.Header.Values("Content-Type")
	if len(values) != 1 || r.Header.Get("Content-Encoding") != "" {
		return false
	}
	media, params, err := mime.ParseMediaType(values[0])
	charset, named := params["charset"]
	return err == nil && media == "application/json" && (!named || strings.EqualFold(charset, "utf-8"))
}

// bodies reads the bodies of requests.
type bodies struct{ medium, large *places }

func newBodies() *bodies {
	return &bodies{medium: newPlaces(mediumCount, mediumBody), large: newPlaces(1, maxMessage+1)}
}

// read returns the body of a request, or the status and the error that refuse it.
func (b *bodies) read(w http.ResponseWriter, r *http.Request) ([]byte, int, *fault) {
	tooLarge := refuse(mcp.INVALID_REQUEST, "the message is longer than %d bytes", maxMessage)
	if r.ContentLength > maxMessage {
		return nil, http.StatusRequestEntityTooLarge, tooLarge
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyWait))
	body, err := b.drain(r, control)
	if err == nil {
		_ = control.SetReadDeadline(time.Time{})
		return body, 0, nil
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

// drain reads a body into memory of its own.
func (b *bodies) drain(r *http.Request, control *http.ResponseController) ([]byte, error) {
	room := smallBody
	if r.ContentLength >= 0 && r.ContentLength < smallBody {
		room = int(r.ContentLength) + 1 // a byte more, to see the end
	}
	body, whole, err := fill(make([]byte, 0, room), r.Body, nil)
	if whole || err != nil {
		return body, err
	}
	for _, tier := range []*places{b.medium, b.large} {
		p, err := tier.take(r.Context(), control)
		if err != nil {
			return nil, err
		}
		defer tier.give(p)
		body, whole, err = fill(append(p.memory[:0], body...), r.Body, p)
		switch {
		case err != nil:
			return nil, err
		case whole && len(body) <= maxMessage:
			return append(make([]byte, 0, len(body)), body...), nil
		}
		p.park()
	}
	return nil, errTooLarge
}

// fill reads into the free part of buf; whole reports that the body has ended.
func fill(buf []byte, r io.Reader, p *place) (_ []byte, whole bool, err error) {
	for len(buf) < cap(buf) {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		p.came(n)
		switch {
		case errors.Is(err, io.EOF):
			return buf, true, nil
		case err != nil:
			return nil, false, err
		}
	}
	return buf, false, nil
}

// places are buffers of one size.
type places struct {
	size int
	free chan []byte // nil where the memory is not made yet

	mu    sync.Mutex
	taken map[*place]struct{}
}

// place is a buffer while a body is read into it.
type place struct {
	memory  []byte
	control *http.ResponseController
	since   time.Time

	mu     sync.Mutex
	read   int  // bytes that came into it
	parked bool // it is full, and its body waits for a larger one
}

func newPlaces(count, size int) *places {
	ps := &places{size: size, free: make(chan []byte, count), taken: map[*place]struct{}{}}
	for range count {
		ps.free <- nil
	}
	return ps
}

// take waits for a place; where the others stall, it takes one from them.
func (ps *places) take(ctx context.Context, control *http.ResponseController) (*place, error) {
	var memory []byte
	select {
	case memory = <-ps.free:
	default:
		end := time.NewTimer(placeWait)
		defer end.Stop()
		look := time.NewTicker(stallAfter / 10)
		defer look.Stop()
		for found := false; !found; {
			ps.expel()
			select {
			case memory = <-ps.free:
				found = true
			case <-look.C:
			case <-end.C:
				return nil, errCrowded
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
	if memory == nil {
		memory = make([]byte, ps.size)
	}
	p := &place{memory: memory, control: control, since: time.Now()}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.taken[p] = struct{}{}
	return p, nil
}

func (ps *places) give(p *place) {
	ps.mu.Lock()
	delete(ps.taken, p)
	ps.mu.Unlock()
	ps.free <- p.memory
}

// expel ends the reading of the body that stalls most.
func (ps *places) expel() {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	var slowest *place
	least := float64(stallRate)
	for p := range ps.taken {
		if held := time.Since(p.since); held > stallAfter {
			if sum, parked := p.progress(); !parked && float64(sum)/held.Seconds() < least {
				slowest, least = p, float64(sum)/held.Seconds()
			}
		}
	}
	if slowest != nil {
		_ = slowest.control.SetReadDeadline(time.Now()) // its read ends with a timeout
	}
}

// came notes how many bytes came. A body that has no place yet is nil.
func (p *place) came(n int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read += n
}

func (p *place) park() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parked = true
}

func (p *place) progress() (read int, parked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.read, p.parked
}
