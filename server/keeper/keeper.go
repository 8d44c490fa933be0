package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"
)

// Options makes a Keeper.
type Options struct {
	Roots []string
	Log   *slog.Logger
	Load  func() Load
	// Serve serves a client until that or ctx ends.
	Serve func(ctx context.Context, c *Client)
	// Idle is called some time after the last client has gone.
	Idle func()
}

// Keeper listens for relays. Its methods may be called by several goroutines.
type Keeper struct {
	place *Place
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
func (b *Birth) Listen(p *Place, opt Options) (*Keeper, error) {
	now := time.Now()
	k := &Keeper{place: p, opt: opt, since: now, left: now, log: p.logPath(b.key)}
	return k, k.listen(b.key)
}

// listen opens the socket of a key, whose lock is held.
func (k *Keeper) listen(key string) error {
	name := k.place.file(key, socketFile)
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		return err
	}
	ln.SetUnlinkOnClose(false) // that is done under the lock
	if err := os.Chmod(name, 0o600); err != nil {
		return errors.Join(err, ln.Close())
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.key, k.ln = key, ln
	return nil
}

// Serve serves relays until ctx ends, or until nobody needs the keeper any more.
func (k *Keeper) Serve(ctx context.Context, b *Birth) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k.mu.Lock()
	k.serving = ctx
	ln := k.ln
	k.mu.Unlock()
	go k.accept(ctx, ln)
	b.say(StartError{})
	look := time.NewTicker(lingers)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
		case <-look.C:
			if k.needed() || !k.retire(ctx, k.unused) {
				continue
			}
		}
		k.retire(context.WithoutCancel(ctx), nil)
		cancel()
		k.wg.Wait()
		return nil
	}
}

// needed reports whether there is a reason to live on, and calls Idle.
func (k *Keeper) needed() bool {
	k.mu.Lock()
	idle := k.clients == 0 && time.Since(k.left) > 2*lingers
	first := idle && !k.idle
	k.idle = idle
	k.mu.Unlock()
	if first && k.opt.Idle != nil {
		k.opt.Idle()
	}
	return !idle || !k.opt.Load().None()
}

// unused reports whether nobody has come while the lock was waited for.
func (k *Keeper) unused() bool {
	k.mu.Lock()
	clients := k.clients
	k.mu.Unlock()
	return clients == 0 && k.opt.Load().None()
}

// retire closes the socket under its lock, where still says so; nil is yes. Relays connect
// under the lock, so that none is lost. It reports whether nobody can join any more.
func (k *Keeper) retire(ctx context.Context, still func() bool) bool {
	k.mu.Lock()
	key, ln := k.key, k.ln
	k.mu.Unlock()
	if ln == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, helloWait)
	defer cancel()
	l, err := k.place.lock(ctx, key)
	if err != nil { // somebody waits for an answer; at the end the socket is found to be dead
		return false
	}
	defer l.unlock()
	if still != nil && !still() {
		return false
	}
	k.mu.Lock()
	k.ln = nil
	k.mu.Unlock()
	_ = os.Remove(k.place.file(key, socketFile)) // else it is found to be dead
	_ = ln.Close()                               // nobody waits there
	return true
}

// Rekey has newcomers join by another key from now on: the settings have changed. Where
// that has a keeper already, nobody joins this one any more, which lives as long as it is
// needed.
func (k *Keeper) Rekey(ctx context.Context, key string) error {
	k.mu.Lock()
	same := k.key == key
	k.mu.Unlock()
	if same {
		return nil
	}
	if !k.retire(ctx, nil) {
		return fmt.Errorf("another process holds the lock of %s", k.key)
	}
	l, err := k.place.lock(ctx, key)
	if err != nil {
		return err
	}
	defer l.unlock()
	other, err := k.place.dial(key, askStatus, statusWait)
	switch {
	case err == nil:
		_ = other.Close() // it was only asked
		key = "left-" + k.key[:keyLength-len("left-")]
		_ = os.Remove(k.place.file(key, socketFile)) // of one that was left before and has ended
	case errors.Is(err, errNobody):
		_ = os.Remove(k.place.file(key, socketFile)) // likewise
	default:
		return err
	}
	if err := k.listen(key); err != nil {
		return err
	}
	k.mu.Lock()
	serving, ln := k.serving, k.ln
	k.mu.Unlock()
	go k.accept(serving, ln)
	return nil
}

// accept takes connections until the socket is closed.
func (k *Keeper) accept(ctx context.Context, ln *net.UnixListener) {
	for {
		conn, err := ln.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			k.opt.Log.Error("accept a client", "err", err)
			if wait(ctx, lingers) != nil {
				return
			}
			continue
		}
		k.wg.Go(func() {
			defer conn.Close()
			if err := k.greet(ctx, conn); err != nil {
				k.opt.Log.Warn("a connection was refused", "err", err)
			}
		})
	}
}

// greet finds out what a connection is for, and serves it.
func (k *Keeper) greet(ctx context.Context, conn *net.UnixConn) error {
	from, err := peerOf(conn)
	if err != nil {
		return err
	}
	if err := conn.SetDeadline(time.Now().Add(helloWait)); err != nil {
		return err
	}
	ask, err := readLine(conn, mostAsked) // before any refusal, which what is unread would drop
	if err != nil {
		return nil // it has looked whether somebody is there
	}
	if why := from.refused(); why != "" {
		return errors.Join(errors.New(why), send(conn, Status{Refused: why}))
	}
	switch string(ask) {
	case askStatus:
		return send(conn, k.status())
	case askServe:
	default:
		return fmt.Errorf("process %d asks for %q", from.pid, ask)
	}
	k.mu.Lock()
	k.clients++
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.clients--
		k.left = time.Now()
	}()
	if err := errors.Join(send(conn, k.status()), conn.SetDeadline(time.Time{})); err != nil {
		return nil // it has gone
	}
	k.opt.Serve(ctx, &Client{UnixConn: conn, gone: make(chan struct{})})
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

func (k *Keeper) status() Status {
	load := k.opt.Load()
	k.mu.Lock()
	defer k.mu.Unlock()
	return Status{PID: os.Getpid(), Since: k.since, Roots: k.opt.Roots, Clients: k.clients, Load: load, Log: k.log}
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
