package web_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"toolcrib/tools/internal/browser"
	"toolcrib/tools/internal/programs/sandbox"
)

// restless serves another page at each request, made by a script where scripted says so.
func restless(scripted bool) http.HandlerFunc {
	version := 0
	return func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(rw, r)
			return
		}
		version++
		var b strings.Builder
		for i := range 12 {
			fmt.Fprintf(&b, "<h2>Part %d</h2><p>Version %d says in <a href=/%d/%d>part %d</a> what is true of číslo %d, 第%d部, and of all kites that were seen.</p>", i, version, version, i, i, i, i)
		}
		body := "<article>" + b.String() + "</article>"
		if scripted {
			body = fmt.Sprintf("<div id=a></div><script>document.getElementById('a').innerHTML = %q</script>", body)
		}
		page("<!doctype html><title>Restless</title>"+body)(rw, r)
	}
}

var next = regexp.MustCompile(`next: offset=(\d+)`)

// joined reads a page to its end and returns its parts as one text.
func (w *world) joined(args string) string {
	w.Helper()
	all, offset := "", "0"
	for range 200 {
		got := w.call("web_fetch", strings.TrimSuffix(args, "}")+`,"offset":`+offset+`}`)
		head, body, ok := strings.Cut(got, "\n\n")
		if !ok || strings.Contains(head, "read anew") {
			w.Fatalf("%s at %s:\n%s", args, offset, got)
		}
		all += body
		found := next.FindStringSubmatch(head)
		if found == nil {
			return all
		}
		offset = found[1]
	}
	w.Fatalf("%s has no end", args)
	return ""
}

// TestPaging holds that the parts of a page are those of its first reading, though the server
// changes it between the calls.
func TestPaging(t *testing.T) {
	w := newWorld(t, map[string]http.HandlerFunc{"docs.example.org": restless(false), "scripts.example.org": restless(true)})
	closure(t, w, "https://docs.example.org/kites", "", "", `,"format":"text"`, `,"format":"links"`, `,"format":"raw"`, `,"format":"structured"`, `,"main":false`)
	t.Run("part of an outline", func(t *testing.T) {
		outline := w.call("web_fetch", `{"url":"https://docs.example.org/kites","outline":true}`)
		at := regexp.MustCompile(`(?m)^(\d+)\t  Part 7$`).FindStringSubmatch(outline)
		if at == nil {
			t.Fatal(outline)
		}
		got := w.call("web_fetch", `{"url":"https://docs.example.org/kites","limit":20,"offset":`+at[1]+`}`)
		if !strings.Contains(got, "\n\n## Part 7\n") {
			t.Error(got)
		}
	})
	t.Run("part of a query", func(t *testing.T) {
		found := w.call("web_fetch", `{"url":"https://docs.example.org/kites","query":"part 9","limit":200}`)
		at := regexp.MustCompile(`\[offset (\d+)[^\]]*\]\n(.*)`).FindStringSubmatch(found)
		if at == nil {
			t.Fatal(found)
		}
		got := w.call("web_fetch", `{"url":"https://docs.example.org/kites","limit":30,"offset":`+at[1]+`}`)
		if !strings.Contains(got, "\n\n"+at[2]+"\n") {
			t.Errorf("%s\n\n%s", found, got)
		}
	})
	t.Run("another page of the same address", func(t *testing.T) {
		w.call("web_fetch", `{"url":"https://docs.example.org/kites","method":"POST","body":"x"}`)
		first := w.call("web_fetch", `{"url":"https://docs.example.org/kites","limit":300}`)
		again := w.call("web_fetch", `{"url":"https://docs.example.org/kites","limit":200,"offset":1}`)
		version := regexp.MustCompile(`Version \d+`)
		if a, b := version.FindString(first), version.FindString(again); a == "" || a != b {
			t.Errorf("%q, then %q", a, b)
		}
	})
}

// TestPagingRendered is TestPaging for pages that a browser renders.
func TestPagingRendered(t *testing.T) {
	if _, err := browser.New(sandbox.New()).Find(); err != nil {
		t.Skip("needs: chromium: " + err.Error())
	}
	w := newWorld(t, map[string]http.HandlerFunc{"scripts.example.org": restless(true)})
	if got := w.call("web_fetch", `{"url":"http://scripts.example.org:8080/kites"}`); strings.Contains(got, "did not run") {
		t.Skip("needs: namespaces: " + got)
	}
	closure(t, w, "http://scripts.example.org:8080/kites", "rendered by a browser", "")
	rendered := w.call("web_fetch", `{"url":"http://scripts.example.org:8080/kites"}`)
	static := w.call("web_fetch", `{"url":"http://scripts.example.org:8080/kites","render":"never"}`)
	further := w.call("web_fetch", `{"url":"http://scripts.example.org:8080/kites","offset":1}`)
	if !strings.Contains(rendered, "## Part 3") || strings.Contains(static, "## Part 3") || strings.Contains(further, "rendered by a browser") {
		t.Errorf("the last reading was without a browser:\n%s\n\n%s\n\n%s", rendered, static, further)
	}
}

// closure reads an address in several forms, as a whole and in parts.
func closure(t *testing.T, w *world, url, note string, forms ...string) {
	for _, form := range forms {
		t.Run(strings.Trim(form, ","), func(t *testing.T) {
			whole := w.call("web_fetch", `{"url":"`+url+`"`+form+`}`)
			head, want, _ := strings.Cut(whole, "\n\n")
			if !strings.Contains(head, note) || len(want) < 300 {
				t.Fatal(whole)
			}
			// The first part is a new reading; the parts after it must be of that one.
			got := w.joined(`{"url":"` + url + `","limit":97` + form + `}`)
			version := regexp.MustCompile(`Version (\d+)|/(\d+)/\d+`)
			seen := map[string]bool{}
			for _, m := range version.FindAllStringSubmatch(got, -1) {
				seen[m[1]+m[2]] = true
			}
			if len(seen) != 1 {
				t.Errorf("the parts are of %d readings", len(seen))
			}
			if version.ReplaceAllString(got, "") != version.ReplaceAllString(want, "") {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
