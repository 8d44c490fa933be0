package protocol

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
)

// maxBody is the longest body that a server takes.
const maxBody = 16 << 20

// sized is the head of a request whose body has size bytes, and its body: a
// right message with padding.
func (t target) sized(size int) (request, io.Reader) {
	begin, end := discoverHead+`,"x.example/pad":"`, `"}}}`
	return t.right().saying(""), io.MultiReader(strings.NewReader(begin), &padding{size - len(begin) - len(end)}, strings.NewReader(end))
}

// padding is a reader of n letters.
type padding struct{ left int }

var padBlock = bytes.Repeat([]byte{'x'}, 64<<10)

func (p *padding) Read(buf []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	n := copy(buf[:min(len(buf), p.left)], padBlock)
	p.left -= n
	return n, nil
}

// chunkedBody is a reader of the chunked coding of another.
type chunkedBody struct {
	of   io.Reader
	rest bytes.Buffer
	done bool
}

func (c *chunkedBody) Read(buf []byte) (int, error) {
	if c.rest.Len() == 0 && !c.done {
		block := make([]byte, 32<<10)
		n, err := c.of.Read(block)
		if n > 0 {
			fmt.Fprintf(&c.rest, "%x\r\n%s\r\n", n, block[:n])
		}
		if err != nil {
			c.done = true
			c.rest.WriteString("0\r\n\r\n")
		}
	}
	return c.rest.Read(buf)
}

// ofLength sends a body of a size that the headers tell.
func ofLength(size int, expect bool) func(t target) script {
	return func(t target) script {
		r, body := t.sized(size)
		r = r.with("Content-Length", fmt.Sprint(size))
		if expect {
			r = r.with("Expect", "100-continue")
		}
		return script{sends: r.head(), then: body, limit: time.Minute}
	}
}

// inChunks sends a body of a size that only its end tells.
func inChunks(size int, expect bool) func(t target) script {
	return func(t target) script {
		r, body := t.sized(size)
		r = r.with("Transfer-Encoding", "chunked")
		if expect {
			r = r.with("Expect", "100-continue")
		}
		return script{sends: r.head(), then: &chunkedBody{of: body}, limit: time.Minute}
	}
}

// contents are bodies of the wrong kind or size.
func contents() []attack {
	return []attack{
		{name: "a body that is not called JSON", want: []string{"415"}, script: each([]string{
			"text/plain", "text/plain; charset=utf-8", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx",
			"text/plain; application/json", "application/json-seq", "application/", "application/xml", "text/json",
		}, func(t target, kind string) request { return t.right().with("Content-Type", kind) })},
		{name: "no content type, or an empty one", want: []string{"415"}, script: oneOf(
			func(t target) script { return asIs(t.right().without("Content-Type")) },
			func(t target) script { return asIs(t.right().with("Content-Type", "")) },
		)},
		{name: "two content types", want: []string{"400", "415"}, script: oneOf(
			func(t target) script {
				return asIs(t.right().with("Content-Type", "text/plain").plus("Content-Type", "application/json"))
			},
			func(t target) script { return asIs(t.right().plus("Content-Type", "text/plain")) },
		)},
		{name: "a packed body", want: []string{"400", "415"}, script: each([]string{"gzip", "deflate", "br", "zstd"},
			func(t target, coding string) request {
				return t.right().with("Content-Encoding", coding).saying("\x1f\x8b\x08")
			})},
		{name: "a body one byte over, by its length", want: []string{"413"}, script: oneOf(ofLength(maxBody+1, false))},
		{name: "a body one byte over, in chunks", want: []string{"413", "503", "408"}, script: oneOf(inChunks(maxBody+1, false))},
		{name: "a body one byte over, that asks before", want: []string{"413", "417", "503", "408"}, script: oneOf(ofLength(maxBody+1, true), inChunks(maxBody+1, true))},
		{name: "a body of 1 TiB, by its length", want: []string{"413"}, script: func(t target, _ int) script {
			r, body := t.sized(1 << 40)
			return script{sends: r.with("Content-Length", "1099511627776").head(), then: body, limit: time.Minute}
		}},
	}
}

