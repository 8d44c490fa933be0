package storms

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/.ci/measure/rawhttp"
)

// stormWorkers is how many connections a client makes calls on.
const stormWorkers = 4

// httpClient is a client of a server that it shares with all others.
type httpClient struct {
	era    rawhttp.Era
	addr   string
	token  string // "" = none
	ledger *ledger
	next   atomic.Int64 // the call that is made next

	mu      sync.Mutex
	session *httpSession // nil in the stateless era
}

// httpSession is a session of the older revisions.
type httpSession struct {
	id   string
	over atomic.Bool // DELETE is on its way: calls may or may not be answered
	// stream is the connection of its GET stream, on which no answer may come;
	// nil without one.
	stream *rawhttp.Wire
	ended  chan struct{} // the stream has ended
}

// stormHTTP runs clients of one server, each with calls calls.
func stormHTTP(ctx context.Context, era rawhttp.Era, clients, calls int, seed uint64, tally *stormTally) (err error) {
	server, addr, before, err := listenFilled(ctx, "storm")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	nobody := func(int) string { return "" }
	return stormOn(addr, nobody, before, era, clients, calls, seed, tally)
}

// stormOn runs clients of a server that held before what is given; token is that of
// each client.
func stormOn(addr string, token func(client int) string, before harness.Holdings, era rawhttp.Era, clients, calls int, seed uint64, tally *stormTally) error {
	errs := make([]error, clients)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			c := &httpClient{era: era, addr: addr, token: token(i), ledger: newLedger(i, calls, tally)}
			if err := c.run(seed); err != nil {
				errs[i] = fmt.Errorf("client %d: %w", i, err)
			}
		})
	}
	wg.Wait()
	if err := harness.FirstOf(errs); err != nil {
		return err
	}
	var wrong error
	for range 200 { // what was cut off takes its time to end
		after, err := holdingsOver(addr, token(0))
		if err != nil {
			return err
		}
		if wrong = ended(before, after); wrong == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	tally.fault(&tally.held, "20 s after the last connection was closed: %v", wrong)
	return nil
}

// listenFilled starts a toy server of this program over HTTP, fills its pools, and
// returns it with its address and what it holds then. more are its other arguments.
func listenFilled(ctx context.Context, toy string, more ...string) (server *harness.Listening, addr string, before harness.Holdings, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", harness.Holdings{}, err
	}
	server, err = harness.Listen(ctx, false, append([]string{self, "serve", toy, "--http", "127.0.0.1:0"}, more...)...)
	if err != nil {
		return nil, "", harness.Holdings{}, err
	}
	if addr, err = server.Addr(); err == nil {
		before, err = fillPools(addr, "")
	}
	if err != nil {
		return nil, "", harness.Holdings{}, errors.Join(err, server.Stop())
	}
	return server, addr, before, nil
}

// fillPools has a server run many calls at once, and returns what it holds when
// their connections are closed.
func fillPools(addr, token string) (harness.Holdings, error) {
	errs := make([]error, 3*stormPool)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			args := fmt.Sprintf(`{"nonce":"pool-%d","ms":500}`, i)
			_, errs[i] = oneCall(addr, token, rawhttp.AppendLook(nil, rawhttp.Eras[1], "pool", "nap", args), "nap")
		})
	}
	wg.Wait()
	if err := harness.FirstOf(errs); err != nil {
		return harness.Holdings{}, err
	}
	time.Sleep(time.Second) // for the server to see that the connections are closed
	return holdingsOver(addr, token)
}

func holdingsOver(addr, token string) (harness.Holdings, error) {
	msg, err := oneCall(addr, token, rawhttp.AppendLook(nil, rawhttp.Eras[1], "holdings", "holdings", `{}`), "holdings")
	if err != nil {
		return harness.Holdings{}, err
	}
	return looked(msg)
}

// oneCall makes a call of the stateless era on a connection of its own.
func oneCall(addr, token string, body []byte, tool string) ([]byte, error) {
	w, err := rawhttp.ConnectAs(addr, token)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	r, got, err := w.Exchange(rawhttp.AppendPost(nil, addr, rawhttp.Eras[1], "", tool, body))
	if err != nil || r.Status != 200 {
		return nil, r.Bad(tool, got, err)
	}
	return got, nil
}

func (c *httpClient) run(seed uint64) error {
	if err := c.renew(nil); err != nil {
		return err
	}
	errs := make([]error, stormWorkers+1)
	var wg sync.WaitGroup
	for i := range stormWorkers {
		wg.Go(func() {
			w := &httpWorker{client: c, rnd: rand.New(rand.NewPCG(seed, uint64(c.ledger.client*stormWorkers+i)))}
			errs[i] = w.run()
		})
	}
	wg.Wait()
	errs[stormWorkers] = c.closeSession(c.session)
	return harness.FirstOf(errs)
}

// renew ends a session and opens the next. It does nothing if another worker
// has done so.
func (c *httpClient) renew(old *httpSession) error {
	if c.era.Modern {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != old {
		return nil
	}
	if err := c.closeSession(old); err != nil {
		return err
	}
	opened, err := rawhttp.OpenSessionAs(c.addr, c.token)
	if err != nil {
		return err
	}
	opened.Wire.Close()
	s := &httpSession{id: opened.ID}
	if c.ledger.client%2 == 0 { // half of the clients listen to the session, too
		if err := c.listenTo(s); err != nil {
			return err
		}
	}
	c.session = s
	return nil
}

// listenTo opens the GET stream of a session.
func (c *httpClient) listenTo(s *httpSession) error {
	w, err := rawhttp.ConnectAs(c.addr, c.token)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.Conn, "GET /mcp HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nMcp-Session-Id: %s\r\nMCP-Protocol-Version: 2025-11-25\r\n\r\n", c.addr, s.id)
	if err != nil {
		return err
	}
	r, err := w.Read()
	if err != nil || r.Status != 200 || !r.Events {
		return r.Bad("GET", nil, err)
	}
	s.stream, s.ended = w, make(chan struct{})
	go func() {
		defer close(s.ended)
		// It ends with the session, or with the connection: either is fine.
		_ = w.Messages(r, func(msg []byte) bool {
			c.ledger.tally.fault(&c.ledger.tally.crossed, "client %d: on the stream of the session: %s", c.ledger.client, msg)
			return true
		})
	}()
	return nil
}

// closeSession ends a session. Its stream must end with it.
func (c *httpClient) closeSession(s *httpSession) error {
	if s == nil {
		return nil
	}
	s.over.Store(true)
	w, err := rawhttp.ConnectAs(c.addr, c.token)
	if err != nil {
		return err
	}
	defer w.Close()
	r, body, err := w.Exchange(fmt.Appendf(nil, "DELETE /mcp HTTP/1.1\r\nHost: %s\r\nMcp-Session-Id: %s\r\nMCP-Protocol-Version: 2025-11-25\r\n\r\n", c.addr, s.id))
	if err != nil || r.Status/100 != 2 {
		c.ledger.tally.fault(&c.ledger.tally.other, "client %d: %v", c.ledger.client, r.Bad("DELETE of a session", body, err))
	}
	if s.stream == nil {
		return nil
	}
	defer s.stream.Close()
	select {
	case <-s.ended:
	case <-time.After(10 * time.Second):
		c.ledger.tally.fault(&c.ledger.tally.other, "client %d: the GET stream is open 10 s after the DELETE of its session", c.ledger.client)
	}
	return nil
}
