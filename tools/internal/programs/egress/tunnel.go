package egress

import (
	"context"
	"net"
	"sync"
	"time"
)

// lingerTime is how long one direction may be silent after the other one has ended.
const lingerTime = time.Minute

// tunnel copies bytes in both directions until both sides have ended, ctx ends, or it is idle
// for too long. It closes both connections.
func tunnel(ctx context.Context, pass *Pass, client, host net.Conn) {
	stop := context.AfterFunc(ctx, func() { _ = client.Close(); _ = host.Close() })
	defer stop()
	t := &traffic{idle: idleTime, conns: [2]net.Conn{client, host}}
	t.moved()
	var both sync.WaitGroup
	both.Go(func() { t.carry(host, client, pass.sent) })
	both.Go(func() { t.carry(client, host, pass.received) })
	both.Wait()
	_ = client.Close()
	_ = host.Close()
}

// traffic is the deadline of both directions. Bytes in either direction extend it.
type traffic struct {
	conns [2]net.Conn

	mu   sync.Mutex
	idle time.Duration
	last time.Time
}

func (t *traffic) moved() {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.last) < t.idle/16 { // deadlines cost a system timer
		return
	}
	t.last = now
	for _, c := range t.conns {
		_ = c.SetDeadline(now.Add(t.idle))
	}
}

// ended notes that one direction has ended.
func (t *traffic) ended() {
	t.mu.Lock()
	t.idle, t.last = lingerTime, time.Time{}
	t.mu.Unlock()
	t.moved()
}

func (t *traffic) carry(to, from net.Conn, count func(int)) {
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	for {
		n, err := from.Read(buf[:])
		if n > 0 {
			t.moved()
			count(n)
			if _, err := to.Write(buf[:n]); err != nil {
				_ = from.Close() // its reader is gone
				break
			}
		}
		if err != nil {
			break
		}
	}
	if closeWrite(to) != nil {
		_ = to.Close()
	}
	t.ended()
}

var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// closeWrite signals the end of data to the other side.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
