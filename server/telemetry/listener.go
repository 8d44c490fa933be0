package telemetry

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// PagePath is where the page for Prometheus is served.
const PagePath = "/metrics"

// pageWait is how long a request for the page may take to send and to read it.
const pageWait = 10 * time.Second

// Serve serves the page on a listener until stop is called, which waits for the
// last request. A token, if there is one, must come as a bearer token. Requests of
// web pages are refused, and without a token those for another host than this
// machine or an address: they would come from a page that has a name of its own
// lead here.
func Serve(ln net.Listener, token string, s Sources) (stop func()) {
	srv := &http.Server{
		Handler:           pageHandler{s, token != "", sha256.Sum256([]byte(token))},
		ReadHeaderTimeout: pageWait, ReadTimeout: pageWait, WriteTimeout: pageWait, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 8 << 10,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = srv.Serve(ln) // it ends by stop, or with a listener that broke: then nobody can ask
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if srv.Shutdown(ctx) != nil {
			_ = srv.Close() // clients that no longer read are cut off
		}
		<-ended
	}
}

type pageHandler struct {
	sources Sources
	private bool // needs the token
	token   [sha256.Size]byte
}

// ServeHTTP implements [http.Handler].
func (h pageHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Origin") != "":
		http.Error(w, "web pages are not answered", http.StatusForbidden)
	case h.private && !h.knows(r):
		w.Header().Set("WWW-Authenticate", `Bearer realm="toolcrib metrics"`)
		http.Error(w, "the request needs the header Authorization: Bearer TOKEN, with the token of TOOLCRIB_METRICS_TOKEN", http.StatusUnauthorized)
	case !h.private && !local(r.Host):
		http.Error(w, "ask by an address or as localhost", http.StatusForbidden)
	case r.URL.Path != PagePath:
		http.Error(w, "there is only "+PagePath, http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "GET alone is answered", http.StatusMethodNotAllowed)
	default:
		w.Header().Set("Content-Type", pageType)
		_, _ = w.Write(h.sources.page(time.Now())) // who has gone is told nothing
	}
}

func (h pageHandler) knows(r *http.Request) bool {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	got := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], h.token[:]) == 1
}

// local reports whether a Host header is localhost or an address.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || strings.EqualFold(host, "localhost")
}
