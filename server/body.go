package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// Reading of bodies. A body takes memory before anything is known of it, so what
// all bodies together may take is bounded: a small one is read at once, one that
// turns out to be larger waits for one of a few places. Somebody who sends slowly
// never gets so far as to hold a place.
const (
	smallBody   = 8 << 10
	mediumBody  = 256 << 10
	mediumSlots = 32
	// bodyWait is how long a body may take, slotWait how long it waits for a
	// place.
	bodyWait = 30 * time.Second
	slotWait = 5 * time.Second
)

type bodies struct {
	medium chan struct{}
	large  chan *bytes.Buffer // the one buffer for bodies of up to maxMessage
}

func newBodies() *bodies {
	b := &bodies{medium: make(chan struct{}, mediumSlots), large: make(chan *bytes.Buffer, 1)}
	b.large <- new(bytes.Buffer)
	return b
}

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

// read returns the body of a request, or the status and the error that refuse it.
func (b *bodies) read(w http.ResponseWriter, r *http.Request) ([]byte, int, *fault) {
	tooLarge := refuse(mcp.INVALID_REQUEST, "the message is longer than %d bytes", maxMessage)
	if r.ContentLength > maxMessage {
		return nil, http.StatusRequestEntityTooLarge, tooLarge
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyWait))
	body, err := b.drain(r)
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
		return nil, http.StatusRequestTimeout, refuse(mcp.INVALID_REQUEST, "the message did not come within %s", bodyWait)
	}
	return nil, http.StatusBadRequest, refuse(mcp.INVALID_REQUEST, "the message did not come whole")
}

var (
	errTooLarge = errors.New("too large")
	errCrowded  = errors.New("no place")
)

func (b *bodies) drain(r *http.Request) ([]byte, error) {
	first := int64(smallBody)
	if r.ContentLength >= 0 {
		first = min(first, r.ContentLength)
	}
	body := make([]byte, 0, first+1) // a byte more, to see the end
	body, whole, err := fill(body, r.Body)
	if whole || err != nil {
		return body, err
	}
	select {
	case b.medium <- struct{}{}:
		defer func() { <-b.medium }()
	default:
		if err := wait(r.Context(), func(ctx context.Context) bool {
			select {
			case b.medium <- struct{}{}:
				return true
			case <-ctx.Done():
				return false
			}
		}); err != nil {
			return nil, err
		}
		defer func() { <-b.medium }()
	}
	for cap(body) < mediumBody {
		body = append(make([]byte, 0, min(4*cap(body), mediumBody)), body...)
		if body, whole, err = fill(body, r.Body); whole || err != nil {
			return body, err
		}
	}
	var buf *bytes.Buffer
	if err := wait(r.Context(), func(ctx context.Context) bool {
		select {
		case buf = <-b.large:
			return true
		case <-ctx.Done():
			return false
		}
	}); err != nil {
		return nil, err
	}
	defer func() { b.large <- buf }()
	buf.Reset()
	buf.Write(body)
	n, err := io.Copy(buf, io.LimitReader(r.Body, maxMessage+1-int64(len(body))))
	switch {
	case err != nil:
		return nil, err
	case n+int64(len(body)) > maxMessage:
		return nil, errTooLarge
	}
	body, buf = buf.Bytes(), new(bytes.Buffer) // the message keeps the memory
	return body, nil
}

// fill reads into the free part of buf; whole reports that the body has ended.
func fill(buf []byte, r io.Reader) (_ []byte, whole bool, err error) {
	for len(buf) < cap(buf) {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case errors.Is(err, io.EOF):
			return buf, true, nil
		case err != nil:
			return nil, false, err
		}
	}
	return buf, false, nil
}

// wait calls take with a context that ends when the waiting does.
func wait(ctx context.Context, take func(context.Context) bool) error {
	ctx, stop := context.WithTimeout(ctx, slotWait)
	defer stop()
	if !take(ctx) {
		return errCrowded
	}
	return nil
}
