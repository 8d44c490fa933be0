package storms

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/.ci/measure/rawhttp"
)

const (
	// idleFor is how long sessions of the toy server "idle" live without a
	// request.
	idleFor = 2 * time.Second
	// sessionsAtOnce is how many clients open sessions at once, one after
	// another and without an end.
	sessionsAtOnce = 64
	// mostLive is how many sessions may live at a time, whatever clients do.
	mostLive = 10_000
)

// Sessions has clients open 100,000 sessions and forget them, and weighs what
// the server keeps once their time to live is over.
func Sessions(ctx context.Context, env harness.Environment) (err error) {
	server, addr, before, err := listenFilled(ctx, "idle")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	rss := harness.Resident(server.Cmd.Process.Pid)
	user, err := rawhttp.OpenSession(addr)
	if err != nil {
		return err
	}
	used := keepUsing(user)

	n := env.Of(100_000, 1000)
	begin := time.Now()
	opened, refused, err := openMany(addr, n)
	if err != nil {
		return err
	}
	took := time.Since(begin)
	peak := harness.Resident(server.Cmd.Process.Pid)
	time.Sleep(2*idleFor + time.Second)
	after, err := holdingsOver(addr, "")
	if err != nil {
		return err
	}
	rssAfter := harness.Resident(server.Cmd.Process.Pid)

	live, err := liveOf(addr, env.Of(20_000, 500))
	if err != nil {
		return err
	}
	calls, failed := used()
	heap := float64(int64(after.Heap)-int64(before.Heap)) / float64(n)
	kept := (rssAfter - rss) * (1 << 20) / float64(n)
	fmt.Println("| sessions without an end | opened, a second | refused | live at most | resident at the peak | heap kept for each | resident kept for each | goroutines, descriptors | a session in use meanwhile |\n|---|---|---|---|---|---|---|---|---|")
	fmt.Printf("| %d initialize, %d at a time | %d, %.0f | %d | %d | %.0f MB | %.0f B | %.0f B | %+d, %+d | %d of %d calls answered |\n",
		n, sessionsAtOnce, len(opened), float64(n)/took.Seconds(), refused, live, peak, heap, kept,
		after.Goroutines-before.Goroutines, after.Descriptors-before.Descriptors, calls-len(failed), calls)

	var errs []error
	if heap > 1000 || kept > 1000 && env.Full() { // a page of a small run weighs too much
		errs = append(errs, fmt.Errorf("%.0f B of heap and %.0f B resident kept for each, want at most 1 kB", heap, kept))
	}
	if live > mostLive {
		errs = append(errs, fmt.Errorf("%d sessions lived at once, want at most %d", live, mostLive))
	}
	if len(failed) > 0 {
		errs = append(errs, fmt.Errorf("the session in use: %w", harness.FirstOf(failed)))
	}
	// The session in use has a connection, and what serves it.
	if after.Goroutines > before.Goroutines+3 || after.Descriptors > before.Descriptors+1 {
		errs = append(errs, fmt.Errorf("before: %s; after: %s", before.Text(), after.Text()))
	}
	return errors.Join(errs...)
}

