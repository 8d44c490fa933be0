package browser_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/browser"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/outbound"
)

// world is an engine whose browser reaches one server, and a server that it must not reach.
type world struct {
	*browser.Engine
	ctx       context.Context
	site      *httptest.Server
	forbidden string       // host and port
	reached   atomic.Int64 // connections to it
}

func newWorld(t *testing.T, level sandbox.Level, pages map[string]string) *world {
	t.Helper()
	w := &world{}
	w.site = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		switch {
		case r.URL.Path == "/away":
			http.Redirect(rw, r, "http://"+w.forbidden+"/", http.StatusFound)
		case r.URL.Path == "/slow":
			<-r.Context().Done()
		case r.URL.Path == "/undeclared":
			rw.Header().Set("Content-Type", "text/html")
			fmt.Fprint(rw, page)
		case !ok:
			rw.WriteHeader(http.StatusNotFound)
			fmt.Fprint(rw, "<p>not here")
		default:
			rw.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(rw, strings.ReplaceAll(page, "FORBIDDEN", w.forbidden))
		}
	}))
	t.Cleanup(w.site.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	w.forbidden = l.Addr().String()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.reached.Add(1)
			c.Close()
		}
	}()
	programs := sandbox.New()
	host := strings.TrimPrefix(w.site.URL, "http://")
	programs.Configure(sandbox.Options{Level: level})
	t.Cleanup(func() { programs.Close() })
	w.Engine = browser.New(programs)
	w.Configure(browser.Options{Rules: outbound.Rules{Private: []string{host}}})
	t.Cleanup(w.Close)
	if _, err := w.Find(); err != nil {
		t.Skip("needs: chromium: " + err.Error())
	}
	ws, _ := tooltest.Tree(t, nil)
	w.ctx = tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: ws})
	if _, err := programs.Check(w.ctx); err != nil {
		t.Skip("needs: namespaces: " + err.Error())
	}
	return w
}

func (w *world) render(t *testing.T, path string) browser.Page {
	t.Helper()
	p, err := w.Render(w.ctx, browser.Request{URL: w.site.URL + path})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return p
}

func TestRender(t *testing.T) {
	w := newWorld(t, sandbox.Full, map[string]string{
		"/": `<!doctype html><title>T</title><p id=a>static</p><img src="/image.png"><script>
			alert("hello"); confirm("really?");
			fetch("/data").then(r => r.text()).then(t => { document.getElementById("a").textContent = t + " " + location.pathname; throw new Error("broken"); });
			</script>`,
		"/data":  "fetched",
		"/moved": `<script>location.replace("/data")</script>`,
	})
	p := w.render(t, "/")
	if !strings.Contains(p.HTML, `<p id="a">fetched /</p>`) || !p.Settled || p.Status != 200 || p.URL != w.site.URL+"/" {
		t.Errorf("got %+v", p)
	}
	if len(p.Problems) != 1 || !strings.Contains(p.Problems[0], "broken") {
		t.Errorf("problems: %q", p.Problems)
	}
	if p := w.render(t, "/moved"); p.URL != w.site.URL+"/data" || !strings.Contains(p.HTML, "fetched") {
		t.Errorf("moved: %+v", p)
	}
	if p := w.render(t, "/nowhere"); p.Status != 404 || !strings.Contains(p.HTML, "not here") {
		t.Errorf("nowhere: %+v", p)
	}
}

func TestUndeclaredCharset(t *testing.T) {
	w := newWorld(t, sandbox.Full, map[string]string{"/undeclared": "<p>Größe</p>"})
	if p := w.render(t, "/undeclared"); !strings.Contains(p.HTML, "<p>Größe</p>") {
		t.Errorf("got %+v", p)
	}
}

// TestWaysOut holds that a page reaches nothing that the proxy does not let through.
func TestWaysOut(t *testing.T) {
	for _, level := range []sandbox.Level{sandbox.Full, sandbox.None} {
		t.Run(level.String(), func(t *testing.T) { waysOut(t, level) })
	}
}

