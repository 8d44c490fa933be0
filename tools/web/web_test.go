package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/web"
)

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

func TestSuite(t *testing.T) {
	for _, name := range []string{"download", "image_search", "weather", "web_crawl", "web_fetch", "web_search"} {
		t.Run(name, func(t *testing.T) { tooltest.Run(t, exampleWorld(t).tool(name)) })
	}
}

func TestFetch(t *testing.T) {
	w := exampleWorld(t)
	for _, tt := range []struct {
		name, args string
		want       []string
	}{
		{"main", `{"url":"https://docs.example.org/kites"}`, []string{"title: Kites; language: en", "(" + web.Outside + ")", "Red kites are", "## Food"}},
		{"without a scheme", `{"url":"docs.example.org/kites"}`, []string{"## Food"}},
		{"outline", `{"url":"https://docs.example.org/kites","outline":true}`, []string{"2 headings", "\t  Food"}},
		{"a part", `{"url":"https://docs.example.org/kites","limit":20}`, []string{"next: offset=20"}},
		{"past the end", `{"url":"https://docs.example.org/kites","offset":5000}`, []string{"past the end"}},
		{"query", `{"url":"https://docs.example.org/kites","query":"where is the nest","limit":200}`, []string{"1 of 3 sections answers", "## Nests"}},
		{"query of nothing", `{"url":"https://docs.example.org/kites","query":"zeppelin"}`, []string{"no section has a word of", "## Food"}},
		{"links", `{"url":"https://docs.example.org/kites","format":"links"}`, []string{"[Home](https://docs.example.org/)"}},
		{"structured", `{"url":"https://docs.example.org/kites","format":"structured"}`, []string{`"title": "Kites"`}},
		{"raw", `{"url":"https://docs.example.org/kites","format":"raw"}`, []string{"<!doctype html>"}},
		{"text", `{"url":"https://docs.example.org/kites","format":"text"}`, []string{"\nFood\n"}},
		{"save", `{"url":"https://docs.example.org/kites","save":"notes/kites.md"}`, []string{"saved to notes/kites.md"}},
		{"not there", `{"url":"https://docs.example.org/gone"}`, []string{"error: not_found", "HTTP 404"}},
		{"no host", `{"url":"https://nowhere.example.org/"}`, []string{"error: not_found", "no host named nowhere.example.org"}},
		{"private", `{"url":"http://127.0.0.1:8080/"}`, []string{"error: denied", "127.0.0.1"}},
		{"a file", `{"url":"file:///etc/passwd"}`, []string{"error: invalid_argument", "only http and https"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := w.call("web_fetch", tt.args)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("got\n%s\nwant %q in it", got, want)
				}
			}
		})
	}
}