// keepUsing calls a tool again and again in a session until the function that it
// returns is called, which says how often and what went wrong.
func keepUsing(s *rawhttp.Session) func() (calls int, failed []error) {
	stop, ended := make(chan struct{}), make(chan struct{})
	calls, failed := 0, []error(nil)
	go func() {
		defer close(ended)
		defer s.Wire.Close()
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			calls++
			if err := useSession(s, calls); err != nil {
				failed = append(failed, err)
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	return func() (int, []error) {
		close(stop)
		<-ended
		return calls, failed
	}
}

func useSession(s *rawhttp.Session, n int) error {
	body := rawhttp.AppendLook(nil, rawhttp.Eras[0], "use", "say", fmt.Sprintf(`{"nonce":"use-%d"}`, n))
	r, got, err := s.Wire.Exchange(rawhttp.AppendPost(nil, s.Addr, rawhttp.Eras[0], s.ID, "say", body))
	if err != nil || r.Status != 200 {
		return r.Bad("say", got, err)
	}
	if nonce, ok := answered(got); !ok || string(nonce) != fmt.Sprintf("use-%d", n) {
		return r.Bad(fmt.Sprintf("call %d", n), got, nil)
	}
	return nil
}

// openMany opens n sessions and returns their ids in about the order in which
// they were opened.
func openMany(addr string, n int) (ids []string, refused int, err error) {
	ids = make([]string, n)
	errs := make([]error, sessionsAtOnce)
	var next atomic.Int64
	var wg sync.WaitGroup
	for i := range sessionsAtOnce {
		wg.Go(func() { errs[i] = openSome(addr, ids, &next) })
	}
	wg.Wait()
	opened := ids[:0]
	for _, id := range ids {
		if id != "" {
			opened = append(opened, id)
		}
	}
	return opened, n - len(opened), harness.FirstOf(errs)
}

func openSome(addr string, ids []string, next *atomic.Int64) error {
	var w *rawhttp.Wire
	post := rawhttp.AppendPost(nil, addr, rawhttp.Eras[0], "", "", []byte(rawhttp.InitializeCall))
	for {
		i := int(next.Add(1)) - 1
		if i >= len(ids) {
			break
		}
		if w == nil {
			var err error
			if w, err = rawhttp.Connect(addr); err != nil {
				return err
			}
		}
		r, body, err := w.Exchange(post)
		switch {
		case err != nil:
			return fmt.Errorf("initialize: %w", err)
		case r.Status == 200 && r.Session != "":
			ids[i] = r.Session
		case r.Status != 503 && r.Status != 429: // a full server may say so
			return r.Bad("initialize", body, nil)
		}
		if r.Closes {
			w.Close()
			w = nil
		}
	}
	if w != nil {
		w.Close()
	}
	return nil
}

// liveOf opens n sessions and counts those that live when the last is open, by
// ending them, the newest first.
func liveOf(addr string, n int) (int, error) {
	ids, _, err := openMany(addr, n)
	if err != nil {
		return 0, err
	}
	const block = 512
	live := 0
	for end := len(ids); end > 0; end -= block {
		ended, err := endMany(addr, ids[max(0, end-block):end])
		if err != nil {
			return 0, err
		}
		if ended == 0 {
			break
		}
		live += ended
	}
	return live, nil
}

// endMany ends sessions and returns how many of them lived.
func endMany(addr string, ids []string) (live int, err error) {
	const ways = 16
	errs := make([]error, ways)
	var count atomic.Int64
	var wg sync.WaitGroup
	for i := range ways {
		wg.Go(func() {
			var w *rawhttp.Wire
			for k := i; k < len(ids) && errs[i] == nil; k += ways {
				var lived bool
				if w, lived, errs[i] = endOne(w, addr, ids[k]); lived {
					count.Add(1)
				}
			}
			if w != nil {
				w.Close()
			}
		})
	}
	wg.Wait()
	return int(count.Load()), harness.FirstOf(errs)
}

// endOne ends a session on w, on a new connection where it is nil, and returns
// the connection for the next.
func endOne(w *rawhttp.Wire, addr, id string) (_ *rawhttp.Wire, lived bool, err error) {
	if w == nil {
		if w, err = rawhttp.Connect(addr); err != nil {
			return nil, false, err
		}
	}
	r, body, err := w.Exchange(fmt.Appendf(nil, "DELETE /mcp HTTP/1.1\r\nHost: %s\r\nMcp-Session-Id: %s\r\nMCP-Protocol-Version: 2025-11-25\r\n\r\n", addr, id))
	if err != nil || r.Status/100 != 2 && r.Status != 404 {
		return w, false, r.Bad("DELETE", body, err)
	}
	if r.Closes {
		w.Close()
		w = nil
	}
	return w, r.Status/100 == 2, nil
}
