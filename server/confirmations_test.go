package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolcrib/server"
	"toolcrib/server/run"
	"toolcrib/tools"
)

// The matrix of confirmations: each scenario is played in each revision under each
// --confirm, over stdio, and by HTTP where another principal or replica is wanted.

// desk is a server whose tool launch is asked about, and how often that ran.
type desk struct {
	server *server.Server
	ran    int
}

func newDesk(t testing.TB, key byte, confirm run.Confirm) *desk {
	d := new(desk)
	launch := tools.New(tools.Def[textIn, textOut]{
		Name: "launch", Title: "Launch", Doc: "Launches a thing.", Access: tools.Exec, Effects: tools.Process | tools.Network,
		Run: func(_ context.Context, in textIn) (textOut, error) {
			d.ran++
			return textOut{"launched " + in.Text}, nil
		},
	})
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	var err error
	d.server, err = server.New(server.Options{
		Name: "desk", Version: "1", Tools: []tools.Tool{launch}, Log: log,
		Runner: run.New(run.Config{
			Settings: run.Settings{Tools: []tools.Tool{launch}, Confirm: confirm},
			Key:      bytes.Repeat([]byte{key}, 32), Log: log,
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// caller is a client of one revision. Its lines and those of its server alternate.
type caller struct {
	t        *testing.T
	revision string
	forms    bool
	name     string
	line     func(line string) []string // sends one and returns what came of it
	last     int
}

func (c *caller) modern() bool { return c.revision == "2026-07-28" }

func newCaller(t *testing.T, d *desk, name, revision string, forms bool) *caller {
	conn := connect(t, d.server)
	c := &caller{t: t, revision: revision, forms: forms, name: name, line: func(line string) []string {
		conn.send(line)
		synctest.Wait()
		return conn.take()
	}}
	if !c.modern() {
		c.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":%q,"version":"1"}}}`, revision, c.abilities(), name))
		c.line(initDone)
	}
	return c
}

func (c *caller) abilities() string {
	if c.forms {
		return `{"elicitation":{}}`
	}
	return `{}`
}

// said is what a server made of a call: it asks, or it has ended.
type said struct {
	end         string // ran, asked, denied, declined, refused (a protocol error) or waits
	state, form string // of asked; the form is the id of the request in the older revisions
	text        string
}

// call calls launch; more are members of the params.
func (c *caller) call(text, more string) said {
	c.last++
	meta := ""
	if c.modern() {
		meta = fmt.Sprintf(`,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":%q,"version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}`, c.revision, c.name, c.abilities())
	}
	return c.read(c.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"launch","arguments":{"text":%q}%s%s}}`, c.last, text, more, meta)))
}

func (c *caller) read(lines []string) said {
	for _, line := range lines {
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
			Error  *struct{ Message string }
			Result struct {
				State   string                     `json:"requestState"`
				Asks    map[string]json.RawMessage `json:"inputRequests"`
				IsError bool
				Content []struct{ Text string }
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			c.t.Fatalf("%v in %s", err, line)
		}
		switch {
		case m.Method == "elicitation/create":
			return said{end: "asked", form: string(m.ID), text: string(m.Params)}
		case m.Method != "":
		case m.Error != nil:
			return said{end: "refused", text: m.Error.Message}
		case m.Result.Asks != nil:
			for id, ask := range m.Result.Asks {
				return said{end: "asked", state: m.Result.State, form: id, text: string(ask)}
			}
		case m.Result.IsError:
			text := m.Result.Content[0].Text
			end, _, _ := strings.Cut(text, ":")
			return said{end: end, text: text}
		default:
			return said{end: "ran", text: m.Result.Content[0].Text}
		}
	}
	return said{end: "waits"}
}

// answer answers what was asked.
func (c *caller) answer(to said, text, answer string) said {
	if to.end != "asked" {
		return to
	}
	if c.modern() {
		return c.call(text, fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:%s}`, to.state, to.form, answer))
	}
	return c.read(c.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, to.form, answer)))
}

const (
	once    = `{"action":"accept","content":{"allow":"once"}}`
	session = `{"action":"accept","content":{"allow":"session"}}`
)

// answering accepts with a content.
func answering(content string) func(stage) said {
	return func(s stage) said {
		return s.answer(s.call("a", ""), "a", `{"action":"accept","content":`+content+`}`)
	}
}

// stage is where a scenario is played.
type stage struct {
	*caller
	desk     *desk
	replica  func(key byte) (*desk, *caller) // another server
	revision string
}

