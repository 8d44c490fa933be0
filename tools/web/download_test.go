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
