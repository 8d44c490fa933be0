package server_test

import (
	"context"
	"crypto/rand"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"toolcrib/server"
)

// BenchmarkHTTP makes calls over loopback, many at once, in each era; the client
// is part of what is measured.
func BenchmarkHTTP(b *testing.B) {
	for _, e := range eras() {
		b.Run(e.name, func(b *testing.B) {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			s := newServer(b)
			go func() { _ = s.ServeStreamable(b.Context(), ln, server.HTTP{}) }()
			w := &site{tb: b, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DialContext: func() func(ctx context.Context, _, _ string) (net.Conn, error) {
				return func(ctx context.Context, _, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, "tcp", ln.Addr().String())
				}
			}()}}}
			message := e.call("1", "echo", `"text":"hi"`, "")
			h := modernHeaders(message)
			if e.meta == "" {
				h = w.hello(`{}`)
			}
			b.SetParallelism(32)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					body := message
					if e.meta == "" { // an id is not used twice at once
						body = strings.Replace(message, `"id":1`, `"id":"`+rand.Text()+`"`, 1)
					}
					res, err := w.http.Do(w.request(b.Context(), http.MethodPost, body, h))
					if err != nil {
						b.Error(err)
						return
					}
					if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
						b.Error(res.Status, err)
					}
					res.Body.Close()
				}
			})
		})
	}
}
