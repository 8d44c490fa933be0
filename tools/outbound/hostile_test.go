package outbound_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"toolcrib/tools"
	"toolcrib/tools/outbound"
)

// TestHostile meets servers that want to hold or fill this process. Each is refused with the
// name of its limit, within its time and a second, and the memory grows by less than 32 MB.
func TestHostile(t *testing.T) {
	const (
		wait = 500 * time.Millisecond
		huge = 20 << 30
	)
	endless := func(w io.Writer) error {
		block := make([]byte, 64<<10)
		for {
			if _, err := w.Write(block); err != nil {
				return err
			}
		}
	}
	encoded := func(name string, make func(io.Writer) io.Writer) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", name)
			_, _ = io.CopyN(make(w), zeros{}, 1<<30)
		}
	}
	drip := func(w http.ResponseWriter, r *http.Request) {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
			<-tick.C
		}
	}
	gz := func(w io.Writer) io.Writer { z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed); return z }
	br := func(w io.Writer) io.Writer { return brotli.NewWriterLevel(w, 1) }
	zst := func(w io.Writer) io.Writer {
		z, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
		return z
	}
	for name, c := range map[string]struct {
		serve   http.HandlerFunc
		most    int64
		want    tools.Code
		saying  string
		timeout bool
	}{
		"redirect loop": {serve: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }, want: tools.Unsupported, saying: "a redirect loop"},
		"redirects for ever": {serve: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
		}, want: tools.Unsupported, saying: "more than 5 redirects"},
		"slow header":  {serve: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, want: tools.Timeout, saying: "while waiting for the headers", timeout: true},
		"drip body":    {serve: drip, want: tools.Timeout, saying: "while reading the body", timeout: true},
		"large header": {serve: func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) }, want: tools.TooLarge, saying: "the headers have more than 64 kB"},
		"headers for ever": {serve: func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			defer conn.Close()
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n")
			_ = endless(crlf{conn})
		}, want: tools.TooLarge, saying: "the headers have more than 64 kB"},
		"endless body": {serve: func(w http.ResponseWriter, _ *http.Request) { _ = endless(w) }, want: tools.TooLarge, saying: "the body has more than 10 MB"},
		"10 GB announced": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10000000000")
			_ = endless(w)
		}, want: tools.TooLarge, saying: "the body has more than 10 MB"},
		"length too long": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "short")
		}, want: tools.Unavailable, saying: "the body ends after 5 bytes"},
		"gzip bomb":              {serve: encoded("gzip", gz), most: huge, want: tools.TooLarge, saying: "more than 200 times its size"},
		"brotli bomb":            {serve: encoded("br", br), most: huge, want: tools.TooLarge, saying: "more than 200 times its size"},
		"zstd bomb":              {serve: encoded("zstd", zst), most: huge, want: tools.TooLarge, saying: "more than 200 times its size"},
		"gzip bomb, small limit": {serve: encoded("gzip", gz), most: 1 << 20, want: tools.TooLarge, saying: "the body has more than 1.0 MB"},
		"zstd with a large window": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "zstd")
			_, _ = w.Write([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xb8, 0, 0, 0}) // a window of 8 GiB
		}, want: tools.TooLarge, saying: "a window of more than"},
		"gzip that is none":    {serve: liar("gzip", "plain text"), want: tools.Unavailable, saying: "not encoded as its header says"},
		"unknown encoding":     {serve: liar("compress", "x"), want: tools.Unsupported, saying: `encoded as "compress"`},
		"encoded twice":        {serve: liar("gzip, br", "x"), want: tools.Unsupported, saying: `encoded as "gzip, br"`},
		"no HTTP at all":       {serve: raw("220 mail.test ESMTP\r\n"), want: tools.Unavailable, saying: "malformed"},
		"ends without a word":  {serve: raw(""), want: tools.Unavailable, saying: "EOF"},
		"continues for ever":   {serve: repeated("HTTP/1.1 100 Continue\r\n\r\n"), want: tools.TooLarge, saying: "the headers have more than 64 kB"},
		"early hints for ever": {serve: repeated("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"), want: tools.TooLarge, saying: "the headers have more than 64 kB"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.serve, outbound.Options{})
			r := outbound.Request{URL: "http://bad.test/", MaxBytes: c.most, Tries: 1}
			limit := 20 * time.Second // of what does not go by time, on a machine that is busy
			if c.timeout {
				r.Timeout, limit = wait, wait+time.Second
			}
			before, began := heap(t), time.Now()
			err := read(t, w.client, r, func() {
				if grown := heap(t) - before; grown > 32<<20 {
					t.Fatalf("the memory has grown by %d MB", grown>>20)
				}
			})
			if took := time.Since(began); took > limit {
				t.Errorf("it took %s", took)
			}
			if e, ok := errors.AsType[*tools.Error](err); !ok || e.Code != c.want || !strings.Contains(e.Msg, c.saying) || !strings.HasPrefix(e.Msg, "http://bad.test/") {
				t.Errorf("%v", err)
			}
		})
	}
}

// read reads the whole body of an answer into nothing, and calls look once a megabyte.
func read(t *testing.T, c *outbound.Client, r outbound.Request, look func()) error {
	res, err := c.Do(t.Context(), r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	for {
		look()
		if _, err := io.CopyN(io.Discard, res.Body, 1<<20); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// heap returns the bytes that the process has from the system for objects.
func heap(t *testing.T) int64 {
	t.Helper()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64() + sample[1].Value.Uint64())
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// crlf makes headers of what is written.
type crlf struct{ w io.Writer }

func (c crlf) Write(p []byte) (int, error) {
	if _, err := fmt.Fprintf(c.w, "X-Y: %s\r\n", strings.Repeat("z", 1000)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// liar serves a body that is not encoded as it says.
func liar(encoding, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", encoding)
		_, _ = io.WriteString(w, text)
	}
}

// raw answers with these bytes, and ends.
func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_, _ = io.WriteString(conn, text)
			conn.Close()
		}
	}
}

func repeated(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		for err == nil {
			_, err = io.WriteString(conn, text)
		}
	}
}

// TestLongBody has a file of 10 GB told as too large after the bytes that are allowed, and
// one of 300 MB read whole, in little memory.
func TestLongBody(t *testing.T) {
	debug.FreeOSMemory()
	w := newWorld(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.CopyN(w, zeros{}, 300<<20) }, outbound.Options{})
	before := heap(t)
	err := read(t, w.client, outbound.Request{URL: "http://big.test/", MaxBytes: 300 << 20}, func() {
		if grown := heap(t) - before; grown > 32<<20 {
			t.Fatalf("the memory has grown by %d MB", grown>>20)
		}
	})
	if err != nil {
		t.Error(err)
	}
	if err := read(t, w.client, outbound.Request{URL: "http://big.test/", MaxBytes: 300<<20 - 1}, func() {}); code(t, err) != tools.TooLarge {
		t.Error(err)
	}
}
