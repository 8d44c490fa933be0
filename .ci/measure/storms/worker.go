package storms

import (
	"fmt"
	"math/rand/v2"
	"time"

	"toolcrib/.ci/measure/rawhttp"
)

// httpWorker makes the calls of a client on one connection, one after another.
type httpWorker struct {
	client *httpClient
	rnd    *rand.Rand
	wire   *rawhttp.Wire // nil: not connected
	aside  *rawhttp.Wire // for cancellations of the older revisions
	buf    []byte
	body   []byte
}

// deed is a client's action on a call.
type deed uint8

const (
	deedNone          deed = iota
	deedCancel             // the older revisions: by a notification; the stateless one: by hanging up
	deedCancelRunning      // the same when the first event has shown that the call runs
	deedHalf               // it breaks off in the middle of the request
	deedFirstEvent         // it breaks off after the first event
	deedHangUp             // it breaks off before the answer
	deedDelete             // it ends the session in the middle of the call
)

func (w *httpWorker) draw(e errand) deed {
	p := w.rnd.IntN(1000)
	switch {
	case e == errandNap && p < 60:
		return deedCancelRunning
	case p < 30 || e == errandNap && p < 120:
		return deedCancel
	case p >= 998:
		return deedDelete
	case p >= 994:
		return deedHalf
	case p >= 990:
		return deedHangUp
	case e == errandSteps && p >= 980:
		return deedFirstEvent
	}
	return deedNone
}

func (w *httpWorker) run() error {
	defer w.hangUp()
	defer func() {
		if w.aside != nil {
			w.aside.Close()
		}
	}()
	calls := len(w.client.ledger.entries)
	for {
		n := int(w.client.next.Add(1)) - 1
		if n >= calls {
			return nil
		}
		if err := w.call(n); err != nil {
			return fmt.Errorf("call %d: %w", n, err)
		}
	}
}

func (w *httpWorker) hangUp() {
	if w.wire != nil {
		w.wire.Close()
		w.wire = nil
	}
}

func (w *httpWorker) call(n int) error {
	c, l := w.client, w.client.ledger
	c.mu.Lock() // waits for another worker that renews the session
	session := c.session
	c.mu.Unlock()
	id := ""
	if session != nil {
		id = session.id
	}
	if w.wire == nil { // the server closes a connection that brings no request for 5 s
		var err error
		if w.wire, err = rawhttp.ConnectAs(c.addr, c.token); err != nil {
			return err
		}
	}
	j := draw(w.rnd)
	do := w.draw(j.errand)
	switch {
	case do == deedDelete && session == nil:
		do = deedHangUp
	case do == deedCancel && c.era.Modern:
		l.tally.count(&l.tally.cancelled)
		do = deedHangUp
	case do == deedCancelRunning && c.era.Modern:
		l.tally.count(&l.tally.cancelled)
		do, j.ms, j.events = deedFirstEvent, 200, 1
	case do == deedCancelRunning:
		j.ms, j.events = 200, 1
	}
	w.body = l.appendCall(w.body[:0], c.era, n, j)
	w.buf = rawhttp.AppendPost(w.buf[:0], c.addr, c.era, id, errandTools[j.errand], w.body)
	if do == deedHalf {
		l.tally.count(&l.tally.disconnects)
		_, err := w.wire.Conn.Write(w.buf[:w.rnd.IntN(len(w.buf))])
		w.hangUp()
		return err
	}
	l.send(n, j.errand, j.events)
	sent := time.Now()
	if _, err := w.wire.Conn.Write(w.buf); err != nil {
		return w.broken(n, session, nil, fmt.Errorf("write: %w", err))
	}
	if (do == deedHangUp || do == deedDelete || do == deedCancel) && w.rnd.IntN(2) == 0 {
		time.Sleep(time.Duration(w.rnd.IntN(5000)) * time.Microsecond)
	}
	switch do {
	case deedHangUp:
		l.tally.count(&l.tally.disconnects)
		l.cutOff(n)
		w.hangUp()
		return nil
	case deedDelete:
		l.tally.count(&l.tally.disconnects)
		l.cutOff(n)
		if err := c.renew(session); err != nil {
			return err
		}
	case deedCancel:
		if l.cancel(n, n) {
			if _, err := w.tellCancel(n, session); err != nil {
				return err
			}
		}
	}
	return w.take(n, session, do, sent.Add(time.Duration(j.ms)*time.Millisecond))
}

// tellCancel sends a cancellation on another connection, and reports whether the
// server has taken it: a session that is over takes none.
func (w *httpWorker) tellCancel(n int, session *httpSession) (bool, error) {
	if w.aside == nil {
		var err error
		if w.aside, err = rawhttp.ConnectAs(w.client.addr, w.client.token); err != nil {
			return false, err
		}
	}
	r, body, err := w.aside.Exchange(rawhttp.AppendPost(nil, w.client.addr, w.client.era, session.id, "", appendCancel(nil, n)))
	if err == nil && r.Closes {
		w.aside.Close()
		w.aside = nil
	}
	if err != nil || r.Status != 202 && !session.over.Load() {
		return false, r.Bad("notifications/cancelled", body, err)
	}
	return r.Status == 202, nil
}

// take reads the response to call n, which does not end before earliest.
func (w *httpWorker) take(n int, session *httpSession, do deed, earliest time.Time) error {
	l := w.client.ledger
	r, err := w.wire.Read()
	if err != nil {
		return w.broken(n, session, r, err)
	}
	got := false
	var raw []byte
	var failed error
	err = w.wire.Messages(r, func(msg []byte) bool {
		raw = append(append(raw, msg...), '\n')
		if r.Status != 200 {
			return true
		}
		if session != nil && session.over.Load() {
			l.cutOff(n)
		}
		if l.message(msg, n) == n {
			got = true
		}
		switch {
		case do == deedFirstEvent:
			l.tally.count(&l.tally.disconnects)
			l.cutOff(n)
			return false
		case do == deedCancelRunning && !got && l.cancel(n, n):
			var taken bool
			if taken, failed = w.tellCancel(n, session); taken && time.Now().Before(earliest) {
				l.settle(n) // no answer can be on its way yet
			}
		}
		return true
	})
	switch {
	case do == deedFirstEvent:
		w.hangUp()
		return nil
	case failed != nil:
		return failed
	case err != nil:
		return w.broken(n, session, r, err)
	case r.Closes:
		w.hangUp()
	}
	if got {
		return nil
	}
	return w.silent(n, session, r, raw)
}

// broken accounts for a call whose connection the server has broken off.
func (w *httpWorker) broken(n int, session *httpSession, r *rawhttp.Response, err error) error {
	w.hangUp()
	var head []byte
	if r != nil {
		head = r.Head
	}
	return w.silent(n, session, r, fmt.Appendf(head, "%v", err))
}

// silent accounts for a call that got no answer.
func (w *httpWorker) silent(n int, session *httpSession, r *rawhttp.Response, raw []byte) error {
	l := w.client.ledger
	if session != nil && session.over.Load() {
		l.cutOff(n)
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &l.entries[n]
	if e.answered || e.cancelled || e.cut {
		return nil
	}
	e.cut = true
	l.close()
	var head []byte
	if r != nil {
		head = r.Head
	}
	l.tally.fault(&l.tally.lost, "client %d, call %d (%s): no answer: %s%s", l.client, n, errandTools[e.errand], head, raw)
	return nil
}
