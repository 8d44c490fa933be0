package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// millionFiles is how many files the calls that read one read, in turn.
	millionFiles = 64
	// mostGrowth is how much more a server may hold after ten times the calls.
	mostGrowth = 1.05
	// mostDrift is how far goroutines and descriptors may be from where they were.
	mostDrift = 5
)

// million makes a million calls of one server, four cheap ones to one that reads a
// file, and compares what it holds after a collection with what it held when a tenth
// was made. Rules, audit log, traces and a hook are on.
func million(ctx context.Context, env environment) error {
	fmt.Println("| a million calls | calls, a second | heap then and at the end | resident | goroutines, descriptors |\n|---|---|---|---|---|")
	return errors.Join(
		millionOver(ctx, env, "stdio", millionStdio),
		millionOver(ctx, env, "HTTP", millionHTTP),
	)
}

// weighed is what a server holds after a collection.
type weighed struct {
	holdings
	resident float64 // MB
}

// crowd is a server that many calls can be made of.
type crowd struct {
	calls func(from, to int) error
	weigh func() (weighed, error)
	close func() error
}

func millionOver(ctx context.Context, env environment, name string, open func(context.Context, string) (crowd, error)) (err error) {
	dir, err := os.MkdirTemp("", "million")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for i := range millionFiles {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.txt", i)), bytes.Repeat([]byte("sixteen bytes..\n"), 64), 0o600); err != nil {
			return err
		}
	}
	c, err := open(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	n := env.of(1_000_000, 10_000)
	begin := time.Now()
	if err := c.calls(0, n/10); err != nil {
		return err
	}
	before, err := c.weigh()
	if err != nil {
		return err
	}
	if err := c.calls(n/10, n); err != nil {
		return err
	}
	rate := float64(n) / time.Since(begin).Seconds()
	after, err := c.weigh()
	if err != nil {
		return err
	}
	heap, resident := float64(after.Heap)/float64(before.Heap), after.resident/before.resident
	fmt.Printf("| %s | %d, %.0f | %.2f and %.2f MB: %.3f | %.1f and %.1f MB: %.3f | %+d, %+d |\n", name, n, rate,
		float64(before.Heap)/1e6, float64(after.Heap)/1e6, heap, before.resident, after.resident, resident,
		after.Goroutines-before.Goroutines, after.Descriptors-before.Descriptors)
	var errs []error
	if max(heap, resident) > mostGrowth && env.full() {
		errs = append(errs, fmt.Errorf("%s: %.3f of the heap, %.3f resident, want at most %.2f", name, heap, resident, mostGrowth))
	}
	if g, d := after.Goroutines-before.Goroutines, after.Descriptors-before.Descriptors; max(g, -g, d, -d) > mostDrift {
		errs = append(errs, fmt.Errorf("%s: %+d goroutines, %+d descriptors", name, g, d))
	}
	return errors.Join(errs...)
}

// appendMillion appends the request of call n: each fifth reads a file.
func appendMillion(dst []byte, n int, meta string) (line []byte, tool string) {
	tool, args := "say", fmt.Sprintf(`{"nonce":"%d"}`, n)
	if n%5 == 0 {
		tool, args = "read_file", fmt.Sprintf(`{"path":"%d.txt"}`, n/5%millionFiles)
	}
	return fmt.Appendf(dst, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s%s}}`, 1000+n, tool, args, meta), tool
}

// millionGood reports whether a call was answered by a result.
func millionGood(line []byte) bool {
	return bytes.Contains(line, []byte(`"result"`)) && !bytes.Contains(line, []byte(`"isError":true`))
}

func millionStdio(ctx context.Context, dir string) (crowd, error) {
	self, err := os.Executable()
	if err != nil {
		return crowd{}, err
	}
	c, err := dial(ctx, nil, self, "serve", "million", dir)
	if err != nil {
		return crowd{}, err
	}
	looks := 0
	return crowd{
		calls: func(from, to int) error { return driveMillion(c, from, to) },
		weigh: func() (weighed, error) {
			looks++
			m, err := c.call(looks, "tools/call", map[string]any{"name": "holdings", "arguments": map[string]any{}})
			if err != nil {
				return weighed{}, err
			}
			_, text, _ := strings.Cut(string(m.Result), `"text":"`)
			h, err := parseHoldings(text)
			return weighed{h, resident(c.cmd.Process.Pid)}, err
		},
		close: c.close,
	}, c.initialize()
}

// driveMillion makes the calls from one number to another, 64 in flight.
func driveMillion(c *client, from, to int) error {
	answered, wrong := make(chan struct{}, inFlight), atomic.Int64{}
	c.onLine.Store(new(func(line []byte) {
		if !millionGood(line) {
			wrong.Add(1)
		}
		answered <- struct{}{}
	}))
	defer c.onLine.Store(nil)
	var line []byte
	for sent, got := from, from; got < to; got++ {
		for ; sent < min(to, got+inFlight); sent++ {
			line, _ = appendMillion(line[:0], sent, "")
			if err := c.send(line); err != nil {
				return err
			}
		}
		select {
		case <-answered:
		case <-c.done:
			return errors.New("the server ended")
		}
	}
	if wrong.Load() > 0 {
		return fmt.Errorf("%d calls failed", wrong.Load())
	}
	return nil
}

func millionHTTP(ctx context.Context, dir string) (crowd, error) {
	server, addr, _, err := listenFilled(ctx, "million", dir)
	if err != nil {
		return crowd{}, err
	}
	return crowd{
		calls: func(from, to int) error { return millionPosts(addr, from, to) },
		weigh: func() (weighed, error) {
			time.Sleep(time.Second) // for the server to see that the connections are closed
			h, err := holdingsOver(addr, "")
			return weighed{h, resident(server.cmd.Process.Pid)}, err
		},
		close: server.stop,
	}, nil
}

// millionPosts makes calls of the stateless era on 64 connections.
func millionPosts(addr string, from, to int) error {
	errs := make([]error, inFlight)
	var next atomic.Int64
	next.Store(int64(from))
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			w, err := connect(addr)
			if err != nil {
				errs[i] = err
				return
			}
			defer w.close()
			var body, post []byte
			for {
				n := int(next.Add(1)) - 1
				if n >= to {
					return
				}
				var tool string
				body, tool = appendMillion(body[:0], n, `,"_meta":{`+modernMeta+`}`)
				post = appendPost(post[:0], addr, stormEras[1], "", tool, body)
				r, got, err := w.exchange(post)
				if err != nil || r.status != 200 || !millionGood(got) {
					errs[i] = r.bad(fmt.Sprintf("call %d", n), got, err)
					return
				}
			}
		})
	}
	wg.Wait()
	return firstOf(errs)
}
