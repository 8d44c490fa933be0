package storms

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/.ci/measure/rawhttp"
)

const (
	// stormWindow is how many calls of a client on stdio are open at once.
	stormWindow = 8
	// stormLife is how many calls a client makes between two disconnects, on
	// average.
	stormLife = 500
	// stormPool is how many calls at once fill the pools of a server, so that
	// what it keeps for use again is there before the count.
	stormPool = 96
)

// stdioClient is a client whose server is a process of its own.
type stdioClient struct {
	era    rawhttp.Era
	self   string // this program
	rnd    *rand.Rand
	ledger *ledger

	cmd     *exec.Cmd
	in      io.WriteCloser
	buf     []byte
	looks   chan []byte   // answers to calls that do not count
	gone    chan struct{} // stdout has ended
	mu      sync.Mutex
	pending []int // calls that are cancelled, and the server may not know it yet
}

// stormStdio runs clients on stdio, each with calls calls.
func stormStdio(ctx context.Context, era rawhttp.Era, clients, calls int, seed uint64, tally *stormTally) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	errs := make([]error, clients)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			c := &stdioClient{era: era, self: self, rnd: rand.New(rand.NewPCG(seed, uint64(i))), ledger: newLedger(i, calls, tally)}
			if err := c.run(ctx, calls); err != nil {
				errs[i] = fmt.Errorf("client %d: %w", i, err)
			}
		})
	}
	wg.Wait()
	return harness.FirstOf(errs)
}

func (c *stdioClient) run(ctx context.Context, calls int) error {
	for n := 0; ; {
		life := 1 + c.rnd.IntN(2*stormLife)
		last := n+life >= calls
		if last {
			life = calls - n
		}
		if err := c.start(ctx); err != nil {
			return err
		}
		if last {
			return c.last(n, calls)
		}
		if err := c.burst(n, n+life); err != nil {
			return err
		}
		n += life
		c.ledger.tally.count(&c.ledger.tally.disconnects)
		if c.rnd.IntN(2) == 0 {
			if err := c.end(n); err != nil {
				return err
			}
			continue
		}
		for i := range n { // first: an answer may come until the process is dead
			c.ledger.cutOff(i)
		}
		if err := c.cmd.Process.Kill(); err != nil {
			return err
		}
		<-c.gone
		_ = c.cmd.Wait() // killed
	}
}

// last makes the calls from n to calls, the last of the client, and compares
// what the process holds before and after them.
func (c *stdioClient) last(n, calls int) error {
	for i := range stormPool {
		c.buf = rawhttp.AppendLook(c.buf[:0], c.era, fmt.Sprintf("pool-%d", i), "nap", fmt.Sprintf(`{"nonce":"pool-%d","ms":50}`, i))
		if err := c.write(c.buf); err != nil {
			return err
		}
	}
	for range stormPool {
		if _, err := c.look(); err != nil {
			return err
		}
	}
	before, err := c.holdings()
	if err != nil {
		return err
	}
	if err := c.burst(n, calls); err != nil {
		return err
	}
	if !c.ledger.wait(0, rawhttp.Patience) {
		c.ledger.lose(calls, "30 s after the last call")
	}
	var wrong error
	for range 50 { // what was cancelled takes its time to end
		after, err := c.holdings()
		if err != nil {
			return err
		}
		if wrong = ended(before, after); wrong == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if wrong != nil {
		c.ledger.tally.fault(&c.ledger.tally.held, "client %d: %v", c.ledger.client, wrong)
	}
	return c.end(calls)
}

// end closes stdin. What is in flight must still be answered.
func (c *stdioClient) end(n int) error {
	if err := c.in.Close(); err != nil {
		return err
	}
	select {
	case <-c.gone:
	case <-time.After(rawhttp.Patience):
		c.ledger.tally.fault(&c.ledger.tally.other, "client %d: the server has not ended 30 s after its stdin", c.ledger.client)
		_ = c.cmd.Process.Kill() // counted above
	}
	if err := c.cmd.Wait(); err != nil {
		c.ledger.tally.fault(&c.ledger.tally.other, "client %d: the server ended with %v", c.ledger.client, err)
	}
	c.ledger.lose(n, "stdin was closed, and the server ended")
	return nil
}

func (c *stdioClient) start(ctx context.Context) error {
	c.cmd = exec.CommandContext(ctx, c.self, "serve", "storm")
	c.cmd.Stderr = os.Stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.cmd.Start(); err != nil {
		return err
	}
	c.looks, c.gone, c.pending = make(chan []byte, stormPool), make(chan struct{}), nil
	go c.read(out, c.looks, c.gone)
	if c.era.Modern {
		return nil
	}
	if err := c.write([]byte(rawhttp.InitializeCall)); err != nil {
		return err
	}
	if _, err := c.look(); err != nil {
		return err
	}
	return c.write([]byte(rawhttp.InitializedNote))
}

// burst makes the calls from n to end.
func (c *stdioClient) burst(n, end int) error {
	var planned []int // calls that will be cancelled, oldest first
	for ; n < end; n++ {
		if !c.ledger.wait(stormWindow-1, rawhttp.Patience) {
			return fmt.Errorf("%d calls are open and no answer has come for 30 s", stormWindow)
		}
		j := draw(c.rnd)
		c.ledger.send(n, j.errand, j.events)
		c.buf = c.ledger.appendCall(c.buf[:0], c.era, n, j)
		if err := c.write(c.buf); err != nil {
			return err
		}
		if p := c.rnd.IntN(100); p < 3 || j.errand == errandNap && p < 12 {
			planned = append(planned, n)
		}
		for len(planned) > 0 && c.rnd.IntN(2) == 0 { // at once, or some calls later
			if err := c.cancel(planned[0], n+1); err != nil {
				return err
			}
			planned = planned[1:]
		}
	}
	return nil
}

func (c *stdioClient) cancel(n, before int) error {
	if !c.ledger.cancel(n, before) {
		return nil // answered by now
	}
	c.mu.Lock()
	c.pending = append(c.pending, n)
	c.mu.Unlock()
	c.buf = appendCancel(c.buf[:0], n)
	return c.write(c.buf)
}

func (c *stdioClient) write(line []byte) error {
	_, err := c.in.Write(append(line, '\n'))
	return err
}

// look returns the next answer to a call that does not count.
func (c *stdioClient) look() ([]byte, error) {
	select {
	case msg := <-c.looks:
		return msg, nil
	case <-c.gone:
		return nil, errors.New("the server has ended")
	case <-time.After(rawhttp.Patience):
		return nil, errors.New("the server has not answered for 30 s")
	}
}

func (c *stdioClient) holdings() (harness.Holdings, error) {
	c.buf = rawhttp.AppendLook(c.buf[:0], c.era, "holdings", "holdings", `{}`)
	if err := c.write(c.buf); err != nil {
		return harness.Holdings{}, err
	}
	msg, err := c.look()
	if err != nil {
		return harness.Holdings{}, err
	}
	return looked(msg)
}

// read takes the lines of the server until its stdout ends.
func (c *stdioClient) read(out io.Reader, looks chan<- []byte, gone chan<- struct{}) {
	defer close(gone)
	lines := bufio.NewReaderSize(out, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return // a line that a kill has torn is none
		}
		if id := rawhttp.Field(line, "id"); len(id) > 0 && id[0] == '"' {
			looks <- append([]byte(nil), line...)
			continue
		}
		if n := c.ledger.message(line, -1); n >= 0 {
			c.mu.Lock()
			c.pending = c.ledger.taken(n, c.pending)
			c.mu.Unlock()
		}
	}
}
