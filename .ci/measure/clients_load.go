package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// loaded is a server under load, and what is called there.
type loaded struct {
	name, tool, args string
	program          []string
}

// load measures calls per second over HTTP with 64 in flight: an equally small
// tool here and on mcp-go's own transport, and a file that is read. The Inspector
// is the client, as a user would have it, and one that costs next to nothing.
func load(ctx context.Context, env environment) (err error) {
	b, err := env.bench(ctx, "stdio", "bare", "peer-http")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	at := func(name string, more ...string) []string {
		program := append([]string{b.servers[name].Command}, b.servers[name].Args...)
		return slices.Insert(program, len(program)-1, append(more, "--http", "127.0.0.1:0")...)
	}
	read := at("catalog", "--auth", "none")
	servers := []loaded{
		{"toolcrib, echo", "echo", `{"message":"hello"}`, at("bare")},
		{"mcp-go's example, echo", "echo", `{"message":"hello"}`, at("peer-http")},
		{"toolcrib, read_file", "read_file", `{"path":"hello.txt"}`, slices.Insert(read, 1, "serve")},
	}
	fmt.Printf("| calls per second over HTTP, %d in flight | revision | %s | %s | ratio | %s |\n|---|---|---|---|---|---|\n",
		inFlight, servers[0].name, servers[1].name, servers[2].name)
	clients := []struct {
		name string
		run  func(ctx context.Context, env environment, at endpoint, s loaded, era era) (float64, error)
		want float64
	}{
		// Nearly all of the time is the Inspector's own, and its medians of one and
		// the same server differ by some hundredths.
		{"Inspector CLI --load", inspectorLoad, 0.95},
		{"bare client", bareLoad, 1},
	}
	var failed error
	for _, c := range clients {
		for _, era := range stormEras {
			rates := make([][]float64, len(servers))
			for range env.of(9, 1) {
				for i, s := range servers {
					rate, err := loadOnce(ctx, s, func(at endpoint) (float64, error) { return c.run(ctx, env, at, s, era) })
					if err != nil {
						return fmt.Errorf("%s: %s: %s: %w", c.name, era.name, s.name, err)
					}
					rates[i] = append(rates[i], rate)
				}
			}
			ratio := median(rates[0]) / median(rates[1])
			fmt.Printf("| %s | %s | %.0f | %.0f | %.2f | %.0f |\n", c.name, era.name, median(rates[0]), median(rates[1]), ratio, median(rates[2]))
			if ratio < c.want && env.full() {
				failed = errors.Join(failed, fmt.Errorf("%s: %s: %.2f times the calls per second of mcp-go's example, want %.2f", c.name, era.name, ratio, c.want))
			}
		}
	}
	return failed
}

// loadOnce starts a server, measures it and ends it.
func loadOnce(ctx context.Context, s loaded, measure func(endpoint) (float64, error)) (float64, error) {
	l, err := listen(ctx, false, s.program...)
	if err != nil {
		return 0, err
	}
	rate, err := measure(l.endpoint)
	return rate, errors.Join(err, l.stop())
}

// inspectorLoad has the Inspector make a thousand calls: in the stateless era it
// grows slower with each call, whatever the server.
func inspectorLoad(ctx context.Context, env environment, at endpoint, s loaded, era era) (float64, error) {
	spoken := "legacy"
	if era.modern {
		spoken = "modern"
	}
	out, err := env.node(ctx, "", nil, env.npm(".bin/mcp-inspector"), "--cli", "--protocol-era", spoken,
		"--format", "json", "--method", "tools/call", "--tool-name", s.tool, "--tool-args-json", s.args,
		"--load", "--load-requests", strconv.Itoa(env.of(1000, 100)), "--load-concurrency", strconv.Itoa(inFlight),
		"--transport", "http", "--server-url", at.URL)
	if err != nil {
		return 0, err
	}
	var summary struct {
		Result struct {
			Requests, OK int
			Throughput   float64
		}
	}
	if err := json.Unmarshal([]byte(out), &summary); err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	if r := summary.Result; r.OK == 0 || r.OK != r.Requests {
		return 0, fmt.Errorf("not every call succeeded: %s", out)
	}
	return summary.Result.Throughput, nil
}

// bareLoad makes calls over 64 connections.
func bareLoad(_ context.Context, env environment, at endpoint, s loaded, era era) (float64, error) {
	addr, err := (&listening{endpoint: at}).addr()
	if err != nil {
		return 0, err
	}
	session, tool, meta := "", s.tool, ""
	if era.modern {
		meta = `,"_meta":{` + modernMeta + `}`
	} else {
		opened, err := openSession(addr)
		if err != nil {
			return 0, err
		}
		defer opened.wire.conn.Close()
		session = opened.id
	}
	n := int64(env.of(20_000, 500))
	var next atomic.Int64
	errs := make([]error, inFlight)
	begin := time.Now()
	var wg sync.WaitGroup
	for i := range inFlight {
		wg.Go(func() {
			w, err := connect(addr)
			if err != nil {
				errs[i] = err
				return
			}
			defer w.conn.Close()
			var request, body []byte
			for id := next.Add(1); id <= n; id = next.Add(1) {
				body = fmt.Appendf(body[:0], `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, id, tool, s.args, meta)
				request = appendPost(request[:0], addr, era, session, tool, body)
				r, got, err := w.exchange(request)
				if err != nil || r.status != 200 || !bytes.Contains(got, []byte(`"result"`)) || bytes.Contains(got, []byte(`"isError":true`)) {
					errs[i] = r.bad(tool, got, err)
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(n) / time.Since(begin).Seconds(), errors.Join(errs...)
}
