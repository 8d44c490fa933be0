package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/web"
)

// TestSuite runs the suite that derives from each declaration, in a world that has what the
// examples ask for.
func TestSuite(t *testing.T) {
	for _, name := range exampleWorld(t).names() {
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

// What other categories read of the web is asked for as web_fetch asks, and once.
func TestFile(t *testing.T) {
	w := newWorld(t, map[string]http.HandlerFunc{"docs.example.org": func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(rw, "User-agent: *\nDisallow: /secret\n")
			return
		}
		rw.Header().Set("Content-Type", "text/csv")
		fmt.Fprint(rw, "a,b\n")
	}})
	w.all()
	ctx := tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: w.ws})
	for range 2 {
		got, err := w.file(ctx, "https://docs.example.org/a.csv", 100)
		if err != nil || string(got.Body) != "a,b\n" {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if got := w.requests(); len(got) != 2 { // robots.txt, and the file
		t.Errorf("asked %q", got)
	}
	for _, c := range []struct {
		url  string
		most int64
		want string
	}{
		{"https://docs.example.org/secret", 100, "robots.txt"},
		{"https://docs.example.org/b.csv", 2, "2 B"},
		{"http://10.0.0.1/", 100, "the address is private"},
	} {
		if _, err := w.file(ctx, c.url, c.most); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.url, err, c.want)
		}
	}
}
