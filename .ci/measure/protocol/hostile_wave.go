package protocol

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

	"toolcrib/.ci/measure/harness"
)

// script has the actions of one connection.
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

// RunWave sends n of each kind at the same time and writes how they ended to
// stdout. The arguments are ADDR TOKEN N NAME...
func RunWave(args []string) error {
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
						o.Samples[got] = harness.Excerpt(fmt.Sprintf("want %s\n  > %q\n  < %q", strings.Join(wants, ", "), harness.Excerpt(string(s.sends), 900), sample), 2500)
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
	shown := func() string { return harness.Excerpt(raw.String(), 900) }
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
