package outbound_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/outbound"
)

// pipes are a network without sockets, so that its time is that of the test.
func pipes(t *testing.T, handler http.HandlerFunc) outbound.Options {
	listener := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: handler}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Shutdown(context.Background()) }) // it waits for the handlers
	w := &world{answers: map[string]string{}}
	return outbound.Options{Rules: outbound.Rules{
		Proxy: direct, Lookup: w.lookup,
		Dial: func(ctx context.Context, _ string) (net.Conn, error) {
			near, far := net.Pipe()
			select {
			case listener.conns <- far:
				return near, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
	}}
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

func clientOf(t *testing.T, opt outbound.Options) *outbound.Client {
	t.Helper()
	c, err := outbound.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestRetry counts how often servers in trouble are asked, and how long that takes.
func TestRetry(t *testing.T) {
	for name, c := range map[string]struct {
		answers string // statuses, each with its Retry-After
		request outbound.Request
		status  int
		asked   int
		from    time.Duration
		to      time.Duration
	}{
		"patience":         {"503;2 200", outbound.Request{}, 200, 2, 2 * time.Second, 2 * time.Second},
		"no word":          {"429 502 200", outbound.Request{}, 200, 3, 750 * time.Millisecond, 1500 * time.Millisecond},
		"three times":      {"503;1 503;1 503;1 200", outbound.Request{}, 503, 3, 2 * time.Second, 2 * time.Second},
		"at once":          {"503;0 200", outbound.Request{}, 200, 2, 0, 0},
		"a date":           {"503;date 200", outbound.Request{}, 200, 2, 4 * time.Second, 5 * time.Second},
		"asked not to":     {"503;1 200", outbound.Request{Tries: 1}, 503, 1, 0, 0},
		"too long":         {"429;31 200", outbound.Request{Timeout: time.Hour}, 429, 1, 0, 0},
		"not enough time":  {"429;10 200", outbound.Request{Timeout: 9 * time.Second}, 429, 1, 0, 0},
		"post":             {"503;1 200", outbound.Request{Method: "POST", Body: []byte("x")}, 503, 1, 0, 0},
		"post, told to":    {"503;1 200", outbound.Request{Method: "POST", Body: []byte("x"), Tries: 2}, 200, 2, time.Second, time.Second},
		"not its trouble":  {"404 200", outbound.Request{}, 404, 1, 0, 0},
		"behind redirects": {"302 503;1 200", outbound.Request{}, 200, 3, time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				client := clientOf(t, pipes(t, func(w http.ResponseWriter, r *http.Request) {
					text, wait, said := strings.Cut(strings.Fields(c.answers)[asked], ";")
					asked++
					if wait == "date" {
						wait = time.Now().Add(5 * time.Second).UTC().Format(http.TimeFormat)
					}
					if said {
						w.Header().Set("Retry-After", wait)
					}
					var status int
					_, _ = fmt.Sscan(text, &status)
					if status == 302 {
						w.Header().Set("Location", "/x")
					}
					w.WriteHeader(status)
				}))
				c.request.URL = "http://a.test/"
				began := time.Now()
				res, err := client.Do(t.Context(), c.request)
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
				if took := time.Since(began); res.Status != c.status || asked != c.asked || took < c.from || took > c.to {
					t.Errorf("status %d after %d requests and %s", res.Status, asked, took)
				}
			})
		})
	}
}

// TestRetryConnect tries again where nobody answers, and not where the name is unknown.
func TestRetryConnect(t *testing.T) {
	for want, failure := range map[int]error{
		3: &net.OpError{Op: "dial", Err: errors.New("connection refused")},
		1: &net.DNSError{Err: "no such host", IsNotFound: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			tried := 0
			opt := pipes(t, hello)
			opt.Dial = func(context.Context, string) (net.Conn, error) { tried++; return nil, failure }
			if _, err := clientOf(t, opt).Do(t.Context(), outbound.Request{URL: "http://a.test/"}); err == nil || tried != want {
				t.Errorf("tried %d times: %v", tried, err)
			}
		})
	}
}

// TestTurns keeps to the requests that a host gets at a time, and to the delay between them.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := map[string]int{}, map[string]int{}
		opt := pipes(t, func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			now[r.Host]++
			most[r.Host] = max(most[r.Host], now[r.Host])
			mu.Unlock()
			time.Sleep(time.Second) // of the bubble: no time passes
			mu.Lock()
			now[r.Host]--
			mu.Unlock()
		})
		opt.PerHost = 2
		client := clientOf(t, opt)
		began := time.Now()
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				res, err := client.Do(t.Context(), outbound.Request{URL: fmt.Sprintf("http://%c.test/", 'a'+i%2)})
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			})
		}
		all.Wait()
		if took := time.Since(began); took != 3*time.Second || most["a.test"] != 2 || most["b.test"] != 2 {
			t.Errorf("took %s, at most %v at a time", took, most)
		}
		began = time.Now()
		for range 4 {
			all.Go(func() {
				res, err := client.Do(t.Context(), outbound.Request{URL: "http://c.test/", Delay: 5 * time.Second})
				if err == nil {
					res.Body.Close()
				} else {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took != 16*time.Second {
			t.Errorf("with a delay it took %s", took)
		}
		// A turn that does not come is a matter of time too.
		res, err := client.Do(t.Context(), outbound.Request{URL: "http://d.test/"})
		if err != nil {
			t.Fatal(err)
		}
		res2, err := client.Do(t.Context(), outbound.Request{URL: "http://d.test/"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Do(t.Context(), outbound.Request{URL: "http://d.test/", Timeout: time.Minute})
		if code(t, err) != tools.Timeout || !strings.Contains(err.Error(), "no end after 1m0s, while waiting for a turn at the host") {
			t.Error(err)
		}
		res.Body.Close()
		res2.Body.Close()
	})
}

// TestSlowBody tells how far a long body has come, once a second.
func TestSlowBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := clientOf(t, pipes(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "20")
			for range 20 {
				_, _ = io.WriteString(w, "x")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(300 * time.Millisecond) // of the bubble
			}
		}))
		var told []string
		ctx := tools.WithProgress(t.Context(), func(e tools.ProgressEvent) {
			told = append(told, fmt.Sprintf("%g/%g %s", e.Done, e.Total, e.Message))
		})
		res, err := client.Do(ctx, outbound.Request{URL: "http://a.test/"})
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		if len(told) != 4 || told[0] != "8/20 8 B read from a.test" {
			t.Errorf("told %q", told)
		}
	})
}
