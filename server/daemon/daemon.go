package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"
)

// Options makes a Daemon.
type Options struct {
	Roots []string
	Log   *slog.Logger
	Load  func() Load
	// Serve serves a client until that or ctx ends.
	Serve func(ctx context.Context, c *Client)
	// Idle is called some time after the last client has gone.
	Idle func()
}

// Daemon listens for relays. Its methods may be called by several goroutines.
type Daemon struct {
	dir   *Dir
	opt   Options
	since time.Time
	log   string
	wg    sync.WaitGroup // of connections

	mu      sync.Mutex
	serving context.Context // of connections
	key     string
	ln      *net.UnixListener // nil: nobody can join any more
	clients int
	left    time.Time // when there was a client for the last time
	idle    bool      // Idle was called since
}

// Listen opens the socket of the key. The relay that waits is told by Serve.
func (b *Birth) Listen(p *Dir, opt Options) (*Daemon, error) {
	now := time.Now()
	d := &Daemon{dir: p, opt: opt, since: now, left: now, log: p.logPath(b.key)}
	return d, d.listen(b.key)
}

// listen opens the socket of a key, whose lock is held.
func (d *Daemon) listen(key string) error {
	name := d.dir.file(key, socketFile)
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		return err
	}
	ln.SetUnlinkOnClose(false) // that is done under the lock
	if err := os.Chmod(name, 0o600); err != nil {
		return errors.Join(err, ln.Close())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.key, d.ln = key, ln
	return nil
}

// Serve serves relays until ctx ends, or until nobody needs the daemon any more.
func (d *Daemon) Serve(ctx context.Context, b *Birth) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.mu.Lock()
	d.serving = ctx
	ln := d.ln
	d.mu.Unlock()
	go d.accept(ctx, ln)
	b.say(StartError{})
	look := time.NewTicker(lingers)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
		case <-look.C:
			if d.needed() || !d.retire(ctx, d.unused) {
				continue
			}
		}
		d.retire(context.WithoutCancel(ctx), nil)
		cancel()
		d.wg.Wait()
		return nil
	}
}

// needed reports whether there is a reason to live on, and calls Idle.
func (d *Daemon) needed() bool {
	d.mu.Lock()
	idle := d.clients == 0 && time.Since(d.left) > 2*lingers
	first := idle && !d.idle
	d.idle = idle
	d.mu.Unlock()
	if first && d.opt.Idle != nil {
		d.opt.Idle()
	}
	return !idle || !d.opt.Load().None()
}

// unused reports whether nobody has come while the lock was waited for.
func (d *Daemon) unused() bool {
	d.mu.Lock()
	clients := d.clients
	d.mu.Unlock()
	return clients == 0 && d.opt.Load().None()
}

// retire closes the socket under its lock, where still says so; nil is yes. Relays connect
// under the lock, so that none is lost. It reports whether nobody can join any more.
func (d *Daemon) retire(ctx context.Context, still func() bool) bool {
	d.mu.Lock()
	key, ln := d.key, d.ln
	d.mu.Unlock()
	if ln == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, helloWait)
	defer cancel()
	l, err := d.dir.lock(ctx, key)
	if err != nil { // somebody waits for an answer; at the end the socket is found to be dead
		return false
	}
	defer l.unlock()
	if still != nil && !still() {
		return false
	}
	d.mu.Lock()
	d.ln = nil
	d.mu.Unlock()
	_ = os.Remove(d.dir.file(key, socketFile)) // else it is found to be dead
	_ = ln.Close()                             // nobody waits there
	return true
}

// Rekey has newcomers join by another key from now on: the settings have changed. Where
// that has a daemon already, nobody joins this one any more, which lives as long as it is
// needed.
func (d *Daemon) Rekey(ctx context.Context, key string) error {
	d.mu.Lock()
	same := d.key == key
	d.mu.Unlock()
	if same {
		return nil
	}
	if !d.retire(ctx, nil) {
		return fmt.Errorf("another process holds the lock of %s", d.key)
	}
	l, err := d.dir.lock(ctx, key)
	if err != nil {
		return err
	}
	defer l.unlock()
	switch _, err := d.dir.status(key); {
	case err == nil:
		key = "left-" + d.key[:keyLength-len("left-")]
		_ = os.Remove(d.dir.file(key, socketFile)) // of one that was left before and has ended
	case errors.Is(err, errNobody):
		_ = os.Remove(d.dir.file(key, socketFile)) // likewise
	default:
		return err
	}
	if err := d.listen(key); err != nil {
		return err
	}
	d.mu.Lock()
	serving, ln := d.serving, d.ln
	d.mu.Unlock()
	go d.accept(serving, ln)
	return nil
}

// accept takes connections until the socket is closed.
func (d *Daemon) accept(ctx context.Context, ln *net.UnixListener) {
	for {
		conn, err := ln.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			d.opt.Log.Error("accept a client", "err", err)
			if wait(ctx, lingers) != nil {
				return
			}
			continue
		}
		d.wg.Go(func() {
			defer conn.Close()
			if err := d.greet(ctx, conn); err != nil {
				d.opt.Log.Warn("a connection was refused", "err", err)
			}
		})
	}
}

// greet reads the purpose of a connection, and serves it.
func (d *Daemon) greet(ctx context.Context, conn *net.UnixConn) error {
	from, err := peerOf(conn)
	if err != nil {
		return err
	}
	if err := conn.SetDeadline(time.Now().Add(helloWait)); err != nil {
		return err
	}
	ask, err := readLine(conn, mostAsked) // before any refusal, which would be lost if bytes were unread
	if err != nil {
		return nil // it has looked whether somebody is there
	}
	if why := from.refused(); why != "" {
		return errors.Join(errors.New(why), send(conn, Status{Refused: why}))
	}
	switch string(ask) {
	case askStatus:
		return send(conn, d.status())
	case askServe:
	default:
		return fmt.Errorf("process %d asks for %q", from.pid, ask)
	}
	d.mu.Lock()
	d.clients++
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.clients--
		d.left = time.Now()
	}()
	if err := errors.Join(send(conn, d.status()), conn.SetDeadline(time.Time{})); err != nil {
		return nil // it has gone
	}
	d.opt.Serve(ctx, &Client{UnixConn: conn, gone: make(chan struct{})})
	return nil
}

func send(conn *net.UnixConn, s Status) error {
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = conn.Write(append(line, '\n'))
	return err
}

func (d *Daemon) status() Status {
	load := d.opt.Load()
	d.mu.Lock()
	defer d.mu.Unlock()
	return Status{PID: os.Getpid(), Since: d.since, Roots: d.opt.Roots, Clients: d.clients, Load: load, Log: d.log}
}

// refused says why the process of a connection is not served, "" if it is.
func (p peer) refused() string {
	switch {
	case p.uid != os.Geteuid():
		return fmt.Sprintf("it belongs to another user, %d", p.uid)
	case p.pid <= 0 || descends(p.pid, os.Getpid()):
		return "a program that a job runs does not use the server that runs it"
	}
	return ""
}

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
