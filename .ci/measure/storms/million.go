package storms

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

	"toolcrib/.ci/measure/harness"
	"toolcrib/.ci/measure/rawhttp"
)

const (
	// millionFiles is how many files the calls that read one read, in turn.
	millionFiles = 64
	// mostGrowth is how much more a server may hold after ten times the calls.
	mostGrowth = 1.05
	// mostDrift is how far goroutines and descriptors may be from where they were, except
	// the goroutines that wait for the next calls.
	mostDrift = 5
)

// Million makes a million calls of one server, four cheap ones to one that reads a
// file, and compares what it holds after a collection with what it held when a tenth
// was made. Rules, audit log, traces and a hook are on.
func Million(ctx context.Context, env harness.Environment) error {
	fmt.Println("| a million calls | calls, a second | heap then and at the end | resident | goroutines, descriptors |\n|---|---|---|---|---|")
	return errors.Join(
		millionOver(ctx, env, "stdio", millionStdio),
		millionOver(ctx, env, "HTTP", millionHTTP),
	)
}

// crowd is a server that many calls can be made of.
type crowd struct {
	calls func(from, to int) error
	weigh func() (harness.Weighed, error)
	close func() error
}

func millionOver(ctx context.Context, env harness.Environment, name string, open func(context.Context, string) (crowd, error)) (err error) {
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
	n := env.Of(1_000_000, 10_000)
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
	heap, resident := float64(after.Heap)/float64(before.Heap), after.Resident/before.Resident
	fmt.Printf("| %s | %d, %.0f | %.2f and %.2f MB: %.3f | %.1f and %.1f MB: %.3f | %+d, %+d |\n", name, n, rate,
		float64(before.Heap)/1e6, float64(after.Heap)/1e6, heap, before.Resident, after.Resident, resident,
		after.Goroutines-before.Goroutines, after.Descriptors-before.Descriptors)
	var errs []error
	if max(heap, resident) > mostGrowth && env.Full() {
		errs = append(errs, fmt.Errorf("%s: %.3f of the heap, %.3f resident, want at most %.2f", name, heap, resident, mostGrowth))
	}
	if g, d := after.Goroutines-before.Goroutines, after.Descriptors-before.Descriptors; g > harness.IdleWorkers+mostDrift || max(d, -d) > mostDrift {
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
	c, err := harness.Dial(ctx, nil, self, "serve", "million", dir)
	if err != nil {
		return crowd{}, err
	}
	looks := 0
	return crowd{
		calls: func(from, to int) error { return driveMillion(c, from, to) },
		weigh: func() (harness.Weighed, error) {
			looks++
			m, err := c.Call(looks, "tools/call", map[string]any{"name": "holdings", "arguments": map[string]any{}})
			if err != nil {
				return harness.Weighed{}, err
			}
			_, text, _ := strings.Cut(string(m.Result), `"text":"`)
			h, err := harness.ParseHoldings(text)
			return harness.Weighed{Holdings: h, Resident: harness.Resident(c.Cmd.Process.Pid)}, err
		},
		close: c.Close,
	}, c.Initialize()
}

// driveMillion makes the calls from one number to another, 64 in flight.
func driveMillion(c *harness.Client, from, to int) error {
	answered, wrong := make(chan struct{}, harness.InFlight), atomic.Int64{}
	c.OnLine.Store(new(func(line []byte) {
		if !millionGood(line) {
			wrong.Add(1)
		}
		answered <- struct{}{}
	}))
	defer c.OnLine.Store(nil)
	var line []byte
	for sent, got := from, from; got < to; got++ {
		for ; sent < min(to, got+harness.InFlight); sent++ {
			line, _ = appendMillion(line[:0], sent, "")
			if err := c.Send(line); err != nil {
				return err
			}
		}
		select {
		case <-answered:
		case <-c.Done:
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
		weigh: func() (harness.Weighed, error) {
			time.Sleep(time.Second) // for the server to see that the connections are closed
			h, err := holdingsOver(addr, "")
			return harness.Weighed{Holdings: h, Resident: harness.Resident(server.Cmd.Process.Pid)}, err
		},
		close: server.Stop,
	}, nil
}

// millionPosts makes calls of the stateless era on 64 connections.
func millionPosts(addr string, from, to int) error {
	errs := make([]error, harness.InFlight)
	var next atomic.Int64
	next.Store(int64(from))
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			w, err := rawhttp.Connect(addr)
			if err != nil {
				errs[i] = err
				return
			}
			defer w.Close()
			var body, post []byte
			for {
				n := int(next.Add(1)) - 1
				if n >= to {
					return
				}
				var tool string
				body, tool = appendMillion(body[:0], n, `,"_meta":{`+rawhttp.ModernMeta+`}`)
				post = rawhttp.AppendPost(post[:0], addr, rawhttp.Eras[1], "", tool, body)
				r, got, err := w.Exchange(post)
				if err != nil || r.Status != 200 || !millionGood(got) {
					errs[i] = r.Bad(fmt.Sprintf("call %d", n), got, err)
					return
				}
			}
		})
	}
	wg.Wait()
	return harness.FirstOf(errs)
}
