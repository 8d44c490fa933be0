package outbound

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"toolcrib/tools"
)

// Limits of sending a request again.
const (
	usualTries = 3
	firstPause = 500 * time.Millisecond // doubles; half of it is jitter
	mostPause  = 30 * time.Second       // that a host may ask for
)

// idempotent reports whether a request with this method may be sent twice (RFC 9110, 9.2.2).
func idempotent(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete, http.MethodTrace:
		return true
	}
	return false
}

// persist sends the request of the current hop, again if that may help and there is time. If
// the host asks for more patience than that, its answer is the result.
func (j *journey) persist() (*http.Response, error) {
	pause := firstPause
	for try := 1; ; try++ {
		res, err := j.once()
		wait, again := j.worthAnother(res, err)
		if !again || try == j.request.Tries {
			return res, err
		}
		if wait < 0 {
			wait = pause/2 + rand.N(pause/2)
			pause *= 2
		}
		if end, ok := j.ctx.Deadline(); wait > mostPause || ok && time.Until(end) <= wait {
			return res, err
		}
		if res != nil {
			_ = res.Body.Close()
		}
		j.phase.set(pausing)
		if wait >= time.Second {
			tools.Progress(j.caller)(tools.ProgressEvent{Message: fmt.Sprintf("waiting %s for %s, which is overloaded", wait.Round(time.Second), j.target.Hostname())})
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-j.ctx.Done():
			timer.Stop()
			return nil, j.ctx.Err()
		}
	}
}

// worthAnother reports whether sending a request again may help, and after which pause; less
// than 0 = unsaid.
func (j *journey) worthAnother(res *http.Response, err error) (wait time.Duration, again bool) {
	if err != nil {
		_, refused := errors.AsType[*Refusal](err)
		return -1, !refused && j.ctx.Err() == nil && j.fail(err).Code == tools.Unavailable
	}
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return RetryAfter(res.Header, time.Now()), true
	}
	return 0, false
}

// RetryAfter reads the header of that name, seconds or a date; less than 0 = it says nothing.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return -1
}
