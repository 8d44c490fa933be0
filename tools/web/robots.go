package web

import (
	"context"
	"net/http"
	"net/url"
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
	robotsSize = 500 << 10 // RFC 9309, 2.5
	robotsWait = 10 * time.Second
)

// rules are the robots.txt of an origin.
type rules struct {
	file *robots.File // nil = it could not be read, so that nothing may be
	say  string       // why
	at   time.Time
}

// mayRead returns an error if the site asks programs not to read an address. What the user
// runs or has configured as private is asked for nothing.
func (e *engine) mayRead(ctx context.Context, u *url.URL) error {
	if e.settings.Now().Web.Robots == "ignore" || u.Path == "/robots.txt" || e.own(u) {
		return nil
	}
	r, err := e.rulesOf(ctx, u)
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
	if v := r.file.Allowed(robots.Token(e.agent()), path); !v.Allowed {
		return tools.Errorf(tools.Denied, "%s: robots.txt of %s says in line %d: %s", shown(u.String()), u.Host, v.Line, v.Text).
			WithHint("read another page; the user can set web.robots to ignore")
	}
	return nil
}

// rulesOf returns the rules of the origin of an address. The error is that of a host that
// cannot be reached or must not be.
func (e *engine) rulesOf(ctx context.Context, u *url.URL) (rules, error) {
	origin := u.Scheme + "://" + u.Host
	e.mu.Lock()
	if e.robots == nil {
		e.robots, _ = simplelru.NewLRU[string, rules](mostRobots, nil) // the size is right
	}
	r, ok := e.robots.Get(origin)
	e.mu.Unlock()
	if ok && time.Since(r.at) < robotsTime {
		return r, nil
	}
	got, err := e.client().Fetch(ctx, outbound.Request{
		URL: origin + "/robots.txt", Header: http.Header{"User-Agent": {e.agent()}, "Accept": {"text/plain, */*;q=0.5"}},
		MaxBytes: robotsSize, Timeout: robotsWait,
	})
	r = rules{at: time.Now()}
	switch {
	case err != nil && tools.AsError(err).Code == tools.TooLarge:
		r.file = robots.Parse(nil)
	case err != nil:
		e := plain(err)
		e.Msg = shown(u.String()) + ": " + e.Msg
		return rules{}, e
	case got.Status >= 500:
		r.say = http.StatusText(got.Status)
	case got.Status >= 400:
		r.file = robots.Parse(nil)
	default:
		text, _ := page.Decode(got.Body, got.Header.Get("Content-Type"))
		r.file = robots.Parse(text)
	}
	if r.file != nil {
		e.mu.Lock()
		e.robots.Add(origin, r)
		e.mu.Unlock()
	}
	return r, nil
}
