// Package rawhttp speaks the protocol over HTTP byte by byte, so that a figure can send
// what a library would not, and spends little on each call.
//
// Start at [Connect] and [Wire.Exchange]; requests.go has the requests of each era. It
// imports the harness and nothing else of toolcrib.
package rawhttp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"slices"
	"strconv"
	"time"
)

// Field returns the value of a member of a JSON object, nil without one. It
// replaces encoding/json, which would be most of what a client costs; text
// that is not JSON gives nil.
func Field(object []byte, key string) []byte {
	i := skipSpace(object, 0)
	if i >= len(object) || object[i] != '{' {
		return nil
	}
	for i = skipSpace(object, i+1); i < len(object) && object[i] == '"'; i = skipSpace(object, i+1) {
		end := SkipValue(object, i)
		name := object[i:end]
		i = skipSpace(object, skipSpace(object, end)+1) // over the colon
		end = SkipValue(object, i)
		if end > len(object) || i >= end {
			return nil
		}
		if len(name) == len(key)+2 && string(name[1:len(name)-1]) == key {
			return object[i:end]
		}
		if i = skipSpace(object, end); i >= len(object) || object[i] != ',' {
			return nil
		}
	}
	return nil
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// SkipValue returns the index after the value that starts at i, more than
// len(b) if it does not end.
func SkipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			for i++; ; i++ {
				n := bytes.IndexAny(b[min(i, len(b)):], `"\`)
				if n < 0 {
					return len(b) + 1
				}
				if i += n; b[i] == '"' {
					break
				}
				i++
			}
			i++
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + 1 + depth // a bracket that closes what holds the value is not part of it
			}
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i + depth
}

// Wire is one connection of a client that speaks HTTP/1.1 by hand: what it costs
// is not what is measured, and it can break off anywhere.
type Wire struct {
	Conn  net.Conn
	in    *bufio.Reader
	lines *bufio.Reader // over the body of a stream
}

// Patience is how long a wire waits for the next byte.
const Patience = 30 * time.Second

// Connect opens a connection without a token.
func Connect(addr string) (*Wire, error) { return ConnectAs(addr, "") }

// ConnectAs is connect for requests that carry a token; "" = they carry none.
func ConnectAs(addr, token string) (*Wire, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	if token != "" {
		conn = bearerConn{conn, []byte("\r\nAuthorization: Bearer " + token)}
	}
	return &Wire{Conn: conn, in: bufio.NewReaderSize(conn, 8<<10), lines: bufio.NewReaderSize(nil, 4<<10)}, nil
}

// bearerConn puts a header into each request. Every Write is the beginning of one.
type bearerConn struct {
	net.Conn
	header []byte
}

func (c bearerConn) Write(p []byte) (int, error) {
	line, rest, found := bytes.Cut(p, []byte("\r\n"))
	if !found {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(slices.Concat(line, c.header, []byte("\r\n"), rest)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close ends the connection. An error is of no use: what it brought is judged.
func (w *Wire) Close() { _ = w.Conn.Close() }

// Response is an HTTP response. Its body must be read before the next request.
type Response struct {
	Status  int
	Session string // Mcp-Session-Id
	Events  bool   // the body is a stream of events
	Closes  bool   // the connection ends with the body
	body    io.Reader
	Head    []byte // as it was read
}

var errBadReply = errors.New("not an HTTP response")

// Read reads the head of a response.
func (w *Wire) Read() (*Response, error) {
	if err := w.Conn.SetReadDeadline(time.Now().Add(Patience)); err != nil {
		return nil, err
	}
	r, length := new(Response), -1
	chunked := false
	for first := true; ; first = false {
		line, err := w.in.ReadSlice('\n')
		r.Head = append(r.Head, line...)
		if err != nil {
			if len(r.Head) > 0 {
				err = fmt.Errorf("%w after %q", err, r.Head)
			}
			return r, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if first {
			version, rest, _ := bytes.Cut(line, []byte(" "))
			code, _, _ := bytes.Cut(rest, []byte(" "))
			if r.Status, err = strconv.Atoi(string(code)); err != nil || !bytes.HasPrefix(version, []byte("HTTP/1.")) {
				return r, fmt.Errorf("%w: %q", errBadReply, line)
			}
			continue
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return r, fmt.Errorf("%w: %q", errBadReply, line)
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = bytes.EqualFold(value, []byte("chunked"))
		case bytes.EqualFold(name, []byte("Content-Type")):
			r.Events = bytes.HasPrefix(value, []byte("text/event-stream"))
		case bytes.EqualFold(name, []byte("Mcp-Session-Id")):
			r.Session = string(value)
		case bytes.EqualFold(name, []byte("Connection")):
			r.Closes = bytes.EqualFold(value, []byte("close"))
		}
	}
	switch {
	case r.Status/100 == 1: // an interim response: the next is the one
		next, err := w.Read()
		next.Head = append(r.Head, next.Head...)
		return next, err
	case chunked:
		r.body = &chunks{in: w.in, r: httputil.NewChunkedReader(w.in)}
	case length >= 0:
		r.body = io.LimitReader(w.in, int64(length))
	case r.Status == 204 || r.Status == 304:
		r.body = bytes.NewReader(nil)
	default:
		r.body, r.Closes = w.in, true
	}
	return r, nil
}

// Bad describes an unexpected response.
func (r *Response) Bad(what string, body []byte, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w: %s%s", what, err, r.Head, body)
	}
	return fmt.Errorf("%s: %s%s", what, r.Head, body)
}

// chunks reads a chunked body to its very end, so that the next response can
// follow.
type chunks struct {
	in *bufio.Reader
	r  io.Reader
}

func (c *chunks) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	for { // trailers, and the empty line
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return n, fmt.Errorf("end of the chunks: %w", err)
		}
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return n, io.EOF
		}
	}
}

// Messages hands the JSON-RPC messages of a body to take, one after another;
// take returns false to leave the rest unread.
func (w *Wire) Messages(r *Response, take func([]byte) bool) error {
	if !r.Events {
		body, err := io.ReadAll(r.body)
		if len(bytes.TrimSpace(body)) > 0 {
			take(body)
		}
		return err
	}
	w.lines.Reset(r.body)
	var data []byte
	for {
		if err := w.Conn.SetReadDeadline(time.Now().Add(Patience)); err != nil {
			return err
		}
		line, err := w.lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(data, bytes.TrimPrefix(rest, []byte(" "))...)
		}
		if len(line) == 0 && len(data) > 0 {
			if !take(data) {
				return nil
			}
			data = data[:0]
		}
	}
}

// Exchange sends a request and reads the whole response: its last message, or
// the body where it has none. The response is never nil.
func (w *Wire) Exchange(request []byte) (*Response, []byte, error) {
	if _, err := w.Conn.Write(request); err != nil {
		return new(Response), nil, err
	}
	r, err := w.Read()
	if err != nil {
		return r, nil, err
	}
	var last []byte
	err = w.Messages(r, func(msg []byte) bool {
		last = append(last[:0], msg...)
		return true
	})
	return r, last, err
}
