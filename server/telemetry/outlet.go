package telemetry

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/outbound"
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
	broken   bool            // the last request was lost; only the sending goroutine looks
}

func (e *Exporter) newOutlet(t target, signal string) *outlet {
	return &outlet{target: t, resource: e.opt.resource, log: e.log, signal: signal, ctx: e.ctx, hurry: e.stop}
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
	header := http.Header{"Content-Type": {"application/x-protobuf"}, "User-Agent": {"toolcrib"}}
	if o.gzip {
		header.Set("Content-Encoding", "gzip")
	}
	for _, h := range o.headers {
		header.Set(h[0], h[1])
	}
	res, err := o.client.Do(o.ctx, outbound.Request{
		Method: http.MethodPost, URL: o.url, Header: header, Body: body,
		Timeout: o.timeout, Redirects: -1, // the headers are for this URL alone
	})
	if e, ok := errors.AsType[*tools.Error](err); ok { // its message names the URL, which may hold a secret
		return 0, cmp.Or(e.Err, errors.New(string(e.Code)))
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // so that the connection is used again
	switch res.Status {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return 0, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return max(outbound.RetryAfter(res.Header, time.Now()), 0), fmt.Errorf("the collector answers %d", res.Status)
	}
	return -1, fmt.Errorf("the collector answers %d", res.Status)
}
