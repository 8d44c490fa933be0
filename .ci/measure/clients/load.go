package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/.ci/measure/rawhttp"
)

// loaded is a server under load, and the call that is made to it.
type loaded struct {
	name, tool, args string
	program          []string
	at               harness.Endpoint
}

// Load measures calls per second over HTTP with 64 in flight: an equally small
// tool here and on mcp-go's own transport, and a file that is read. The Inspector
// is the client, as a user would have it, and one that costs next to nothing. A
// second mcp-go is the control: how far two equal servers differ by chance.
func Load(ctx context.Context, env harness.Environment) (err error) {
	b, err := newBench(ctx, env, "stdio", "bare", "peer-http")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	at := func(name string, more ...string) []string {
		program := append([]string{b.servers[name].Command}, b.servers[name].Args...)
		return slices.Insert(program, len(program)-1, append(more, "--http", "127.0.0.1:0")...)
	}
	const hello = `{"message":"hello"}`
	servers := []*loaded{
		{name: "toolcrib, echo", tool: "echo", args: hello, program: at("bare")},
		{name: "mcp-go's example, echo", tool: "echo", args: hello, program: at("peer-http")},
		{name: "mcp-go again", tool: "echo", args: hello, program: at("peer-http")},
		{name: "toolcrib, read_file", tool: "read_file", args: `{"path":"hello.txt"}`, program: slices.Insert(at("catalog", "--auth", "none"), 1, "serve")},
	}
	for _, s := range servers {
		l, err := harness.Listen(ctx, false, s.program...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, l.Stop()) }()
		s.at = l.Endpoint
	}
	fmt.Printf("| calls per second over HTTP, %d in flight | revision | %s | %s | ratio | the control | %s |\n|---|---|---|---|---|---|---|\n",
		harness.InFlight, servers[0].name, servers[1].name, servers[3].name)
	clients := []struct {
		name string
		run  func(ctx context.Context, env harness.Environment, s *loaded, era rawhttp.Era) (float64, error)
	}{
		{"Inspector CLI --load", inspectorLoad}, {"bare client", bareLoad},
	}
	var failed error
	for _, c := range clients {
		for _, era := range rawhttp.Eras {
			rates, err := interleaved(servers, env.Of(15, 1), func(s *loaded) (float64, error) { return c.run(ctx, env, s, era) })
			if err != nil {
				return fmt.Errorf("%s: %s: %w", c.name, era.Name, err)
			}
			ratio, control := rates[0]/rates[1], rates[2]/rates[1]
			fmt.Printf("| %s | %s | %.0f | %.0f | %.2f | %.2f | %.0f |\n", c.name, era.Name, rates[0], rates[1], ratio, control, rates[3])
			// Nearly all of the Inspector's time is its own: two equal servers differ
			// by what the control shows, to either side.
			if env.Full() && ratio < 1-max(math.Abs(1-control), 0.01) {
				failed = errors.Join(failed, fmt.Errorf("%s: %s: %.2f times the calls per second of mcp-go's example, want 1.00", c.name, era.Name, ratio))
			}
		}
	}
	return failed
}

// interleaved measures every server in each round, in turn from the front and
// from the back, and returns the medians. A first round warms them up.
func interleaved(servers []*loaded, rounds int, measure func(*loaded) (float64, error)) ([]float64, error) {
	rates := make([][]float64, len(servers))
	for round := range rounds + 1 {
		for n := range servers {
			i := n
			if round%2 == 1 {
				i = len(servers) - 1 - n
			}
			rate, err := measure(servers[i])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", servers[i].name, err)
			}
			if round > 0 {
				rates[i] = append(rates[i], rate)
			}
		}
	}
	medians := make([]float64, len(servers))
	for i, r := range rates {
		medians[i] = harness.Median(r)
	}
	return medians, nil
}

// inspectorLoad has the Inspector make a thousand calls: in the stateless era it
// grows slower with each call, whatever the server.
func inspectorLoad(ctx context.Context, env harness.Environment, s *loaded, era rawhttp.Era) (float64, error) {
	spoken := "legacy"
	if era.Modern {
		spoken = "modern"
	}
	out, err := env.Node(ctx, "", nil, env.NPM(".bin/mcp-inspector"), "--cli", "--protocol-era", spoken,
		"--format", "json", "--method", "tools/call", "--tool-name", s.tool, "--tool-args-json", s.args,
		"--load", "--load-requests", strconv.Itoa(env.Of(1000, 100)), "--load-concurrency", strconv.Itoa(harness.InFlight),
		"--transport", "http", "--server-url", s.at.URL)
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
func bareLoad(_ context.Context, env harness.Environment, s *loaded, era rawhttp.Era) (float64, error) {
	addr, err := (&harness.Listening{Endpoint: s.at}).Addr()
	if err != nil {
		return 0, err
	}
	session, tool, meta := "", s.tool, ""
	if era.Modern {
		meta = `,"_meta":{` + rawhttp.ModernMeta + `}`
	} else {
		opened, err := rawhttp.OpenSession(addr)
		if err != nil {
			return 0, err
		}
		defer opened.Wire.Conn.Close()
		session = opened.ID
	}
	n := int64(env.Of(20_000, 500))
	var next atomic.Int64
	errs := make([]error, harness.InFlight)
	begin := time.Now()
	var wg sync.WaitGroup
	for i := range harness.InFlight {
		wg.Go(func() {
			w, err := rawhttp.Connect(addr)
			if err != nil {
				errs[i] = err
				return
			}
			defer w.Conn.Close()
			var request, body []byte
			for id := next.Add(1); id <= n; id = next.Add(1) {
				body = fmt.Appendf(body[:0], `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, id, tool, s.args, meta)
				request = rawhttp.AppendPost(request[:0], addr, era, session, tool, body)
				r, got, err := w.Exchange(request)
				if err != nil || r.Status != 200 || !bytes.Contains(got, []byte(`"result"`)) || bytes.Contains(got, []byte(`"isError":true`)) {
					errs[i] = r.Bad(tool, got, err)
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(n) / time.Since(begin).Seconds(), errors.Join(errs...)
}
