package protocol

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"toolcrib/.ci/measure/harness"
	"toolcrib/.ci/measure/rawhttp"
)

// fuzzSenders is how many connections send over HTTP.
const fuzzSenders = 16

func fuzzHTTP(ctx context.Context, place fuzzRun) (fuzzTarget, error) {
	args, err := place.command("--http", "127.0.0.1:0", "--auth", "none")
	if err != nil {
		return fuzzTarget{}, err
	}
	server, err := harness.Listen(ctx, false, args...)
	if err != nil {
		return fuzzTarget{}, err
	}
	addr, err := server.Addr()
	if err != nil {
		return fuzzTarget{}, err
	}
	senders := make([]*fuzzSender, fuzzSenders)
	for i := range senders {
		senders[i] = &fuzzSender{grammar: place.grammar(i), target: target{addr: addr}, tally: place.tally}
	}
	return fuzzTarget{
		pid: server.Cmd.Process.Pid, stderr: server, stop: server.Stop,
		send: func(from, to int) error {
			var next atomic.Int64
			next.Store(int64(from))
			errs := make([]error, len(senders))
			var wg sync.WaitGroup
			for i, s := range senders {
				wg.Go(func() {
					for n := int(next.Add(1)) - 1; n < to && errs[i] == nil; n = int(next.Add(1)) - 1 {
						errs[i] = s.send(n)
					}
					s.hangUp()
				})
			}
			wg.Wait()
			return harness.FirstOf(errs)
		},
	}, nil
}

// fuzzSender sends over one connection at a time.
type fuzzSender struct {
	*grammar
	target
	tally   *fuzzTally
	wire    *rawhttp.Wire
	session string // that was opened last
}

func (s *fuzzSender) hangUp() {
	if s.wire != nil {
		s.wire.Close()
		s.wire = nil
	}
}

func (s *fuzzSender) send(n int) (err error) {
	m := s.next(n)
	w := wantedOf(m.line)
	s.tally.sent(m, w)
	if s.wire == nil {
		if s.wire, err = rawhttp.Connect(s.addr); err != nil {
			return err
		}
	}
	post := s.headers(m).bytes()
	if _, err := s.wire.Conn.Write(post); err != nil {
		return fmt.Errorf("request %d: %w", n, err)
	}
	r, err := s.wire.Read()
	var ids []string
	if err == nil {
		err = s.wire.Messages(r, func(msg []byte) bool {
			ids = append(ids, s.tally.take(func(string) []byte { return post }, msg)...)
			return !r.Events || len(w.lasts) == 0 // a stream lasts until it is left
		})
	}
	if err != nil {
		s.tally.fault(fmt.Sprintf("request %d: %v", n, err), post)
		s.hangUp()
		return nil
	}
	if r.Session != "" {
		s.session = r.Session
	}
	s.judge(r, w, ids, post)
	if r.Closes || r.Events && len(w.lasts) > 0 {
		s.hangUp()
	}
	return nil
}

// judge judges a response. One that is no 200 answers by its status, and with an error
// unless there was nothing to answer.
func (s *fuzzSender) judge(r *rawhttp.Response, w wanted, ids []string, post []byte) {
	switch {
	case r.Status >= 500 && r.Status != 503:
		s.tally.fault(fmt.Sprintf("status %d", r.Status), post)
	case r.Status >= 400 && len(ids) != 1:
		s.tally.fault(fmt.Sprintf("status %d with %d errors", r.Status, len(ids)), post)
	case r.Status == 200:
		for _, id := range w.ids {
			if !slices.Contains(ids, id) {
				s.tally.fault(fmt.Sprintf("200 without an answer for %q", id), post)
			}
		}
	case r.Status == 202 && len(w.ids) > 0:
		s.tally.fault("202 for a request", post)
	}
}

// headers puts a message into a request of its era, and breaks some of the headers.
func (s *fuzzSender) headers(m made) request {
	r := s.post(strings.TrimSpace(m.method), headerText(m.name), m.line)
	if !m.modern {
		r = s.legacy("")
		r.body = m.line
		switch s.rnd.IntN(8) {
		case 0:
		case 1:
			r = r.with("Mcp-Session-Id", headerText(s.word()))
		default:
			if s.session != "" && m.method != "initialize" {
				r = r.with("Mcp-Session-Id", s.session)
			}
		}
	}
	if s.rnd.IntN(30) == 0 && s.session != "" && !m.modern {
		r = r.to("DELETE /mcp HTTP/1.1").saying("")
	}
	if s.rnd.IntN(15) != 0 {
		return r
	}
	name := pick(s.rnd, []string{"Accept", "Content-Type", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Origin", "Traceparent", "Mcp-Session-Id", "Authorization"})
	switch s.rnd.IntN(3) {
	case 0:
		return r.without(name)
	case 1:
		return r.plus(name, headerText(s.word()))
	}
	return r.with(name, headerText(s.word()))
}

// headerText is what of a text can stand in a header.
func headerText(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text)
	return strings.TrimSpace(text[:min(len(text), 500)])
}