// stopping sends a part of a body of 1 MB.
func stopping(after int) func(t target) script {
	return func(t target) script {
		r, body := t.sized(1_000_000)
		return script{sends: r.with("Content-Length", "1000000").head(), then: io.LimitReader(body, int64(after)), limit: 2 * time.Minute}
	}
}

// waiters are connections that take their time, or all of it.
func waiters() []attack {
	const headers, body = 15 * time.Second, 65 * time.Second
	return []attack{
		{name: "slow headers", want: []string{"400", "408", "closed"}, waits: true, within: headers, script: oneOf(
			func(t target) script {
				return script{sends: []byte("POST /mcp HTTP/1.1\r\n"), drips: []byte("X-Slow: " + strings.Repeat("a", 1000)), limit: 2 * headers}
			},
			func(t target) script { return script{drips: t.right().head(), limit: 2 * headers} },
		)},
		{name: "a slow body", want: []string{"408", "closed"}, waits: true, within: body, script: oneOf(
			func(t target) script {
				r := t.right()
				return script{sends: r.with("Content-Length", fmt.Sprint(len(r.body))).saying("").head(), drips: []byte(r.body[:len(r.body)-1]), limit: 2 * body}
			},
			func(t target) script {
				return script{sends: t.right().saying("").with("Transfer-Encoding", "chunked").head(), drips: []byte("ffff\r\n" + strings.Repeat(" ", 1000)), limit: 2 * body}
			},
		)},
		{name: "a body that stops", want: []string{"408", "closed"}, waits: true, within: body, script: func(t target, _ int) script {
			r := t.right()
			sends := append(r.with("Content-Length", fmt.Sprint(len(r.body))).saying("").head(), r.body[:len(r.body)/2]...)
			return script{sends: sends, limit: 2 * body}
		}},
		{name: "a longer body that stops", want: []string{"408", "503", "closed"}, waits: true, within: body, script: oneOf(stopping(9_000), stopping(300_000))},
		{name: "a connection that says nothing", want: []string{"408", "closed"}, waits: true, within: headers, script: func(target, int) script {
			return script{limit: 2 * headers}
		}},
		{name: "a connection that stops in the headers", want: []string{"408", "closed"}, waits: true, within: headers, script: func(t target, _ int) script {
			return script{sends: t.right().head()[:60], limit: 2 * headers}
		}},
		{name: "half-closed after the request", want: []string{"200", "closed"}, script: func(t target, _ int) script {
			return script{sends: t.right().bytes(), shuts: true}
		}},
		{name: "half-closed in the body", want: []string{"400", "closed"}, script: func(t target, _ int) script {
			r := t.right()
			sends := append(r.with("Content-Length", fmt.Sprint(len(r.body))).saying("").head(), r.body[:len(r.body)/2]...)
			return script{sends: sends, shuts: true}
		}},
		{name: "half-closed in the headers, or at once", want: []string{"400", "closed"}, script: oneOf(
			func(t target) script { return script{sends: t.right().head()[:60], shuts: true} },
			func(t target) script { return script{shuts: true} },
		)},
	}
}

// largest are the longest bodies that a server takes: right requests, last since
// they leave the most behind.
func largest() []attack {
	return []attack{
		{name: "a body of 16 MiB, in turn", heavy: true, want: []string{"200"}, fewer: 20, inTurn: true, script: oneOf(ofLength(maxBody, false), inChunks(maxBody, false))},
		{name: "bodies of 16 MiB, at once", heavy: true, want: []string{"200", "503", "408", "closed"}, script: func(t target, i int) script {
			s := oneOf(ofLength(maxBody, false), inChunks(maxBody, false))(t, i)
			s.limit = 2 * time.Minute
			return s
		}},
	}
}