// scenario plays and returns how it ended, and how often the tool is to have run.
// The older revisions have no state on the wire: there want is what a stray answer
// or state of that kind must come to.
var scenarios = []struct {
	name         string
	play         func(s stage) said
	modern, old  string
	runs, oldRun int
}{
	{"accept once", func(s stage) said { return s.answer(s.call("a", ""), "a", once) }, "ran", "ran", 1, 1},
	{"accept without a choice", func(s stage) said { return s.answer(s.call("a", ""), "a", `{"action":"accept"}`) }, "declined", "declined", 0, 0},
	{"once is not twice", func(s stage) said {
		s.answer(s.call("a", ""), "a", once)
		return s.call("a", "")
	}, "asked", "asked", 1, 1},
	{"accept session", func(s stage) said {
		s.answer(s.call("a", ""), "a", session)
		return s.call("b", "")
	}, "ran", "ran", 2, 2},
	{"session, an hour idle", func(s stage) said {
		s.answer(s.call("a", ""), "a", session)
		time.Sleep(59 * time.Minute)
		s.call("a", "")
		time.Sleep(61 * time.Minute)
		return s.call("b", "")
	}, "asked", "asked", 2, 2},
	{"choose deny", func(s stage) said {
		return s.answer(s.call("a", ""), "a", `{"action":"accept","content":{"allow":"deny"}}`)
	}, "declined", "declined", 0, 0},
	{"a choice that was not given", func(s stage) said {
		return s.answer(s.call("a", ""), "a", `{"action":"accept","content":{"allow":["session"]}}`)
	}, "declined", "declined", 0, 0},
	{"a choice that is null", answering(`{"allow":null}`), "declined", "declined", 0, 0},
	{"a choice in another case", answering(`{"Allow":"once"}`), "declined", "declined", 0, 0},
	{"another field", answering(`{"x":"y"}`), "declined", "declined", 0, 0},
	{"an unknown choice", answering(`{"allow":"always"}`), "declined", "declined", 0, 0},
	{"no content", answering(`{}`), "declined", "declined", 0, 0},
	{"decline", func(s stage) said { return s.answer(s.call("a", ""), "a", `{"action":"decline"}`) }, "declined", "declined", 0, 0},
	{"a denial is not remembered", func(s stage) said {
		s.answer(s.call("a", ""), "a", `{"action":"decline"}`)
		return s.call("a", "")
	}, "asked", "asked", 0, 0},
	{"cancel", func(s stage) said { return s.answer(s.call("a", ""), "a", `{"action":"cancel"}`) }, "declined", "declined", 0, 0},
	{"tampered state", func(s stage) said {
		ask := s.call("a", "")
		if !s.modern() { // the answer itself is not one
			return s.answer(ask, "a", `{"action":"acept"}`)
		}
		if ask.end == "asked" {
			b := []byte(ask.state)
			b[len(b)/2] ^= 1
			ask.state = string(b)
		}
		return s.answer(ask, "a", once)
	}, "refused", "declined", 0, 0},
	{"changed arguments", func(s stage) said {
		ask := s.call("a", "")
		if !s.modern() && ask.end == "asked" { // the answer is to no question
			ask.form = `"ask-77"`
		}
		return s.answer(ask, "b", once)
	}, "refused", "waits", 0, 0},
	{"expired", func(s stage) said {
		ask := s.call("a", "")
		time.Sleep(11 * time.Minute)
		return s.answer(ask, "a", once)
	}, "denied", "denied", 0, 0},
	{"replayed", func(s stage) said {
		ask := s.call("a", "")
		if first := s.answer(ask, "a", once); first.end != "ran" {
			return first
		}
		return s.answer(ask, "a", once)
	}, "denied", "waits", 1, 1},
	{"another principal", func(s stage) said {
		ask := s.call("a", "")
		if ask.end != "asked" {
			return ask
		}
		return s.overHTTP(s.desk).answer(ask, "a", once)
	}, "refused", "waits", 0, 0},
	{"another client of the session", func(s stage) said {
		s.answer(s.call("a", ""), "a", session)
		return newCaller(s.t, s.desk, "another", s.revision, true).call("a", "")
	}, "asked", "asked", 1, 1},
	{"another replica with the key", func(s stage) said {
		_, other := s.replica('k')
		return other.answer(s.call("a", ""), "a", once)
	}, "ran", "waits", 1, 0},
	{"another replica with another key", func(s stage) said {
		_, other := s.replica('x')
		return other.answer(s.call("a", ""), "a", once)
	}, "refused", "waits", 0, 0},
	{"a client without the ability", func(s stage) said {
		return newCaller(s.t, s.desk, "test", s.revision, false).call("a", "")
	}, "denied", "denied", 0, 0},
}

// calls are how often a scenario calls the tool, if more than once.
var calls = map[string]int{
	"once is not twice": 2, "accept session": 2, "session, an hour idle": 3, "a denial is not remembered": 2,
	"another client of the session": 2,
}

// overHTTP is the same client, whom the server takes for another over HTTP.
func (s stage) overHTTP(d *desk) *caller {
	site := serveHTTP(s.t, d.server, server.HTTP{})
	var session headers
	if !s.modern() {
		session = site.hello(`{"elicitation":{}}`)
	}
	other := *s.caller
	other.line = func(line string) []string {
		_, lines := site.post(line, session)
		return slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, ":") })
	}
	return &other
}

func TestConfirmations(t *testing.T) {
	right, wrong := 0, 0
	for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		for _, confirm := range []run.Confirm{run.ConfirmAsk, run.ConfirmClient, run.ConfirmDeny} {
			for _, sc := range scenarios {
				synctest.Test(t, func(t *testing.T) {
					d := newDesk(t, 'k', confirm)
					desks := []*desk{d}
					s := stage{desk: d, revision: revision, caller: newCaller(t, d, "test", revision, true)}
					s.replica = func(key byte) (*desk, *caller) {
						other := newDesk(t, key, confirm)
						desks = append(desks, other)
						return other, newCaller(t, other, "test", revision, true)
					}
					want, runs := sc.old, sc.oldRun
					if s.modern() {
						want, runs = sc.modern, sc.runs
					}
					switch confirm {
					case run.ConfirmDeny:
						want, runs = "denied", 0
					case run.ConfirmClient: // nobody is asked, and so nothing is to answer
						want, runs = "ran", max(1, calls[sc.name])
					}
					got := sc.play(s)
					ran := 0
					for _, d := range desks {
						ran += d.ran
					}
					if got.end == want && ran == runs {
						right++
						return
					}
					wrong++
					t.Errorf("%s, --confirm %s, %s: %s after %d runs, want %s after %d (%s)", revision, confirm, sc.name, got.end, ran, want, runs, got.text)
				})
			}
		}
	}
	t.Logf("confirmations: 3 revisions x 3 --confirm x %d scenarios: %d right, %d wrong", len(scenarios), right, wrong)
}
