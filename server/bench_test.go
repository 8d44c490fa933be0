package server_test

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"sync"
	"testing"
)

// BenchmarkStdio measures requests over a pair of pipes of the system, with as
// many in flight as the name says.
func BenchmarkStdio(b *testing.B) {
	legacy, modern := eras()[0], eras()[1]
	for _, bb := range []struct {
		name     string
		era      era
		inFlight int
		request  func(id string) string
	}{
		{"ping/1", legacy, 1, func(id string) string { return legacy.request(id, "ping", "", "") }},
		{"ping/64", legacy, 64, func(id string) string { return legacy.request(id, "ping", "", "") }},
		{"call/1", legacy, 1, func(id string) string { return legacy.call(id, "echo", `"text":"hello"`, "") }},
		{"call/64", legacy, 64, func(id string) string { return legacy.call(id, "echo", `"text":"hello"`, "") }},
		{"call-2026/64", modern, 64, func(id string) string { return modern.call(id, "echo", `"text":"hello"`, "") }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			stdin, in := pipe(b)
			out, stdout := pipe(b)
			s := newServer(b)
			var served sync.WaitGroup
			served.Go(func() {
				if err := s.ServeStdio(b.Context(), stdin, stdout); err != nil {
					b.Error(err)
				}
			})
			lines := make([]string, b.N)
			for i := range lines {
				lines[i] = bb.request(strconv.Itoa(i)) + "\n"
			}
			slots := make(chan struct{}, bb.inFlight)
			answers := bufio.NewReader(out)
			for _, line := range bb.era.hello {
				if _, err := io.WriteString(in, line+"\n"); err != nil {
					b.Fatal(err)
				}
			}
			if len(bb.era.hello) > 0 {
				if _, err := answers.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
			}
			b.ResetTimer()
			var sender sync.WaitGroup
			sender.Go(func() {
				for _, line := range lines {
					slots <- struct{}{}
					if _, err := io.WriteString(in, line); err != nil {
						b.Error(err)
					}
				}
			})
			for range b.N {
				if _, err := answers.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
				<-slots
			}
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
			sender.Wait()
			in.Close()
			served.Wait()
		})
	}
}

func pipe(b *testing.B) (r, w *os.File) {
	b.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}
