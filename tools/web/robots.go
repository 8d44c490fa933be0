package web

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"toolcrib/tools"
	"toolcrib/tools/outbound"
	"toolcrib/tools/web/internal/page"
	"toolcrib/tools/web/internal/robots"
)

const (
	robotsTime = 24 * time.Hour // RFC 9309, 2.4
	mostRobots = 256
	robotsWait = 10 * time.Second
)

// rules are the robots.txt of an origin, as it was last read.
type rules struct {
	mu sync.Mutex // held while it is read
	verdict
	at time.Time
}

// verdict is what was read.
type verdict struct {
	file *robots.File // nil = it could not be read, so that nothing may be
	say  string       // why
}

// heeds reports whether the robots.txt of an address counts. What the user runs or has
// configured as private is asked for none.
func (e *engine) heeds(u *url.URL) bool {
	return e.settings.Now().Web.Robots != "ignore" && !e.own(u)
}

// mayRead returns an error if the site asks programs not to read an address. tries are as
// those of a request.
func (e *engine) mayRead(ctx context.Context, u *url.URL, tries int) error {
	if u.Path == "/robots.txt" || !e.heeds(u) {
		return nil
	}
	r, err := e.rulesOf(ctx, u, tries)
	if err != nil {
		return err // the page cannot be reached either
	}
	if r.file == nil {
		return tools.Errorf(tools.Denied, "%s: robots.txt of %s cannot be read (%s), which means that programs are to read nothing", shown(u.String()), u.Host, r.say).
			WithHint("try again later; the user can set web.robots to ignore")
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	if v := r.file.Allowed(e.settings.Now().robot(), path); !v.Allowed {
		return tools.Errorf(tools.Denied, "%s: robots.txt of %s says in line %d: %s", shown(u.String()), u.Host, v.Line, v.Text).
			WithHint("read another page; the user can set web.robots to ignore")
	}
	return nil
}

// rulesOf returns the rules of the origin of an address. The error is that of a host that
// cannot be reached or must not be.
func (e *engine) rulesOf(ctx context.Context, u *url.URL, tries int) (verdict, error) {
	origin := u.Scheme + "://" + u.Host
	e.mu.Lock()
	if e.robots == nil {
		e.robots, _ = simplelru.NewLRU[string, *rules](mostRobots, nil) // the size is right
	}
	r, ok := e.robots.Get(origin)
	if !ok {
		r = &rules{}
		e.robots.Add(origin, r)
	}
	e.mu.Unlock()
	r.mu.Lock() // pages of one origin that are read at once need one robots.txt
	defer r.mu.Unlock()
	if r.file != nil && time.Since(r.at) < robotsTime {
		return r.verdict, nil
	}
	got, err := e.fetchRules(ctx, origin, tries)
	if err != nil {
		e := plain(err)
		e.Msg = shown(u.String()) + ": " + e.Msg
		return verdict{}, e
	}
	r.verdict, r.at = got, time.Now()
	return got, nil
}

// fetchRules reads a robots.txt, of which the first part counts (RFC 9309, 2.5). One that is
// not there, or behind too many redirects, forbids nothing (2.3.1).
func (e *engine) fetchRules(ctx context.Context, origin string, tries int) (verdict, error) {
	var r verdict
	got, err := e.client().Do(ctx, outbound.Request{
		URL: origin + "/robots.txt", Header: http.Header{"Accept": {"text/plain, */*;q=0.5"}}, Timeout: robotsWait, Tries: tries,
		MaxBytes: 1 << 30, // of which the first part is read
	})
	if err != nil && tools.AsError(err).Code != tools.Unsupported {
		return verdict{}, err
	}
	var text []byte
	if err == nil {
		defer got.Body.Close()
		if got.Status >= 500 {
			r.say = http.StatusText(got.Status)
			return r, nil
		}
		if got.Status < 400 {
			if text, err = io.ReadAll(io.LimitReader(got.Body, robots.MaxSize+1)); err != nil {
				return verdict{}, err
			}
			text, _ = page.Decode(text, got.Header.Get("Content-Type"))
		}
	}
	r.file = robots.Parse(text)
	return r, nil
}