func waysOut(t *testing.T, level sandbox.Level) {
	w := newWorld(t, level, map[string]string{
		"/": `<!doctype html><img src="http://FORBIDDEN/"><iframe src="http://FORBIDDEN/"></iframe><iframe src="file:///etc/passwd"></iframe>
			<link rel=stylesheet href="http://FORBIDDEN/"><link rel=prefetch href="http://FORBIDDEN/"><link rel=preconnect href="http://FORBIDDEN/">
			<iframe src="/away"></iframe><p id=a></p><script>
			for (const host of ["FORBIDDEN", "FORBIDDEN".replace("127.0.0.1", "localhost"), "FORBIDDEN".replace("127.0.0.1", "[::1]")]) {
				fetch("http://" + host + "/", {mode: "no-cors"}).catch(() => {});
				navigator.sendBeacon("http://" + host + "/", "x");
				try { new WebSocket("ws://" + host + "/"); new EventSource("http://" + host + "/"); } catch (e) {}
				new Worker(URL.createObjectURL(new Blob(["fetch('http://" + host + "/', {mode: 'no-cors'})"])));
			}
			const peer = new RTCPeerConnection({iceServers: [{urls: "stun:FORBIDDEN"}, {urls: "turn:FORBIDDEN?transport=tcp", username: "u", credential: "c"}]});
			peer.createDataChannel("x"); peer.createOffer().then(o => peer.setLocalDescription(o));
			fetch("file:///etc/passwd").then(r => r.text()).then(t => { document.getElementById("a").textContent = t; }).catch(() => {});
			document.getElementById("a").textContent = "done";
			</script>`,
	})
	p := w.render(t, "/")
	if !strings.Contains(p.HTML, `<p id="a">done</p>`) || strings.Contains(p.HTML, "root:") {
		t.Errorf("got %+v", p)
	}
	if n := w.reached.Load(); n != 0 {
		t.Errorf("%d connections to what is refused", n)
	}
	for _, url := range []string{"http://" + w.forbidden + "/", w.site.URL + "/away"} {
		if p, err := w.Render(w.ctx, browser.Request{URL: url}); err == nil && p.Status == 200 {
			t.Errorf("%s: %+v", url, p)
		}
	}
	for _, url := range []string{"file:///etc/passwd", "chrome://version", "javascript:alert(1)", "http:///x"} {
		if _, err := w.Render(w.ctx, browser.Request{URL: url}); err == nil || tools.AsError(err).Code != tools.InvalidArgument {
			t.Errorf("%s: %v", url, err)
		}
	}
	if n := w.reached.Load(); n != 0 {
		t.Errorf("%d connections to what is refused", n)
	}
}

func TestSlowPages(t *testing.T) {
	w := newWorld(t, sandbox.Full, map[string]string{
		"/":     `<p>here</p><script>fetch("/slow")</script>`,
		"/busy": `<p>here</p><script>setTimeout(() => { for (;;) {} }, 100)</script>`,
	})
	render := func(path string) (browser.Page, error) {
		return w.Render(w.ctx, browser.Request{URL: w.site.URL + path, Wait: 2 * time.Second})
	}
	if p, err := render("/"); err != nil || p.Settled || !strings.Contains(p.HTML, "here") {
		t.Errorf("never idle: %+v, %v", p, err)
	}
	if _, err := render("/slow"); err == nil || tools.AsError(err).Code != tools.Timeout {
		t.Errorf("no answer: %v", err)
	}
	if _, err := render("/busy"); err == nil || tools.AsError(err).Code != tools.Timeout {
		t.Errorf("busy: %v", err)
	}
	ctx, cancel := context.WithTimeout(w.ctx, 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := w.Render(ctx, browser.Request{URL: w.site.URL + "/slow"}); err == nil || time.Since(begin) > time.Second {
		t.Errorf("cancelled: %v after %v", err, time.Since(begin))
	}
}

func TestFind(t *testing.T) {
	e := browser.New(sandbox.New())
	e.Configure(browser.Options{File: "/nowhere/chromium"})
	_, err := e.Find()
	if err == nil || !strings.Contains(err.Error(), "/nowhere/chromium") {
		t.Errorf("got %v", err)
	}
}

// TestNoBrowser lets the time pass after which an idle browser is ended, where none could start.
func TestNoBrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := browser.New(sandbox.New())
		e.Configure(browser.Options{File: "/nothing/is/here"})
		ws, _ := tooltest.Tree(t, nil)
		ctx := tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: ws})
		if _, err := e.Render(ctx, browser.Request{URL: "https://example.com/"}); err == nil {
			t.Error("it renders without a browser")
		}
		time.Sleep(time.Hour)
	})
}
