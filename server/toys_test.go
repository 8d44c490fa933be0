package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"toolcrib/server"
	"toolcrib/server/run"
	"toolcrib/tools"
)

type textIn struct {
	Text string `json:"text" jsonschema_description:"what to give back"`
}

type textOut struct{ text string }

func (o textOut) Text() string { return o.text }

type addIn struct {
	A int `json:"a" jsonschema:"minimum=-1000,maximum=1000" jsonschema_description:"first number"`
	B int `json:"b" jsonschema:"minimum=-1000,maximum=1000" jsonschema_description:"second number"`
}

type addOut struct {
	Sum int `json:"sum" jsonschema:"minimum=-2000,maximum=2000" jsonschema_description:"a plus b"`
}

type countIn struct {
	N int `json:"n" jsonschema:"minimum=0,maximum=10000" jsonschema_description:"how many"`
}

type nothingIn struct{}

// toys are the tools of the tests: one for each thing that a transport must
// carry.
func toys() (listed, hidden []tools.Tool) {
	echo := tools.New(tools.Def[textIn, textOut]{
		Name: "echo", Title: "Echo", Doc: "Gives a text back.", Aliases: []string{"say"},
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Run: func(_ context.Context, in textIn) (textOut, error) { return textOut{in.Text}, nil },
	})
	add := tools.New(tools.Def[addIn, addOut]{
		Name: "add", Title: "Add", Doc: "Adds two numbers.",
		Access: tools.Read, Effects: tools.None, Repeatable: true, Data: true,
		Run: func(_ context.Context, in addIn) (addOut, error) { return addOut{in.A + in.B}, nil },
	})
	steps := tools.New(tools.Def[countIn, textOut]{
		Name: "steps", Title: "Steps", Doc: "Reports each of n steps.",
		Access: tools.Write, Effects: tools.State, Streams: true,
		Run: func(ctx context.Context, in countIn) (textOut, error) {
			for i := range in.N {
				tools.Progress(ctx)(tools.ProgressEvent{Done: float64(i + 1), Total: float64(in.N), Message: fmt.Sprintf("step %d", i+1)})
			}
			return textOut{"done"}, nil
		},
	})
	wipe := tools.New(tools.Def[textIn, textOut]{
		Name: "wipe", Title: "Wipe", Doc: "Wipes a thing once the user agrees.",
		Access: tools.Write, Effects: tools.State | tools.Destroys,
		Confirm: func(_ context.Context, in textIn) (tools.Question, error) {
			return tools.Question{Message: "wipe " + in.Text}, nil
		},
		Run: func(_ context.Context, in textIn) (textOut, error) { return textOut{"wiped " + in.Text}, nil },
	})
	greet := tools.New(tools.Def[nothingIn, textOut]{
		Name: "greet", Title: "Greet", Doc: "Asks the user for a name.",
		Access: tools.Write, Effects: tools.State,
		Run: func(ctx context.Context, _ nothingIn) (textOut, error) {
			a, err := tools.Ask(ctx, tools.Form{Message: "what is your name", Fields: []tools.FormField{
				{Name: "name", Title: "Name", Type: "string", Required: true},
				{Name: "mood", Type: "string", Choices: []string{"good", "bad"}},
			}})
			if err != nil {
				return textOut{}, err
			}
			return textOut{fmt.Sprintf("%s %s", a.Action, a.Values["name"])}, nil
		},
	})
	hang := tools.New(tools.Def[nothingIn, textOut]{
		Name: "hang", Title: "Hang", Doc: "Waits until it is cancelled.",
		Access: tools.Write, Effects: tools.State,
		Run: func(ctx context.Context, _ nothingIn) (textOut, error) {
			<-ctx.Done()
			return textOut{}, ctx.Err()
		},
	})
	fail := tools.New(tools.Def[textIn, textOut]{
		Name: "fail", Title: "Fail", Doc: "Fails.",
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Run: func(_ context.Context, in textIn) (textOut, error) {
			return textOut{}, tools.Errorf(tools.NotFound, "%s does not exist", in.Text).WithHint("call echo")
		},
	})
	secret := tools.New(tools.Def[nothingIn, textOut]{
		Name: "secret", Title: "Secret", Doc: "Is not listed.",
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Run: func(ctx context.Context, _ nothingIn) (textOut, error) {
			s := tools.Session(ctx)
			return textOut{fmt.Sprintf("%s %s/%s %s forms=%t", s.Principal, s.Client.Name, s.Client.Version, s.Client.Protocol, s.Client.Forms)}, nil
		},
	})
	return []tools.Tool{echo, add, steps, wipe, greet, hang, fail}, []tools.Tool{secret}
}

