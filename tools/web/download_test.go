package web_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolcrib/workspace"
)

func TestDownload(t *testing.T) {
	breaks := true // the connection, in the middle of /large
	large := strings.Repeat("0123456789abcdef", 64<<10)
	w := newWorld(t, map[string]http.HandlerFunc{"data.example.org": func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/kites.csv":
			rw.Header().Set("Content-Type", "text/csv")
			fmt.Fprint(rw, csv)
		case "/named":
			rw.Header().Set("Content-Disposition", `attachment; filename="../../evil name?.csv"`)
			fmt.Fprint(rw, csv)
		case "/large":
			rw.Header().Set("ETag", `"v1"`)
			if breaks {
				rw.Header().Set("Content-Length", fmt.Sprint(len(large)))
				fmt.Fprint(rw, large[:len(large)/2])
				panic(http.ErrAbortHandler)
			}
			http.ServeContent(rw, r, "large", time.Time{}, strings.NewReader(large))
		case "/page.zip":
			rw.Header().Set("Content-Type", "text/html")
			fmt.Fprint(rw, "<html><body>Click here</body></html>")
		default:
			http.NotFound(rw, r)
		}
	}})
	has := func(name, want string) {
		t.Helper()
		got, err := os.ReadFile(filepath.Join(w.dir, name))
		if err != nil || string(got) != want {
			t.Errorf("%s: %d bytes, %v, want %d", name, len(got), err, len(want))
		}
	}
	step := func(args string, want ...string) {
		t.Helper()
		got := w.call("download", args)
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%s:\n%s\nwant %q in it", args, got, text)
			}
		}
	}
	step(`{"url":"https://data.example.org/kites.csv","path":"a.csv"}`, "a.csv: downloaded 18 B of text/csv")
	has("a.csv", csv)
	step(`{"url":"https://data.example.org/kites.csv","path":"a.csv"}`, "error: already_exists", "overwrite=true")
	step(`{"url":"https://data.example.org/kites.csv","path":"a.csv","overwrite":true}`, "downloaded")
	step(`{"url":"https://data.example.org/named","path":"in/"}`, "in/evil name.csv")
	if err := os.Truncate(filepath.Join(w.dir, "in", "evil name.csv"), workspace.MaxKept+1); err != nil {
		t.Fatal(err)
	}
	step(`{"url":"https://data.example.org/named","path":"in/","overwrite":true}`, "error: already_exists", "the history does not keep files above", "give its whole path")
	step(`{"url":"https://data.example.org/gone","path":"gone"}`, "error: not_found", "404")
	step(`{"url":"https://data.example.org/page.zip","path":"page.zip"}`, "it is a web page")
	step(`{"url":"https://data.example.org/kites.csv","path":"b.csv","expected_hash":"000000000000"}`, "error: conflict", "nothing was written")
	if _, err := os.Stat(filepath.Join(w.dir, "b.csv")); err == nil {
		t.Error("a file with the wrong hash was written")
	}
	step(`{"url":"https://data.example.org/large","path":"large"}`, "error: unavailable", "call again: it goes on after")
	if _, err := os.Stat(filepath.Join(w.dir, "large")); err == nil {
		t.Error("a part was written")
	}
	breaks = false
	step(`{"url":"https://data.example.org/large","path":"large"}`, "downloaded 1.0 MB", "by an earlier call")
	has("large", large)
}

// TestResume goes on with the part of an earlier call, or begins anew in the same call.
func TestResume(t *testing.T) {
	const first, second = "the first version of the file", "another version"
	half := len(first) / 2
	for _, c := range []struct {
		name     string
		answer   func(rw http.ResponseWriter, r *http.Request) // to the second call
		want     string
		resumed  bool
		requests int
	}{
		{"the rest", func(rw http.ResponseWriter, r *http.Request) {
			http.ServeContent(rw, r, "", time.Time{}, strings.NewReader(first))
		}, first, true, 1},
		{"nothing is missing", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", half))
			rw.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		}, first[:half], true, 1},
		{"a shorter file", func(rw http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				rw.Header().Set("Content-Range", "bytes */3")
				rw.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return
			}
			fmt.Fprint(rw, second)
		}, second, false, 2},
		{"as long, and another", func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("ETag", `"v2"`)
			if r.Header.Get("Range") != "" {
				rw.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", half))
				rw.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return
			}
			fmt.Fprint(rw, second)
		}, second, false, 2},
		{"a rest of another version", func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("ETag", `"v2"`)
			r.Header.Del("If-Range")
			http.ServeContent(rw, r, "", time.Time{}, strings.NewReader(first+second))
		}, first + second, false, 2},
		{"another range", func(rw http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				rw.Header().Set("Content-Range", "bytes 0-3/20")
				rw.WriteHeader(http.StatusPartialContent)
				fmt.Fprint(rw, "xxxx")
				return
			}
			fmt.Fprint(rw, second)
		}, second, false, 2},
		{"all of it", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, second) }, second, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := 0
			w := newWorld(t, map[string]http.HandlerFunc{"data.example.org": func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" {
					http.NotFound(rw, r)
					return
				}
				if calls++; calls > 1 {
					rw.Header().Set("ETag", `"v1"`)
					c.answer(rw, r)
					return
				}
				rw.Header().Set("ETag", `"v1"`)
				rw.Header().Set("Content-Length", fmt.Sprint(len(first)))
				fmt.Fprint(rw, first[:half])
				rw.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}})
			const args = `{"url":"https://data.example.org/file","path":"file"}`
			if got := w.call("download", args); !strings.Contains(got, "call again: it goes on after") {
				t.Fatal(got)
			}
			got := w.call("download", args)
			data, err := os.ReadFile(filepath.Join(w.dir, "file"))
			if err != nil || string(data) != c.want || strings.Contains(got, "by an earlier call") != c.resumed || calls != 1+c.requests {
				t.Errorf("%s\n%q, %v after %d requests", got, data, err, calls)
			}
		})
	}
}
