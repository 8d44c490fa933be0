package web_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/web"
)

// TestRobots obeys robots.txt, unless the configuration says otherwise.
func TestRobots(t *testing.T) {
	status, file := 200, "User-agent: toolcrib\nDisallow: /private\nCrawl-delay: 0\n"
	site := func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			rw.WriteHeader(status)
			fmt.Fprint(rw, file)
		case "/moved":
			http.Redirect(rw, r, "/private/page", http.StatusFound)
		default:
			fmt.Fprint(rw, "some text")
		}
	}
	fresh := func(set web.Settings) *world {
		w := newWorld(t, map[string]http.HandlerFunc{"a.example.org": site})
		w.set = set
		return w
	}
	check := func(w *world, tool, args, want string, asked ...string) {
		t.Helper()
		if got := w.call(tool, args); !strings.Contains(got, want) {
			t.Errorf("%s %s:\n%s\nwant %q in it", tool, args, got, want)
		}
		for _, request := range w.requests() {
			if strings.Contains(request, "/private") && !slices.Contains(asked, request) {
				t.Errorf("%s %s: %s", tool, args, request)
			}
		}
	}
	const says = `robots.txt of a.example.org says in line 2: Disallow: /private`
	w := fresh(web.Settings{})
	check(w, "web_fetch", `{"url":"https://a.example.org/private/x"}`, says)
	check(w, "web_fetch", `{"url":"https://a.example.org/open"}`, "some text")
	check(w, "web_fetch", `{"url":"https://a.example.org/moved"}`, says, "GET a.example.org/private/page")
	check(w, "download", `{"url":"https://a.example.org/private/x","path":"x"}`, says)
	check(w, "web_crawl", `{"urls":["https://a.example.org/private/x","https://a.example.org/open"]}`, says)
	check(w, "web_fetch", `{"url":"https://a.example.org/robots.txt"}`, "Disallow")
	check(fresh(web.Settings{Web: web.Web{Robots: "ignore"}}), "web_fetch", `{"url":"https://a.example.org/private/x"}`, "some text", "GET a.example.org/private/x")
	w = fresh(web.Settings{Web: web.Web{Robots: "ignore"}})
	if got := w.call("web_crawl", `{"urls":["https://a.example.org/private/x"]}`); !strings.Contains(got, "some text") {
		t.Error(got)
	}
	if asked := w.requests(); !slices.Equal(asked, []string{"GET a.example.org/private/x"}) {
		t.Errorf("asked %q where robots.txt is ignored", asked)
	}
	check(fresh(web.Settings{Web: web.Web{Agent: "other/2"}}), "web_fetch", `{"url":"https://a.example.org/private/x"}`, "some text", "GET a.example.org/private/x")
	status = 500
	check(fresh(web.Settings{}), "web_fetch", `{"url":"https://a.example.org/open"}`, "robots.txt of a.example.org cannot be read (Internal Server Error)")
	status = 404
	check(fresh(web.Settings{}), "web_fetch", `{"url":"https://a.example.org/private/x"}`, "some text", "GET a.example.org/private/x")
	status, file = 200, "User-agent: *\n# "
	file += strings.Repeat("x", 500<<10-len(file)-len("\nDisallow: /o")) + "\nDisallow: /other\n" // cut off behind /o
	check(fresh(web.Settings{}), "web_fetch", `{"url":"https://a.example.org/open"}`, "some text")
	status, file = 200, "User-agent: toolcrib\nDisallow: /private\n"+strings.Repeat("# "+strings.Repeat("x", 98)+"\n", 120_000)
	check(fresh(web.Settings{}), "web_fetch", `{"url":"https://a.example.org/private/x"}`, says)
}

