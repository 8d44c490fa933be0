package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Bounds of sending one request again.
const (
	firstPause = time.Second // doubles; half of it is jitter
	longest    = 30 * time.Second
	maxTries   = 5
)

// outlet sends requests to a collector.
type outlet struct {
	target
	resource []label
	log      *slog.Logger
	signal   string          // for the log
	ctx      context.Context // of all requests; its end ends sending
	hurry    <-chan struct{} // once it is closed, nothing is sent again
	client   *http.Client
	broken   bool // the last request was lost; only the sending goroutine looks
}

func (e *Exporter) newOutlet(t target, signal string) *outlet {
	return &outlet{target: t, resource: e.opt.resource, log: e.log, signal: signal, ctx: e.ctx, hurry: e.stop, client: &http.Client{
		// Headers that are secrets are for this URL alone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// send sends a request, several times where the collector says that it may take it
// later, and reports whether it took it. A first loss and the end of losses are
// logged.
func (o *outlet) send(body []byte) bool {
	err := o.persist(body)
	switch {
	case err != nil && !o.broken:
		o.log.Warn("telemetry does not reach the collector; it is dropped until it does", "signal", o.signal, "err", err)
	case err == nil && o.broken:
		o.log.Warn("telemetry reaches the collector again", "signal", o.signal)
	}
	o.broken = err != nil
	return err == nil
}

func (o *outlet) persist(body []byte) error {
	if o.gzip {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(body) // a buffer takes everything
		_ = w.Close()
		body = b.Bytes()
	}
	pause := firstPause
	for try := 1; ; try++ {
		wait, err := o.once(body)
		if err == nil || wait < 0 || try == maxTries {
			return err
		}
		if wait == 0 {
			wait = pause/2 + rand.N(pause/2)
			pause *= 2
		}
		timer := time.NewTimer(min(wait, longest))
		select {
		case <-timer.C:
		case <-o.hurry:
			timer.Stop()
			return err
		}
	}
}

// once sends a request once. With an error it says how long to wait before the next
// try: 0 is unsaid, less is never.
func (o *outlet) once(body []byte) (wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(o.ctx, o.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.url, bytes.NewReader(body))
	if err != nil {
		return -1, errors.New("the endpoint cannot be asked")
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("User-Agent", "toolcrib")
	if o.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	for _, h := range o.headers {
		r.Header.Set(h[0], h[1])
	}
	res, err := o.client.Do(r)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // the URL may hold a secret
		}
		return 0, err
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // so that the connection is used again
	switch res.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return 0, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return retryAfter(res.Header.Get("Retry-After"), time.Now()), fmt.Errorf("the collector answers %d", res.StatusCode)
	}
	return -1, fmt.Errorf("the collector answers %d", res.StatusCode)
}

// retryAfter reads the header of that name: seconds or a date; 0 if it says nothing.
func retryAfter(text string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(text); err == nil {
		return time.Duration(max(n, 0)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