func newServer(tb testing.TB, opts ...func(*server.Options)) *server.Server {
	tb.Helper()
	listed, hidden := toys()
	opt := server.Options{
		Name: "toys", Version: "1.2.3", Instructions: "Toys.", Tools: listed, Hidden: hidden, ProgressRate: -1,
		Log: slog.New(slog.NewTextHandler(tb.Output(), nil)),
	}
	for _, o := range opts {
		o(&opt)
	}
	opt.Runner = run.New(run.Config{Settings: run.Settings{Tools: append(opt.Tools, opt.Hidden...)}})
	s, err := server.New(opt)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// client is the other end of a served connection.
type client struct {
	tb   testing.TB
	in   *io.PipeWriter
	stop context.CancelFunc
	done chan struct{} // closed when ServeStdio has returned err
	err  error

	mu    sync.Mutex
	lines []string
	fresh chan string // every line of the server, for those who read along
}

// connect serves s; the context that ServeStdio gets ends with stop.
func connect(tb testing.TB, s *server.Server) *client {
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	ctx, stop := context.WithCancel(tb.Context())
	c := &client{tb: tb, in: in, done: make(chan struct{}), stop: stop}
	go func() {
		c.err = s.ServeStdio(ctx, stdin, stdout)
		stdout.Close()
		close(c.done)
	}()
	go func() {
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				if c.fresh != nil {
					close(c.fresh)
				}
				return
			}
			c.mu.Lock()
			c.lines = append(c.lines, strings.TrimSuffix(line, "\n"))
			c.mu.Unlock()
			if c.fresh != nil {
				c.fresh <- line
			}
		}
	}()
	tb.Cleanup(func() {
		stop()
		in.Close()
		if err := c.wait(); err != nil {
			tb.Log(err)
		}
	})
	return c
}

// send writes lines; it may be called by several goroutines.
func (c *client) send(lines ...string) {
	for _, line := range lines {
		if _, err := io.WriteString(c.in, line+"\n"); err != nil {
			c.tb.Error(err)
		}
	}
}

// wait waits until ServeStdio has returned.
func (c *client) wait() error {
	<-c.done
	return c.err
}

// take returns the lines since the last take.
func (c *client) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := c.lines
	c.lines = nil
	return lines
}

// received is a line of the server, read back.
type received struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress float64         `json:"progress"`
		Message  string          `json:"message"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func readLine(tb testing.TB, line string) received {
	tb.Helper()
	var w received
	dec := json.NewDecoder(bytes.NewReader([]byte(line)))
	if err := dec.Decode(&w); err != nil {
		tb.Errorf("the server wrote %q: %v", line, err)
	}
	return w
}

const (
	modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
	initialize = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	initDone   = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// era is how the requests of a test are written.
type era struct {
	name  string
	hello []string
	meta  string // members of _meta, "" = none
}

func eras() []era {
	return []era{
		{"2025-11-25", []string{initialize, initDone}, ""},
		{"2026-07-28", nil, modernMeta},
	}
}

// request returns the text of a request; params is the inside of an object, "" = none.
func (e era) request(id, method, params, meta string) string {
	all := strings.Trim(e.meta+","+meta, ",")
	params = strings.Trim(params+`,"_meta":{`+all+`}`, ",")
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, params)
}

func (e era) call(id, tool, args, meta string) string {
	return e.request(id, "tools/call", fmt.Sprintf(`"name":%q,"arguments":{%s}`, tool, args), meta)
}
