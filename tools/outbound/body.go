package outbound

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
)

// Limits of encoded bodies.
const (
	encodings  = "gzip, deflate, br, zstd"
	mostRatio  = 200     // decoded bytes for each one that was sent,
	freeBytes  = 1 << 20 // beyond this many
	mostWindow = 8 << 20 // that zstd may have over HTTP (RFC 9659)
)

// Progress of a body is told after slowBody, and then once in every reportEvery.
const slowBody, reportEvery = 2 * time.Second, time.Second

// answer returns the response of the last hop with its body decoded and bounded.
func (j *journey) answer(res *http.Response) (*Response, error) {
	j.phase.set(reading)
	b := &body{journey: j, wire: res.Body, sent: res.Body, most: j.request.MaxBytes, total: res.ContentLength, told: j.began.Add(slowBody)}
	encoding := strings.ToLower(strings.TrimSpace(strings.Join(res.Header.Values("Content-Encoding"), ",")))
	if j.method == http.MethodHead || res.ContentLength == 0 {
		encoding = ""
	}
	if encoding != "" && encoding != "identity" {
		b.total = -1
		b.encoding = encoding
		res.Header.Del("Content-Encoding")
		res.Header.Del("Content-Length")
	}
	out := &Response{URL: j.url.String(), Status: res.StatusCode, Header: res.Header, Length: b.total, Body: b}
	switch {
	case b.total > b.most && j.method != http.MethodHead:
		_ = b.Close()
		return nil, b.large()
	case !knownEncoding(b.encoding):
		_ = b.Close()
		return nil, tools.Errorf(tools.Unsupported, "%s: the body is encoded as %q; known are %s", j.shown(), encoding, encodings)
	}
	return out, nil
}

func knownEncoding(name string) bool {
	switch name {
	case "", "gzip", "x-gzip", "deflate", "br", "zstd":
		return true
	}
	return false
}

// body decodes while it is read.
type body struct {
	journey  *journey
	wire     io.ReadCloser
	sent     io.Reader // wire, decoded once opened
	encoding string    // "" = it is not encoded, or its decoder is open
	decodes  bool      // sent is a decoder
	free     func()    // ends the decoder, nil = nothing to end

	most, total int64
	read, got   int64 // decoded bytes, and those of the wire
	told        time.Time
	failed      error
}

func (b *body) Read(p []byte) (int, error) {
	if b.failed != nil {
		return 0, b.failed
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := b.next(p)
	b.failed = err
	return n, err
}

func (b *body) next(p []byte) (int, error) {
	if b.encoding != "" {
		if err := b.open(); err != nil {
			return 0, b.fail(err)
		}
	}
	// One byte more than is allowed shows that there is more.
	p = p[:min(int64(len(p)), b.most-b.read+1)]
	n, err := b.sent.Read(p)
	b.read += int64(n)
	if !b.decodes {
		b.got = b.read
	}
	switch {
	case b.read > b.most:
		return 0, b.large()
	case b.decodes && b.read > freeBytes && b.read > mostRatio*b.got:
		return 0, tools.Errorf(tools.TooLarge, "%s: the body grows to more than %d times its size when it is decoded", b.journey.shown(), mostRatio)
	}
	b.report()
	if err != nil && err != io.EOF {
		return n, b.fail(err)
	}
	return n, err
}

// open makes the decoder. An empty body decodes to itself.
func (b *body) open() error {
	counted := &counter{b}
	buf := bufio.NewReaderSize(counted, 4<<10)
	head, err := buf.Peek(2)
	if len(head) == 0 {
		if err == io.EOF {
			b.encoding, b.sent = "", http.NoBody
			return nil
		}
		return err
	}
	name := b.encoding
	b.encoding, b.decodes = "", true
	switch name {
	case "br":
		b.sent = brotli.NewReader(buf)
	case "zstd":
		d, err := zstd.NewReader(buf, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(mostWindow))
		if err != nil {
			return err
		}
		b.sent, b.free = d, d.Close
	case "deflate": // by RFC 9110 with the header of zlib, by some servers without
		if len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			b.sent, err = zlib.NewReader(buf)
			return err
		}
		b.sent = flate.NewReader(buf)
	default:
		b.sent, err = gzip.NewReader(buf)
		return err
	}
	return nil
}

// counter counts what is read from the wire.
type counter struct{ b *body }

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.b.wire.Read(p)
	c.b.got += int64(n)
	if err != nil && err != io.EOF {
		err = &wireError{err}
	}
	return n, err
}

// wireError tells errors of the connection from those of a decoder.
type wireError struct{ err error }

func (e *wireError) Error() string { return e.err.Error() }
func (e *wireError) Unwrap() error { return e.err }

func (b *body) large() error {
	return tools.Errorf(tools.TooLarge, "%s: the body has more than %s", b.journey.shown(), textfile.Size(b.most))
}

func (b *body) fail(err error) error {
	j := b.journey
	_, wire := errors.AsType[*wireError](err)
	switch {
	case j.ctx.Err() != nil:
	case b.decodes && !wire:
		if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			return tools.Errorf(tools.TooLarge, "%s: decoding the body needs a window of more than %s", j.shown(), textfile.Size(mostWindow))
		}
		return tools.Errorf(tools.Unavailable, "%s: the body is cut short or is not encoded as its header says: %v", j.shown(), err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return tools.Errorf(tools.Unavailable, "%s: the body ends after %d bytes, before its announced end", j.shown(), b.got)
	}
	e := j.fail(err)
	if e.Code == tools.Timeout {
		e.Msg += fmt.Sprintf(", of which %d bytes have come", b.got)
	}
	return e
}

// Close ends the connection if the body was not read to its end.
func (b *body) Close() error {
	if b.free != nil {
		b.free()
		b.free = nil
	}
	b.failed = errClosed
	err := b.wire.Close()
	b.journey.cancel()
	return err
}

var errClosed = tools.Errorf(tools.Internal, "the body was closed before it was read")

// report tells the caller of the tool how far a long body has come.
func (b *body) report() {
	now := time.Now()
	if now.Before(b.told) {
		return
	}
	b.told = now.Add(reportEvery)
	e := tools.ProgressEvent{Done: float64(b.read), Total: float64(max(b.total, 0)), Message: textfile.Size(b.read) + " read from " + b.journey.target.Hostname()}
	tools.Progress(b.journey.caller)(e)
}
