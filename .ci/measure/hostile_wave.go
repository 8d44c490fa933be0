package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// target is the server that is attacked.
type target struct{ addr, token string }

// request is an HTTP request that may be wrong in any way.
type request struct {
	line    string // method, target, version
	headers [][2]string
	body    []byte
}

// post is a right request that carries a message. The headers are those that the
// stateless era wants for method and name.
func (t target) post(method, name string, body []byte) request {
	r := request{line: "POST /mcp HTTP/1.1", body: body}.
		with("Host", t.addr).
		with("Content-Type", "application/json").
		with("Accept", "application/json, text/event-stream").
		with("MCP-Protocol-Version", "2026-07-28").
		with("Mcp-Method", method)
	if name != "" {
		r = r.with("Mcp-Name", name)
	}
	if t.token != "" {
		r = r.with("Authorization", "Bearer "+t.token)
	}
	return r
}

// call is a right call of a tool.
func (t target) call(tool, args string) request {
	return t.post("tools/call", tool, appendLook(nil, stormEras[1], "normal", tool, args))
}

const discoverHead = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{` + modernMeta

// right is a right request with a small answer.
func (t target) right() request { return t.post("server/discover", "", []byte(discoverHead+`}}}`)) }

// legacy is a right request of the older revisions, but for its session.
func (t target) legacy(session string) request {
	r := t.post("", "", []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)).without("Mcp-Method").with("MCP-Protocol-Version", "2025-11-25")
	if session != "" {
		r = r.with("Mcp-Session-Id", session)
	}
	return r
}

// bare is a request without a body.
func (t target) bare(method, path string) request {
	r := request{line: method + " " + path + " HTTP/1.1"}.with("Host", t.addr).with("Accept", "application/json, text/event-stream")
	if t.token != "" {
		r = r.with("Authorization", "Bearer "+t.token)
	}
	return r
}

func (r request) without(name string) request {
	r.headers = slices.DeleteFunc(slices.Clone(r.headers), func(h [2]string) bool { return strings.EqualFold(h[0], name) })
	return r
}

// with sets a header, plus adds one.
func (r request) with(name, value string) request { return r.without(name).plus(name, value) }

func (r request) plus(name, value string) request {
	r.headers = append(slices.Clone(r.headers), [2]string{name, value})
	return r
}

func (r request) to(line string) request {
	r.line = line
	return r
}

func (r request) saying(body string) request {
	r.body = []byte(body)
	return r
}

// head is what precedes the body; it tells the length of the body unless the
// headers say it some way.
func (r request) head() []byte {
	var b bytes.Buffer
	b.WriteString(r.line + "\r\n")
	told := len(r.body) == 0
	for _, h := range r.headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
		told = told || strings.EqualFold(h[0], "Content-Length") || strings.EqualFold(h[0], "Transfer-Encoding")
	}
	if !told {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(r.body))
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

func (r request) bytes() []byte { return append(r.head(), r.body...) }

// script is what one connection does.
type script struct {
	sends []byte         // at once
	then  io.Reader      // after it, as fast as it goes; nil = nothing
	drips []byte         // after that, a byte a second; it never ends
	shuts bool           // the writing side, after everything is sent
	limit time.Duration  // how long the server has; 0 = 20 s
	wants []string       // nil = what the kind wants
	says  *regexp.Regexp // what the first response must hold; nil = anything
}

// asIs sends a request as it is.
func asIs(r request) script { return script{sends: r.bytes()} }

// runWave sends n of each kind at the same time and writes how they ended to
// stdout. The arguments are ADDR TOKEN N NAME...
func runWave(args []string) error {
	t := target{args[0], args[1]}
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	var mu sync.Mutex
	results := map[string]*outcomes{}
	var ready, ended sync.WaitGroup
	start := make(chan struct{})
	for _, a := range attacks() {
		if !slices.Contains(args[3:], a.name) {
			continue
		}
		count := max(n/max(a.fewer, 1), 4)
		o := &outcomes{N: count, Got: map[string]int{}, Samples: map[string]string{}}
		results[a.name] = o
		var turn sync.Mutex // of kinds that go one after another
		for i := range count {
			ready.Add(1)
			ended.Go(func() {
				s := a.script(t, i)
				var conn net.Conn
				var err error
				if !a.inTurn {
					conn, err = net.Dial("tcp", t.addr)
				}
				ready.Done()
				<-start
				if a.inTurn {
					turn.Lock()
					defer turn.Unlock()
					conn, err = net.Dial("tcp", t.addr)
				}
				begin := time.Now()
				got, sample := "unreachable", ""
				if err != nil {
					sample = err.Error()
				} else {
					got, sample = s.play(conn)
				}
				wants := a.want
				if s.wants != nil {
					wants = s.wants
				}
				status, _, _ := strings.Cut(got, " ")
				mu.Lock()
				defer mu.Unlock()
				o.Got[got]++
				o.Last = max(o.Last, time.Since(begin))
				if !slices.Contains(wants, status) || strings.Contains(got, " then ") {
					o.Wrong++
					if o.Samples[got] == "" {
						o.Samples[got] = excerpt(fmt.Sprintf("want %s\n  > %q\n  < %q", strings.Join(wants, ", "), excerpt(string(s.sends), 900), sample), 2500)
					}
				}
			})
		}
	}
	ready.Wait()
	close(start)
	ended.Wait()
	return json.NewEncoder(os.Stdout).Encode(results)
}

// play plays a script on a connection and says how it ended: with the status of
// the response and the code of its JSON-RPC error, "closed" by the server
// without a response, or "open" when the server has let its time pass. After
// "NNN" a "then NNN" is a second response to what was one request.
func (s script) play(conn net.Conn) (got, sample string) {
	limit := s.limit
	if limit == 0 {
		limit = 20 * time.Second
	}
	if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
		_ = conn.Close() // it is broken
		return err.Error(), ""
	}
	var over atomic.Bool
	written := make(chan struct{})
	go func() {
		defer close(written)
		s.write(conn, &over)
	}()
	defer func() {
		over.Store(true)
		_ = conn.Close() // wakes the writer
		<-written
	}()
	var raw bytes.Buffer
	in := bufio.NewReader(io.TeeReader(conn, &raw))
	r, err := http.ReadResponse(in, s.method())
	for err == nil && r.StatusCode == http.StatusContinue {
		r, err = http.ReadResponse(in, s.method())
	}
	shown := func() string { return excerpt(raw.String(), 900) }
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return "open", shown()
	case err != nil && raw.Len() == 0:
		return "closed", err.Error()
	case err != nil:
		return "garbled", err.Error() + ": " + shown()
	}
	got = strconv.Itoa(r.StatusCode)
	if err := conn.SetReadDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return err.Error(), ""
	}
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20)) // a stream goes on
	_ = r.Body.Close()                                   // what has come is enough
	if code := errorCode.FindSubmatch(body); code != nil {
		got += " (" + string(code[1]) + ")"
	}
	over.Store(true)
	if s.says != nil && !s.says.Match(raw.Bytes()) {
		return got + " without " + s.says.String(), shown()
	}
	if err := conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
		return err.Error(), ""
	}
	if second, err := http.ReadResponse(in, nil); err == nil {
		_ = second.Body.Close() // its status is enough
		got += " then " + strconv.Itoa(second.StatusCode)
	}
	return got, shown()
}

var errorCode = regexp.MustCompile(`"code":\s*(-\d+)`)

// method is for http.ReadResponse, which must know a HEAD.
func (s script) method() *http.Request {
	if bytes.HasPrefix(s.sends, []byte("HEAD ")) {
		return &http.Request{Method: http.MethodHead}
	}
	return nil
}

// write sends what the script says until it is over. An error of a write is not
// one of the attack: what the server says is read all the same.
func (s script) write(conn net.Conn, over *atomic.Bool) {
	if _, err := conn.Write(s.sends); err != nil {
		return
	}
	if s.then != nil {
		buf := make([]byte, 64<<10)
		for !over.Load() {
			n, err := s.then.Read(buf)
			if _, werr := conn.Write(buf[:n]); werr != nil {
				return
			}
			if err != nil {
				break
			}
		}
	}
	if s.shuts {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.CloseWrite() // the server may be quicker
		}
	}
	for i := 0; len(s.drips) > 0 && !over.Load(); i++ {
		if _, err := conn.Write(s.drips[i%len(s.drips) : i%len(s.drips)+1]); err != nil {
			return
		}
		for range 10 {
			if over.Load() {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}
