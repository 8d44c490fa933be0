package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toolcrib/server"
	"toolcrib/tools"
)

// TestProgressBeforeAnswer makes many streaming calls at once: every event must
// arrive, in order, before the answer of its call. TOOLCRIB_CALLS sets how many
// calls each era makes.
func TestProgressBeforeAnswer(t *testing.T) {
	calls, err := strconv.Atoi(os.Getenv("TOOLCRIB_CALLS"))
	if err != nil {
		calls = 500
	}
	const inFlight, events = 64, 5
	for _, e := range eras() {
		t.Run(e.name, func(t *testing.T) {
			c := connect(t, newServer(t))
			c.fresh = make(chan string, 1)
			c.send(e.hello...)
			slots := make(chan struct{}, inFlight)
			go func() {
				for i := range calls {
					slots <- struct{}{}
					c.send(e.call(strconv.Itoa(i), "steps", fmt.Sprintf(`"n":%d`, events), fmt.Sprintf(`"progressToken":%d`, i)))
				}
			}()
			seen := make([]int, calls)
			for answered := 0; answered < calls; {
				w := readLine(t, <-c.fresh)
				switch {
				case w.Method == "notifications/progress":
					i, _ := strconv.Atoi(string(w.Params.Token))
					seen[i]++
					if seen[i] < 0 || int(w.Params.Progress) != seen[i] {
						t.Errorf("call %d: event %v as number %d", i, w.Params.Progress, seen[i])
					}
				case string(w.ID) == `"init"`:
				default:
					i, _ := strconv.Atoi(string(w.ID))
					if w.Error != nil || seen[i] != events {
						t.Errorf("call %d answered after %d events: %+v", i, seen[i], w.Error)
					}
					seen[i] = -1 << 30
					answered++
					<-slots
				}
			}
		})
	}
}

// TestProgressRate lets a tool report faster than the rate.
func TestProgressRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fast := tools.New(tools.Def[countIn, textOut]{
			Name: "fast", Title: "Fast", Doc: "Reports n events in three and a half seconds.", Access: tools.Write, Effects: tools.State, Streams: true,
			Run: func(ctx context.Context, in countIn) (textOut, error) {
				for i := range in.N {
					tools.Progress(ctx)(tools.ProgressEvent{Done: float64(i)})
					time.Sleep(3500 * time.Millisecond / time.Duration(in.N))
				}
				tools.Progress(ctx)(tools.ProgressEvent{Done: float64(in.N - 1), Message: "news without an increase"})
				tools.Progress(ctx)(tools.ProgressEvent{Done: 3, Message: "last"})
				return textOut{"done"}, nil
			},
		})
		c := connect(t, newServer(t, func(o *server.Options) { o.Tools, o.ProgressRate = []tools.Tool{fast}, 10 }))
		e := eras()[1]
		c.send(e.call("1", "fast", `"n":3000`, `"progressToken":"t"`))
		time.Sleep(time.Minute)
		synctest.Wait()
		lines := c.take()
		if n := len(lines); n < 40 || n > 46 {
			t.Errorf("%d lines for 4 seconds of 10 events each", n)
		}
		last := -1.0
		for _, line := range lines[:len(lines)-1] {
			w := readLine(t, line)
			if w.Params.Progress <= last {
				t.Errorf("progress %v after %v", w.Params.Progress, last)
			}
			last = w.Params.Progress
		}
		if w := readLine(t, lines[len(lines)-2]); w.Params.Message != "last" {
			t.Errorf("the last event is lost: %s", lines[len(lines)-2])
		}
		if w := readLine(t, lines[len(lines)-1]); string(w.ID) != "1" {
			t.Errorf("the answer is not last: %s", lines[len(lines)-1])
		}
	})
}

// TestGrace ends stdin, or the context, under calls that take their time.
func TestGrace(t *testing.T) {
	sleeper := tools.New(tools.Def[countIn, textOut]{
		Name: "sleep", Title: "Sleep", Doc: "Sleeps for n milliseconds.", Access: tools.Write, Effects: tools.State,
		Run: func(ctx context.Context, in countIn) (textOut, error) {
			select {
			case <-time.After(time.Duration(in.N) * time.Millisecond):
				return textOut{"slept"}, nil
			case <-ctx.Done():
				return textOut{}, ctx.Err()
			}
		},
	})
	ends := map[string]func(*client){
		"stdin":   func(c *client) { c.in.Close() },
		"context": func(c *client) { c.stop() },
	}
	tests := []struct {
		millis      int
		want        string
		least, most time.Duration
	}{
		{1500, `"slept"`, 1500 * time.Millisecond, 1600 * time.Millisecond},
		{9000, `"isError":true`, 2 * time.Second, 2200 * time.Millisecond},
	}
	for how, end := range ends {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s/%d", how, tt.millis), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := connect(t, newServer(t, func(o *server.Options) { o.Tools = []tools.Tool{sleeper} }))
					e := eras()[1]
					c.send(e.call("1", "sleep", fmt.Sprintf(`"n":%d`, tt.millis), ""))
					synctest.Wait()
					start := time.Now()
					end(c)
					if err := c.wait(); err != nil {
						t.Error(err)
					}
					if took := time.Since(start); took < tt.least || took > tt.most {
						t.Errorf("ended after %v, want %v to %v", took, tt.least, tt.most)
					}
					synctest.Wait()
					if got := strings.Join(c.take(), "\n"); !strings.Contains(got, tt.want) {
						t.Errorf("wrote %q, want %s", got, tt.want)
					}
				})
			})
		}
	}
}

