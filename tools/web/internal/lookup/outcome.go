package lookup

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Outcome is how a service answered.
type Outcome string

// The outcomes.
const (
	Fine       Outcome = "ok"
	Empty      Outcome = "no results"
	Challenged Outcome = "challenged"    // it takes us for a robot
	NoJSON     Outcome = "json disabled" // a SearXNG instance that answers browsers only
	Key        Outcome = "key refused"
	Quota      Outcome = "quota"
	Limited    Outcome = "rate limited"
	Refused    Outcome = "refused"
	Slow       Outcome = "timeout"
	Down       Outcome = "unavailable"
	Unread     Outcome = "unreadable"
	Failed     Outcome = "failed"
)

// problem is an answer that is no list of hits. It is an error within the package.
type problem struct {
	outcome Outcome
	say     string
}

func (p *problem) Error() string { return string(p.outcome) + ": " + p.say }

func stateOf(err error) State {
	if p, ok := errors.AsType[*problem](err); ok {
		return State{Outcome: p.outcome, Say: p.say}
	}
	return State{Outcome: Failed, Say: err.Error()}
}

// slow returns the problem of a context that has run out of the time of one service.
func slow(ctx context.Context) error {
	if p, ok := errors.AsType[*problem](context.Cause(ctx)); ok {
		return p
	}
	return nil
}

// dialect is what differs between services in how they refuse.
type dialect struct {
	keyed bool // it has a key: 401 and 403 are about that
	// said returns what an answer in JSON says of an error, "" if it is none.
	said func(body []byte) string
	// by says what an error means by its status and text, if that is special; nil = never.
	by func(status int, said string) Outcome
}

// refusal returns why an answer cannot have hits, nil if it may have.
func (d dialect) refusal(a Answer) error {
	said := ""
	if d.said != nil {
		said = clean(d.said(a.Body))
	}
	if d.by != nil {
		if o := d.by(a.Status, said); o != "" {
			return &problem{o, said}
		}
	}
	status := fmt.Sprintf("HTTP %d", a.Status)
	say := cmp.Or(said, status)
	switch {
	case quota(said):
		return &problem{Quota, said}
	case a.Status == http.StatusUnauthorized, a.Status == http.StatusForbidden && d.keyed && !challenges(a):
		if d.keyed {
			return &problem{Key, say}
		}
		return &problem{Refused, say}
	case a.Status == http.StatusPaymentRequired:
		return &problem{Quota, say}
	case a.Status == http.StatusTooManyRequests:
		return &problem{Limited, say + again(a.Header)}
	case challenges(a):
		return &problem{Challenged, "it asks for a proof that a person sends the request"}
	case a.Status >= 500:
		return &problem{Down, say + again(a.Header)}
	case a.Status >= 300 && a.Status < 400:
		return &problem{Unread, status + " leads elsewhere; check its address in the configuration"}
	case a.Status != http.StatusOK:
		return &problem{Refused, say}
	case said != "":
		return &problem{Refused, said}
	}
	return nil
}

// quota reports whether a text of a service says that what was paid for is used up.
func quota(said string) bool {
	said = strings.ToLower(said)
	for _, word := range []string{"quota", "credit", "monthly", "plan limit", "usage limit", "run out"} {
		if strings.Contains(said, word) {
			return true
		}
	}
	return false
}

// challenges reports whether an answer is a page that tells robots from people.
func challenges(a Answer) bool {
	if a.Header.Get("Cf-Mitigated") == "challenge" {
		return true
	}
	if !isPage(a) {
		return false
	}
	page := bytes.ToLower(a.Body[:min(len(a.Body), 64<<10)])
	for _, mark := range []string{"captcha", "anomaly-modal", "anomaly.js", "are you a robot", "unusual traffic", "challenge-platform", "verify you are human"} {
		if bytes.Contains(page, []byte(mark)) {
			return true
		}
	}
	return false
}

// isPage reports whether an answer is HTML, whatever it calls itself.
func isPage(a Answer) bool {
	head := bytes.TrimLeft(a.Body[:min(len(a.Body), 512)], "\xef\xbb\xbf \t\r\n")
	return bytes.HasPrefix(head, []byte("<")) && !bytes.HasPrefix(head, []byte("<?xml"))
}

// again says when a service may be asked again.
func again(h http.Header) string {
	if after := h.Get("Retry-After"); after != "" {
		if _, err := time.ParseDuration(after + "s"); err == nil {
			return "; again in " + after + " s"
		}
		return "; again after " + clean(after)
	}
	return ""
}

// decode reads an answer in JSON into v.
func decode(a Answer, v any) error {
	err := json.Unmarshal(a.Body, v)
	switch {
	case err == nil:
		return nil
	case len(bytes.TrimSpace(a.Body)) == 0:
		return &problem{Unread, "the answer is empty"}
	case isPage(a):
		return &problem{Unread, "a page in the place of JSON; check its address in the configuration"}
	case strings.Contains(err.Error(), "unexpected end"):
		return &problem{Unread, "the answer breaks off after " + fmt.Sprint(len(a.Body)) + " bytes"}
	}
	return &problem{Unread, "the answer has another form than expected: " + clean(err.Error())}
}

// reads returns the read of a service that answers in JSON: hits takes them from an answer that
// is no refusal.
func reads[T any](refusal func(Answer) error, hits func(T) ([]Hit, error)) func(Answer) ([]Hit, error) {
	return func(a Answer) ([]Hit, error) {
		if err := refusal(a); err != nil {
			return nil, err
		}
		var answer T
		if err := decode(a, &answer); err != nil {
			return nil, err
		}
		return hits(answer)
	}
}

// results is the read of a service whose answer lists its hits under the name results.
func results[T any](refusal func(Answer) error, hit func(T) Hit) func(Answer) ([]Hit, error) {
	return reads(refusal, func(answer struct{ Results *[]T }) ([]Hit, error) {
		if answer.Results == nil {
			return nil, absent(false)
		}
		var hits []Hit
		for _, r := range *answer.Results {
			hits = append(hits, hit(r))
		}
		return hits, nil
	})
}

// pause keeps requests of a service apart, and away from it after a challenge. A nil pause
// lets every request pass.
type pause struct {
	now   func() time.Time
	apart time.Duration // between requests
	rest  time.Duration // after a challenge

	mu    sync.Mutex
	until time.Time
	why   Outcome
}

// begin returns a problem if the service is to be left alone.
func (p *pause) begin() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if wait := p.until.Sub(now); wait > 0 {
		if p.why == Challenged {
			return &problem{Challenged, "left alone for another " + wait.Round(time.Second).String() + " since its last challenge; a key for another service or a SearXNG instance avoids this"}
		}
		return &problem{Limited, "asked too often from here; again in " + wait.Round(100*time.Millisecond).String()}
	}
	p.until, p.why = now.Add(p.apart), Limited
	return nil
}

// forget takes back begin: the service got no request.
func (p *pause) forget() {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.until = time.Time{}
	}
}

// note remembers a challenge.
func (p *pause) note(err error) {
	if problem, ok := errors.AsType[*problem](err); p != nil && ok && problem.outcome == Challenged {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.until, p.why = p.now().Add(p.rest), Challenged
	}
}
