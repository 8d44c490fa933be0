package browser

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"sync"
	"time"

	"toolcrib/tools"
)

// Request is a page to render.
type Request struct {
	URL  string // http or https
	Also string // a private host, with its port, that this page may reach; "" = none
	// Wait bounds the time until the page is taken as it is; 0 = 10 s. It is taken before if
	// nothing was loaded for half a second.
	Wait time.Duration
}

// Page is what a page has become.
type Page struct {
	URL      string // where it ended
	Status   int    // of its document; 0 = not known
	HTML     string // of the document as it is now
	Settled  bool   // it had loaded everything within the time
	Failed   []string
	Problems []string // errors of its scripts
}

const (
	waitTime     = 10 * time.Second
	mostHTML     = 20 << 20
	mostProblems = 10
)

// idleEvent is what Chromium sends half a second after the last request has ended.
const idleEvent = "networkIdle"

// Render loads a page with its scripts, without images, media and fonts. Its errors are of
// package tools.
func (e *Engine) Render(ctx context.Context, r Request) (Page, error) {
	u, err := url.Parse(r.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return Page{}, tools.Errorf(tools.InvalidArgument, "%q is not a URL that can be rendered", r.URL)
	}
	p, leave, err := e.use(ctx, r.Also)
	if err != nil {
		return Page{}, failure(err)
	}
	defer leave()
	page, err := p.render(ctx, r)
	return page, failure(err)
}

// failure returns an error as a tool returns it.
func failure(err error) error {
	if errors.Is(err, errGone) {
		return tools.Errorf(tools.Unavailable, "the browser has ended while the page was loaded").WithHint("try again; a page that ends it each time needs more memory than a program may have")
	}
	return err
}

// visit is one page while it is loaded.
type visit struct {
	p       *process
	session string
	idle    chan struct{} // closed when the document has loaded everything

	mu       sync.Mutex
	document string // id of the loader of the document
	status   int
	done     bool
	failed   []string
	problems []string
	urls     map[string]string // of requests, by their id
}

func (p *process) render(ctx context.Context, r Request) (Page, error) {
	var made struct{ BrowserContextID string }
	if err := p.conn.call(ctx, "", "Target.createBrowserContext", map[string]any{"disposeOnDetach": true}, &made); err != nil {
		return Page{}, err
	}
	defer p.conn.tell("", "Target.disposeBrowserContext", map[string]any{"browserContextId": made.BrowserContextID})
	var target struct{ TargetID string }
	if err := p.conn.call(ctx, "", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": made.BrowserContextID}, &target); err != nil {
		return Page{}, err
	}
	var attached struct{ SessionID string }
	if err := p.conn.call(ctx, "", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached); err != nil {
		return Page{}, err
	}
	v := &visit{p: p, session: attached.SessionID, idle: make(chan struct{}), urls: map[string]string{}}
	p.conn.hear(v.session, v.event)
	defer p.conn.hear(v.session, nil)
	for _, command := range []struct {
		method string
		params map[string]any
	}{
		{"Page.enable", nil}, {"Network.enable", nil}, {"Runtime.enable", nil},
		{"Page.setLifecycleEventsEnabled", map[string]any{"enabled": true}},
		{"Fetch.enable", map[string]any{"handleAuthRequests": true, "patterns": []any{map[string]any{"urlPattern": "*"}}}},
	} {
		if err := p.conn.call(ctx, v.session, command.method, command.params, nil); err != nil {
			return Page{}, err
		}
	}
	if r.Wait == 0 {
		r.Wait = waitTime
	}
	limit := time.NewTimer(r.Wait)
	defer limit.Stop()
	var went struct{ ErrorText, LoaderID string }
	navigating, cancel := context.WithTimeout(ctx, r.Wait)
	defer cancel()
	err := p.conn.call(navigating, v.session, "Page.navigate", map[string]any{"url": r.URL}, &went)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return Page{}, tools.Errorf(tools.Timeout, "%s: no page after %s", r.URL, r.Wait)
	case err != nil:
		return Page{}, err
	case went.ErrorText != "":
		return Page{}, v.refused(r.URL, went.ErrorText)
	}
	page := Page{}
	select {
	case <-v.idle:
		page.Settled = true
	case <-limit.C:
	case <-p.conn.gone:
		return Page{}, errGone
	case <-ctx.Done():
		return Page{}, ctx.Err()
	}
	err = v.take(ctx, &page)
	return page, err
}

// refused returns the error of a page that the browser could not load.
func (v *visit) refused(at, text string) error {
	code := tools.Unavailable
	switch text {
	case "net::ERR_NAME_NOT_RESOLVED":
		code = tools.NotFound
	case "net::ERR_BLOCKED_BY_CLIENT", "net::ERR_TUNNEL_CONNECTION_FAILED":
		code = tools.Denied
	}
	say := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(text, "net::ERR_"), "_", " "))
	if text == "net::ERR_TUNNEL_CONNECTION_FAILED" {
		say = "the proxy of the sandbox did not let the browser through"
	}
	return tools.Errorf(code, "%s: the browser says: %s", at, say)
}

