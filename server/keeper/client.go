package keeper

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// Client is a connection of a relay.
type Client struct {
	*net.UnixConn
	gone chan struct{}
	once sync.Once
}

// Gone is closed when the relay has ended and can take no answer any more, as far as the
// system tells; it is after the end of what Read returns.
func (c *Client) Gone() <-chan struct{} { return c.gone }

// Read implements io.Reader.
func (c *Client) Read(p []byte) (int, error) {
	n, err := c.UnixConn.Read(p)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		c.once.Do(func() { go c.watch() })
	}
	if err != nil && n == 0 {
		err = io.EOF // however it has ended
	}
	return n, err
}

// looks is how often a client is looked for that says nothing more.
const looks = 20 * time.Millisecond

func (c *Client) watch() {
	for {
		gone, open := hungUp(c.UnixConn)
		if gone {
			close(c.gone)
		}
		if gone || !open {
			return
		}
		time.Sleep(looks)
	}
}