// TestPrivate reaches no private address by any tool, at first, after a redirect or after a
// change of what a name means.
func TestPrivate(t *testing.T) {
	to := "http://10.0.0.1/"
	away := func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(rw, r)
			return
		}
		http.Redirect(rw, r, to, http.StatusFound)
	}
	w := newWorld(t, map[string]http.HandlerFunc{
		"away.example.org": away, "inside.example.org": page("inside"), "turns.example.org": page("inside"), "turned.example.org": away,
	})
	for _, address := range []string{
		"http://127.0.0.1/", "http://localhost/", "http://[::1]:3000/", "http://10.1.2.3/", "http://169.254.169.254/latest", "http://0x7f.1/",
		"http://2130706433/", "http://[::ffff:10.0.0.1]/", "http://192.168.0.1:8080/", "http://100.64.0.1/", "http://inside.example.org:81/",
		"http://away.example.org:81/", "http://turns.example.org:81/", "http://router.local/", "http://[fe80::1]/", "http://[fd00:ec2::254]/",
	} {
		for tool, args := range map[string]string{
			"web_fetch": `{"url":%q}`, "download": `{"url":%q,"path":"x","overwrite":true}`, "web_crawl": `{"urls":[%q]}`, "browser": `{"url":%q,"render":"always"}`,
		} {
			w.at = map[string][]string{"inside.example.org": {"10.0.0.9"}, "turns.example.org": {"93.184.216.34", "10.0.0.9"}}
			got := w.call(strings.Replace(tool, "browser", "web_fetch", 1), fmt.Sprintf(args, address))
			// The connection that was made for robots.txt may serve the page too.
			if !strings.Contains(got, "denied") && !strings.Contains(got, "invalid_argument") && !strings.Contains(address, "turns") {
				t.Errorf("%s %s: %s", tool, address, got)
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, address := range w.dialled {
		if !strings.HasPrefix(address, "93.184.216.34:") {
			t.Errorf("a connection to %s", address)
		}
	}
	if len(w.dialled) == 0 {
		t.Error("nothing was connected to: the test tests nothing")
	}
}

// TestOwnPort reads what a job of the caller serves for the user, and no other port.
func TestOwnPort(t *testing.T) {
	server := httptest.NewServer(page("<p>The page of the job."))
	t.Cleanup(server.Close)
	other := httptest.NewServer(page("<p>Not of the job."))
	t.Cleanup(other.Close)
	w := newWorld(t, nil)
	w.real = true
	w.opened = func(principal string, port int) bool {
		return principal == tools.Local && port == server.Listener.Addr().(*net.TCPAddr).Port
	}
	if got := w.call("web_fetch", fmt.Sprintf(`{"url":%q}`, server.URL)); !strings.Contains(got, "The page of the job.") {
		t.Error(got)
	}
	if got := w.call("web_fetch", fmt.Sprintf(`{"url":%q}`, strings.TrimPrefix(server.URL, "http://"))); !strings.Contains(got, "The page of the job.") {
		t.Error(got)
	}
	if got := w.call("web_fetch", fmt.Sprintf(`{"url":%q}`, strings.Replace(server.URL, "127.0.0.1", "localhost", 1))); !strings.Contains(got, "The page of the job.") {
		t.Error(got)
	}
	if got := w.call("web_fetch", fmt.Sprintf(`{"url":%q}`, other.URL)); !strings.Contains(got, "error: denied") {
		t.Error(got)
	}
}

// TestOwnPortRendered renders what a job serves; the page reaches no other private port.
func TestOwnPortRendered(t *testing.T) {
	reached := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	t.Cleanup(other.Close)
	server := httptest.NewServer(page(`<p id=a></p><script>fetch("` + other.URL + `", {mode: "no-cors"}).catch(() => 0).then(() => { document.getElementById("a").textContent = "made by its script" })</script>`))
	t.Cleanup(server.Close)
	w := newWorld(t, nil)
	w.real = true
	w.opened = func(_ string, port int) bool { return port == server.Listener.Addr().(*net.TCPAddr).Port }
	got := w.call("web_fetch", fmt.Sprintf(`{"url":%q,"render":"always"}`, server.URL))
	if strings.Contains(got, "error: unavailable") {
		t.Skip("needs: chromium: " + got)
	}
	if !strings.Contains(got, "made by its script") || reached != 0 {
		t.Errorf("%d connections to another port:\n%s", reached, got)
	}
}