// take reads what the document has become.
func (v *visit) take(ctx context.Context, page *Page) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var got struct {
		Result struct{ Value struct{ URL, HTML string } }
	}
	expression := `({URL: location.href, HTML: (document.doctype ? "<!DOCTYPE html>" : "") + (document.documentElement ? document.documentElement.outerHTML : "")})`
	err := v.p.conn.call(ctx, v.session, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "timeout": 4000}, &got)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return tools.Errorf(tools.Timeout, "the scripts of the page do not let it be read")
		}
		return err
	}
	page.URL, page.HTML = got.Result.Value.URL, got.Result.Value.HTML
	if len(page.HTML) > mostHTML {
		return tools.Errorf(tools.TooLarge, "the page has become larger than %d MiB", mostHTML>>20)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	page.Status, page.Failed, page.Problems = v.status, v.failed, v.problems
	return nil
}

// event is called with each event of the page. It must not wait for the browser.
func (v *visit) event(m message) {
	switch m.Method {
	case "Fetch.requestPaused":
		v.paused(m.Params)
	case "Fetch.authRequired":
		v.asked(m.Params)
	case "Page.javascriptDialogOpening":
		v.p.conn.tell(v.session, "Page.handleJavaScriptDialog", map[string]any{"accept": false})
	case "Page.lifecycleEvent":
		var e struct{ Name, LoaderID string }
		if json.Unmarshal(m.Params, &e) == nil {
			v.lifecycle(e.Name, e.LoaderID)
		}
	case "Network.responseReceived":
		var e struct {
			Type, LoaderID, RequestID string
			Response                  struct{ Status int }
		}
		if json.Unmarshal(m.Params, &e) == nil && e.Type == "Document" && e.RequestID == e.LoaderID {
			v.mu.Lock()
			defer v.mu.Unlock()
			if v.document != e.LoaderID {
				v.document, v.status = e.LoaderID, e.Response.Status
			}
		}
	case "Network.requestWillBeSent":
		var e struct {
			RequestID string
			Request   struct{ URL string }
		}
		if json.Unmarshal(m.Params, &e) == nil {
			v.mu.Lock()
			defer v.mu.Unlock()
			if len(v.urls) < 1000 {
				v.urls[e.RequestID] = e.Request.URL
			}
		}
	case "Network.loadingFailed":
		var e struct {
			RequestID, ErrorText, BlockedReason string
			Canceled                            bool
		}
		if json.Unmarshal(m.Params, &e) == nil && !e.Canceled && e.ErrorText != "net::ERR_BLOCKED_BY_CLIENT" {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.failed = noted(v.failed, short(v.urls[e.RequestID])+": "+strings.TrimPrefix(e.ErrorText, "net::"))
		}
	case "Runtime.exceptionThrown":
		var e struct {
			ExceptionDetails struct {
				Text      string
				Exception struct{ Description string }
			}
		}
		if json.Unmarshal(m.Params, &e) == nil {
			first, _, _ := strings.Cut(e.ExceptionDetails.Exception.Description, "\n")
			v.mu.Lock()
			defer v.mu.Unlock()
			v.problems = noted(v.problems, short(strings.TrimSpace(e.ExceptionDetails.Text+" "+first)))
		}
	}
}

func noted(list []string, text string) []string {
	if len(list) < mostProblems {
		list = append(list, text)
	}
	return list
}

// short cuts a text of the page.
func short(text string) string {
	if len(text) > 200 {
		return strings.ToValidUTF8(text[:200], "") + "..."
	}
	return text
}

// lifecycle notes that the document has loaded everything.
func (v *visit) lifecycle(name, loader string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if name == idleEvent && loader == v.document && loader != "" && !v.done {
		v.done = true
		close(v.idle)
	}
}

// unseen are the kinds of requests that a page without a person can do without.
var unseen = map[string]bool{"Image": true, "Media": true, "Font": true, "Ping": true, "CSPViolationReport": true}

// paused decides about a request. The proxy judges where it leads to; only web addresses get
// that far.
func (v *visit) paused(params json.RawMessage) {
	var e struct {
		RequestID, ResourceType string
		Request                 struct{ URL string }
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	scheme, _, _ := strings.Cut(e.Request.URL, ":")
	switch {
	case unseen[e.ResourceType], scheme != "http" && scheme != "https" && scheme != "data" && scheme != "blob":
		v.p.conn.tell(v.session, "Fetch.failRequest", map[string]any{"requestId": e.RequestID, "errorReason": "BlockedByClient"})
	default:
		v.p.conn.tell(v.session, "Fetch.continueRequest", map[string]any{"requestId": e.RequestID})
	}
}

// asked answers for the proxy, and for nothing else.
func (v *visit) asked(params json.RawMessage) {
	var e struct {
		RequestID     string
		AuthChallenge struct{ Source string }
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	response := map[string]any{"response": "CancelAuth"}
	if e.AuthChallenge.Source == "Proxy" {
		response = map[string]any{"response": "ProvideCredentials", "username": v.p.user, "password": v.p.pass}
	}
	v.p.conn.tell(v.session, "Fetch.continueWithAuth", map[string]any{"requestId": e.RequestID, "authChallengeResponse": response})
}
