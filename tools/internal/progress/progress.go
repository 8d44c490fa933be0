// Package progress reports to the caller of a tool what a program prints while it runs.
//
// Start at [During]. The package imports tools to report progress, screen to make output
// readable, and nothing else of toolcrib.
package progress

import (
	"bytes"
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/screen"
)

const (
	every = 250 * time.Millisecond // minimum between two reports
	beat  = 10 * time.Second       // report without output, since silent calls make callers give up
	most  = 1000                   // bytes of output in one report
)

// Program is the program to report on. Its functions are called by one goroutine at a time,
// while the program runs.
type Program struct {
	// Output returns the output from an offset on, only its end if it is more than most
	// bytes, and the offset where it ends.
	Output func(from int64, most int) (data []byte, end int64)
	// State describes the program in a few words when it prints nothing.
	State func() string
}

// During runs f and returns its error. Meanwhile it reports the output of a program from an
// offset on, at most four times a second, and its State if it prints nothing that can be seen
// for long. No report comes after During has returned.
func During(ctx context.Context, p Program, from int64, f func() error) (err error) {
	reporting, stop := context.WithCancel(ctx)
	g, _ := tools.NewGroup(ctx, 1)
	g.Go(func() error {
		p.report(reporting, from)
		return nil
	})
	defer func() {
		stop()
		if failed := g.Wait(); err == nil {
			err = failed
		}
	}()
	return f()
}

func (p Program) report(ctx context.Context, seen int64) {
	tell := tools.Progress(ctx)
	begin := time.Now()
	last := begin
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		data, end := p.Output(seen, most)
		fresh, rest := readable(data, end-int64(len(data)) > seen)
		seen = end - int64(rest)
		message := strings.TrimSpace(screen.Clean(fresh))
		if message == "" && time.Since(last) >= beat {
			message = p.State()
		}
		if message != "" {
			last = time.Now()
			tell(tools.ProgressEvent{Done: last.Sub(begin).Seconds(), Message: message})
		}
		timer.Reset(every)
	}
}

// readable returns output without an incomplete last character, which is the rest. If the
// beginning of the output is cut off, text begins at a line or a character.
func readable(data []byte, cut bool) (text []byte, rest int) {
	if cut {
		if line := bytes.IndexByte(data, '\n'); line >= 0 && line < len(data)-1 {
			data = data[line+1:]
		}
		for len(data) > 0 && !utf8.RuneStart(data[0]) {
			data = data[1:]
		}
	}
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if last := data[len(data)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return data[:len(data)-n], n
			}
			break
		}
	}
	return data, 0
}
