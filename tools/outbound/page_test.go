package outbound_test

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/outbound"
	"toolcrib/workspace"
)

// inWorkspace returns the context of a call in a workspace with a state.
func inWorkspace(t *testing.T, base string) context.Context {
	t.Helper()
	ws, err := workspace.Open([]string{t.TempDir()}, workspace.Options{StateBase: base})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return as(t.Context(), ws, "local")
}

func as(ctx context.Context, ws *workspace.Workspace, principal string) context.Context {
	return tools.WithSession(ctx, &tools.SessionInfo{Workspace: ws, Principal: principal})
}

// TestCache asks a server again only where RFC 9111 wants it, and keeps the snapshot of a
// page whatever the server does. In a step, "at" is the second it happens at.
func TestCache(t *testing.T) {
	for name, c := range map[string]struct {
		header string // of each answer, lines
		steps  string // fetch@second=the version that is got, *: from the cache
	}{
		"nothing said":        {"", "0=1 1=2 2=3"},
		"max-age":             {"Cache-Control: public, max-age=60", "0=1 59=1* 61=2 62=2*"},
		"max-age with an age": {"Cache-Control: max-age=60\nAge: 50", "0=1 9=1* 11=2"},
		"max-age without end": {"Cache-Control: max-age=2147483647", "0=1 86399=1* 86401=2"},
		"no-cache":            {"Cache-Control: no-cache, max-age=60", "0=1 1=2"},
		"no-store":            {"Cache-Control: no-store, max-age=60", "0=1 1=2"},
		"expires":             {"Expires: +60", "0=1 59=1* 61=2"},
		"expired":             {"Expires: 0", "0=1 1=2"},
		"tag":                 {"ETag: \"t\"", "0=1 1=1* 5000=1*"},
		"date":                {"Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT", "0=1 1=1*"},
		"tag and max-age":     {"ETag: \"t\"\nCache-Control: max-age=60", "0=1 59=1* 70=1* 120=1*"},
		"tag that must go":    {"ETag: \"t\"\nCache-Control: no-store", "0=1 1=1*"},
		"tag that changes":    {"ETag: \"%d\"", "0=1 1=2 2=3"},
	} {
		for _, kept := range []string{"state", "memory"} {
			if kept == "memory" && strings.Contains(c.steps, "5000=1*") || kept == "memory" && strings.Contains(c.steps, "86399") {
				continue // memory forgets sooner
			}
			t.Run(name+", in "+kept, func(t *testing.T) {
				base := t.TempDir()
				synctest.Test(t, func(t *testing.T) {
					version := 0
					client := clientOf(t, pipes(t, func(w http.ResponseWriter, r *http.Request) {
						for line := range strings.Lines(c.header) {
							name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
							if value == "+60" {
								value = time.Now().Add(60 * time.Second).UTC().Format(http.TimeFormat)
							}
							w.Header().Set(name, strings.ReplaceAll(value, "%d", fmt.Sprint(version)))
						}
						if tag := r.Header.Get("If-None-Match"); tag != "" && tag == w.Header().Get("ETag") ||
							w.Header().Get("ETag") == "" && r.Header.Get("If-Modified-Since") != "" {
							w.WriteHeader(http.StatusNotModified)
							return
						}
						version++
						fmt.Fprintf(w, "version %d", version)
					}))
					ctx := t.Context()
					if kept == "state" {
						ctx = inWorkspace(t, base)
					}
					request := outbound.Request{URL: "http://a.test/"}
					began := time.Now()
					for step := range strings.FieldsSeq(c.steps) {
						var second, want int
						_, _ = fmt.Sscanf(step, "%d=%d", &second, &want)
						time.Sleep(time.Until(began.Add(time.Duration(second) * time.Second))) // of the bubble
						got, err := client.Fetch(ctx, request)
						if err != nil {
							t.Fatal(err)
						}
						if string(got.Body) != fmt.Sprintf("version %d", want) || got.Cached != strings.HasSuffix(step, "*") {
							t.Errorf("%s: %s, cached: %v", step, got.Body, got.Cached)
						}
						if again := client.Snapshot(ctx, request); again == nil || string(again.Body) != string(got.Body) || again.URL != got.URL {
							t.Errorf("%s: the snapshot is %v", step, again)
						}
					}
					time.Sleep(outbound.SnapshotTime + time.Second) // of the bubble
					if old := client.Snapshot(ctx, request); old != nil {
						t.Errorf("a snapshot of %s", old.At)
					}
				})
			})
		}
	}
}

