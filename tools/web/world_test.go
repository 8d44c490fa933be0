package web_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/outbound"
	"toolcrib/tools/web"
	"toolcrib/workspace"
)

// world is a small web of hosts with public addresses, all served by one server here.
type world struct {
	testing.TB
	set    web.Settings
	opened func(principal string, port int) bool // nil = jobs have opened no port
	real   bool                                  // the network of this machine
	pace   time.Duration                         // of a crawl
	// at are the addresses of hosts, one for each look-up and the last one for all others; none
	// = a public one.
	at    map[string][]string
	hosts map[string]http.HandlerFunc
	ws    *workspace.Workspace
	dir   string

	mu      sync.Mutex
	asked   []string // method, host and path of each request
	dialled []string
	tools   []tools.Tool
	file    func(ctx context.Context, url string, most int64) (*outbound.Page, error)
	sources []tools.Source
}

func newWorld(t testing.TB, hosts map[string]http.HandlerFunc) *world {
	t.Helper()
	w := &world{TB: t, hosts: hosts}
	w.ws, w.dir = tooltest.Tree(t, nil)
	return w
}

func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.asked = append(w.asked, r.Method+" "+r.Host+r.URL.Path)
	w.mu.Unlock()
	host, _, _ := strings.Cut(r.Host, ":")
	if h := w.hosts[host]; h != nil {
		h(rw, r)
		return
	}
	http.NotFound(rw, r)
}

// requests returns the requests since the last call.
func (w *world) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.asked
	w.asked = nil
	return list
}

// network lets every name resolve to a public address, and every connection to one lead to
// the server of the world.
func (w *world) network(rules outbound.Rules) outbound.Rules {
	if w.real {
		return rules
	}
	plain := httptest.NewServer(http.HandlerFunc(w.serve))
	secure := httptest.NewTLSServer(http.HandlerFunc(w.serve))
	w.Cleanup(plain.Close)
	w.Cleanup(secure.Close)
	rules.Lookup = func(_ context.Context, name string) ([]netip.Addr, error) {
		if _, ok := w.hosts[strings.TrimSuffix(name, ".")]; !ok {
			return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		address := "93.184.216.34"
		if list := w.at[strings.TrimSuffix(name, ".")]; len(list) > 0 {
			address = list[0]
			w.at[strings.TrimSuffix(name, ".")] = list[min(1, len(list)-1):]
		}
		return []netip.Addr{netip.MustParseAddr(address)}, nil
	}
	rules.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	rules.Dial = func(ctx context.Context, address string) (net.Conn, error) {
		w.mu.Lock()
		w.dialled = append(w.dialled, address)
		w.mu.Unlock()
		to := plain.Listener.Addr().String()
		if strings.HasSuffix(address, ":443") {
			to = secure.Listener.Addr().String()
		}
		return new(net.Dialer).DialContext(ctx, "tcp", to)
	}
	return rules
}

func (w *world) all() []tools.Tool {
	if w.tools == nil {
		w.tools, w.sources, w.file = web.NewTools(w.set, w.network, &tls.Config{InsecureSkipVerify: true}, w.opened, w.pace) //nolint:gosec // the server's certificate is of the test
	}
	return w.tools
}

func (w *world) names() (list []string) {
	for _, t := range w.all() {
		list = append(list, t.Name)
	}
	return list
}

func (w *world) tool(name string) tools.Tool {
	w.Helper()
	for _, t := range w.all() {
		if t.Name == name {
			return t
		}
	}
	w.Fatalf("no tool is called %q", name)
	return tools.Tool{}
}

// call returns the text of the result, or "error: " and the error.
func (w *world) call(name, args string) string {
	w.Helper()
	result, err := tooltest.Call(w.Context(), w.ws, w.tool(name), []byte(args))
	if err != nil {
		return "error: " + tools.AsError(err).Error()
	}
	return tooltest.Text(result)
}

// page answers with a page.
func page(body string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(rw, r)
			return
		}
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(rw, body)
	}
}

const csv = "name,count\nred,12\n"

// kites is a page of three sections.
const kites = `<!doctype html><html lang=en><head><title>Kites</title></head><body><nav><a href=/>Home</a></nav><article><h1>Kites</h1>
<p>Red kites are birds of prey that live in open country with woods, and soar for hours over fields and villages without a beat of their wings.</p>
<h2>Food</h2><p>Red kites eat carrion and worms, which they find on fields that were just mown, and along roads; they seldom take living prey.</p>
<h2>Nests</h2><p>They nest in tall trees at the edge of a wood, and decorate the nest with rags and paper, and return to it each year in March.</p></article></body></html>`

// exampleWorld has what the examples of the tools ask for.
func exampleWorld(t *testing.T) *world {
	w := newWorld(t, map[string]http.HandlerFunc{
		"api.search.brave.com": func(rw http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(rw, `{"type":"search","web":{"results":[
				{"title":"Go 1.26 Release Notes","url":"https://go.dev/doc/go1.26","description":"The latest Go release, version 1.26, arrives in February 2026.","page_age":"2026-02-10T00:00:00"},
				{"title":"What is new in Go 1.26","url":"https://blog.example.org/go126","description":"A tour."}]}}`)
		},
		"api.openverse.org": func(rw http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(rw, `{"results":[{"title":"Red kite","url":"https://img.example.org/kite.png","foreign_landing_url":"https://photos.example.org/kite","creator":"A. Bird","license":"by","license_version":"4.0","width":800,"height":600}]}`)
		},
		"img.example.org": func(http.ResponseWriter, *http.Request) {},
		"geocoding-api.open-meteo.com": func(rw http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(rw, `{"results":[{"name":"Vienna","country":"Austria","latitude":48.208,"longitude":16.372,"timezone":"Europe/Vienna"}]}`)
		},
		"api.open-meteo.com": func(rw http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(rw, `{"timezone":"Europe/Vienna","current_units":{"temperature_2m":"°C","wind_speed_10m":"km/h"},
				"current":{"time":"2026-05-04T12:00","weather_code":61,"temperature_2m":18.5,"wind_speed_10m":10,"wind_direction_10m":225},
				"daily_units":{"temperature_2m_min":"°C","temperature_2m_max":"°C"},
				"daily":{"time":["2026-05-04","2026-05-05"],"weather_code":[3,63],"temperature_2m_min":[9,8],"temperature_2m_max":[19.5,15]}}`)
		},
		"data.example.org": func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/kites.csv" {
				http.NotFound(rw, r)
				return
			}
			rw.Header().Set("Content-Type", "text/csv")
			fmt.Fprint(rw, csv)
		},
		"docs.example.org": func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/kites" {
				http.NotFound(rw, r)
				return
			}
			page(kites)(rw, r)
		},
	})
	w.set.Brave = "k"
	return w
}