// TestBrokenStdout: a client that is gone cannot be answered; its calls are
// cancelled at once.
func TestBrokenStdout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		stdin, in := io.Pipe()
		out, stdout := io.Pipe()
		out.Close()
		done := make(chan error, 1)
		go func() { done <- s.ServeStdio(t.Context(), stdin, stdout) }()
		e := eras()[1]
		for _, line := range []string{e.call("1", "hang", "", ""), e.call("2", "echo", `"text":"x"`, "")} {
			if _, err := io.WriteString(in, line+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		if err := <-done; !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("ServeStdio returned %v", err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("took %v", took)
		}
		in.Close()
	})
}

// TestListChanged replaces the tools under clients of both eras: only who wants
// to know is told, and each stream under its own id.
func TestListChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		listed, hidden := toys()
		legacy, silent, modern := connect(t, s), connect(t, s), connect(t, s)
		legacy.send(eras()[0].hello...)
		silent.send(eras()[1].request("1", "tools/list", "", ""))
		e := eras()[1]
		modern.send(
			e.request(`"a"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, ""),
			e.request(`"b"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, ""),
		)
		synctest.Wait()
		for _, c := range []*client{legacy, silent, modern} {
			c.take()
		}
		if err := s.SetTools(listed[:1], hidden, nil, nil, nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := legacy.take(); len(got) != 1 || !strings.Contains(got[0], "list_changed") {
			t.Errorf("a client of the handshake got %q", got)
		}
		if got := silent.take(); len(got) != 0 {
			t.Errorf("a client that asked for nothing got %q", got)
		}
		got := modern.take()
		slices.Sort(got)
		if len(got) != 2 || !strings.Contains(got[0], `subscriptionId":"a"`) || !strings.Contains(got[1], `subscriptionId":"b"`) {
			t.Errorf("two streams got %q", got)
		}
		silent.send(e.request("2", "tools/list", "", ""), e.call("3", "add", `"a":1,"b":2`, ""))
		synctest.Wait()
		if got := strings.Join(silent.take(), "\n"); strings.Contains(got, `"add"`+`,"title"`) || !strings.Contains(got, "no tool is called") {
			t.Errorf("a tool that is gone is still there: %s", got)
		}
	})
}

// TestReadingNeverWaits fills every slot with calls that hang: pings, cancelled
// calls and refusals still come through, and nothing is lost.
func TestReadingNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newServer(t))
		e := eras()[0]
		c.send(e.hello...)
		for i := range server.MaxInFlight {
			c.send(e.call(strconv.Itoa(i), "hang", "", ""))
		}
		c.send(e.request(`"one too many"`, "ping", "", ""), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		synctest.Wait()
		c.send(e.request(`"now"`, "ping", "", ""))
		synctest.Wait()
		var got []string
		for _, line := range c.take() {
			w := readLine(t, line)
			got = append(got, fmt.Sprintf("%s %t", w.ID, w.Error == nil))
		}
		want := []string{`"init" true`, `"one too many" false`, `"now" true`}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// TestAtMostSoManyRun counts the tools that run at once.
func TestAtMostSoManyRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		busy := tools.New(tools.Def[nothingIn, textOut]{
			Name: "busy", Title: "Busy", Doc: "Takes a second.", Access: tools.Write, Effects: tools.State,
			Run: func(context.Context, nothingIn) (textOut, error) {
				n := now.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				time.Sleep(time.Second)
				now.Add(-1)
				return textOut{"done"}, nil
			},
		})
		c := connect(t, newServer(t, func(o *server.Options) { o.Tools = []tools.Tool{busy} }))
		const calls = 3 * server.MaxRunning
		for i := range calls {
			c.send(eras()[1].call(strconv.Itoa(i), "busy", "", ""))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(c.take()); n != calls || most.Load() != server.MaxRunning {
			t.Errorf("%d of %d answered, %d at once", n, calls, most.Load())
		}
	})
}

// TestLongClientName: what a client says of itself is taken in bounds, in both eras.
func TestLongClientName(t *testing.T) {
	long, want := strings.Repeat("x", 1000), strings.Repeat("x", 256)
	info := `{"name":"` + long + `","version":"` + long + `"}`
	for name, lines := range map[string][]string{
		"legacy": {
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":` + info + `}}`,
			eras()[0].call("1", "secret", "", ""),
		},
		"modern": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"secret","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":` + info + `}}}`},
	} {
		c := connect(t, newServer(t))
		c.fresh = make(chan string, 8)
		c.send(lines...)
		for line := range c.fresh {
			if string(readLine(t, line).ID) != "1" {
				continue
			}
			if !strings.Contains(line, " "+want+"/"+want+" ") {
				t.Errorf("%s: %s", name, line)
			}
			break
		}
	}
}