// TestSnapshotOf keeps the pages of requests that differ apart, and those of principals.
func TestSnapshotOf(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Set-Cookie", "session=secret")
		fmt.Fprintf(w, "%s %s %s %d", r.Method, r.URL, r.Header.Get("Accept"), r.ContentLength)
	}, outbound.Options{})
	base := t.TempDir()
	ctx := inWorkspace(t, base)
	ws := tools.Session(ctx).Workspace
	requests := []outbound.Request{
		{URL: "http://a.test/"}, {URL: "http://a.test/?x"}, {URL: "http://a.test/", Header: http.Header{"Accept": {"text/plain"}}},
		{URL: "http://a.test/", Method: "POST", Body: []byte("1")}, {URL: "http://a.test/", Method: "POST", Body: []byte("22")},
	}
	for i, r := range requests {
		if p := w.client.Snapshot(ctx, r); p != nil {
			t.Errorf("%d: there is a snapshot before it was fetched: %s", i, p.Body)
		}
		got, err := w.client.Fetch(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*outbound.Page{w.client.Snapshot(ctx, r), w.client.Snapshot(ctx, outbound.Request{URL: strings.ToUpper(r.URL[:7]) + r.URL[7:] + "#part", Method: strings.ToLower(r.Method), Header: r.Header, Body: r.Body})} {
			if p == nil || string(p.Body) != string(got.Body) || p.Header.Get("Set-Cookie") != "" {
				t.Errorf("%d: %v", i, p)
			}
		}
		if p := w.client.Snapshot(as(ctx, ws, "another"), r); p != nil {
			t.Errorf("%d: another principal reads it", i)
		}
	}
	// A second process of the same workspace has it too.
	if p := newWorld(t, hello, outbound.Options{}).client.Snapshot(ctx, requests[0]); p == nil {
		t.Error("the snapshot is not on disk")
	}
	// A post is made again.
	if p, err := w.client.Fetch(ctx, requests[3]); err != nil || p.Cached {
		t.Errorf("%v, %v", p, err)
	}
}

// TestSnapshotOfSecret keeps the answer to a request with a secret in memory: it may repeat it.
func TestSnapshotOfSecret(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		fmt.Fprint(w, r.Header)
	}, outbound.Options{})
	base := t.TempDir()
	ctx := inWorkspace(t, base)
	for header, files := range map[string]int{"Authorization": 0, "cookie": 0, "X-API-Key": 0, "accept": 1} {
		r := outbound.Request{URL: "http://a.test/" + header, Header: http.Header{header: {"value"}}}
		before := len(pages(t, base))
		if _, err := w.client.Fetch(ctx, r); err != nil {
			t.Fatal(err)
		}
		if p := w.client.Snapshot(ctx, r); p == nil || !strings.Contains(string(p.Body), "value") {
			t.Errorf("%s: the snapshot is %v", header, p)
		}
		if got := len(pages(t, base)) - before; got != files {
			t.Errorf("%s: %d files", header, got)
		}
	}
}

// TestSnapshotTorn leaves out a page whose file another has damaged.
func TestSnapshotTorn(t *testing.T) {
	w := newWorld(t, hello, outbound.Options{})
	base := t.TempDir()
	ctx := inWorkspace(t, base)
	r := outbound.Request{URL: "http://a.test/"}
	if _, err := w.client.Fetch(ctx, r); err != nil {
		t.Fatal(err)
	}
	for _, file := range pages(t, base) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)-1] ^= 1
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if p := w.client.Snapshot(ctx, r); p != nil {
		t.Errorf("%s", p.Body)
	}
	if got := pages(t, base); len(got) > 0 {
		t.Errorf("it stays: %q", got)
	}
}

// TestCacheBounds fills the cache beyond its limit; what is read stays longer.
func TestCacheBounds(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/secret" {
			w.Header().Set("Cache-Control", "no-store")
		}
		_, _ = w.Write(make([]byte, 6<<20))
	}, outbound.Options{})
	base := t.TempDir()
	ctx := inWorkspace(t, base)
	get := func(path string) outbound.Request {
		r := outbound.Request{URL: "http://a.test/" + path}
		if _, err := w.client.Fetch(ctx, r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := get("first")
	var last outbound.Request
	for i := range 20 {
		last = get(fmt.Sprint(i))
		if w.client.Snapshot(ctx, first) == nil {
			t.Fatalf("the page that is read is gone after %d others", i)
		}
	}
	total := int64(0)
	for _, file := range pages(t, base) {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total > 64<<20 || total < 48<<20 || w.client.Snapshot(ctx, last) == nil {
		t.Errorf("%d MB are kept", total>>20)
	}
	before := len(pages(t, base))
	if secret := get("secret"); w.client.Snapshot(ctx, secret) == nil || len(pages(t, base)) != before {
		t.Error("a page that must not be stored is on disk, or cannot be read on")
	}
}

// pages returns the files of the cache below a base of states.
func pages(t *testing.T, base string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Base(filepath.Dir(path)) == "web.d" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestConfirmedElsewhere does not take a confirmation of one page for that of another, to
// which the redirect leads now.
func TestConfirmedElsewhere(t *testing.T) {
	to := "/one"
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		switch {
		case r.URL.Path == "/":
			http.Redirect(w, r, to, http.StatusFound)
		case r.Header.Get("If-None-Match") != "":
			w.WriteHeader(http.StatusNotModified)
		default:
			fmt.Fprint(w, r.URL.Path)
		}
	}, outbound.Options{})
	for _, want := range []string{"/one", "/one", "/two"} {
		to = want
		got, err := w.client.Fetch(t.Context(), outbound.Request{URL: "http://a.test/"})
		if err != nil || string(got.Body) != want {
			t.Fatalf("%v, %v", got, err)
		}
	}
}
