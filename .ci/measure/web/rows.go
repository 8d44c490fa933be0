package web

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"toolcrib/.ci/measure/harness"
)

// paging reads a page in parts while the server changes it.
func (t taking) paging() error {
	version, next := regexp.MustCompile(`Version (\d+)`), regexp.MustCompile(`next: offset=(\d+)`)
	seen, paragraphs, offset := map[string]bool{}, 0, "0"
	for range 200 {
		text, err := t.u.Must("web_fetch", map[string]any{"url": "http://docs.test/restless", "offset": offset, "limit": 3001})
		if err != nil {
			return err
		}
		for _, m := range version.FindAllStringSubmatch(text, -1) {
			seen[m[1]] = true
		}
		paragraphs += strings.Count(text, "aragraph ")
		if _, err := t.u.Must("web_fetch", map[string]any{"url": "http://docs.test/restless?other=" + offset}); err != nil {
			return err
		}
		m := next.FindStringSubmatch(text)
		if m == nil {
			break
		}
		offset = m[1]
	}
	fmt.Printf("paging: %d paragraphs of %d versions\n", paragraphs, len(seen))
	if len(seen) != 1 || paragraphs < 395 {
		return fmt.Errorf("the parts have %d paragraphs of %d versions", paragraphs, len(seen))
	}
	return nil
}

// refusedHosts are hosts that must not be reached, as they can be written.
var refusedHosts = []string{
	"127.0.0.1", "127.1", "0x7f.1", "0177.0.0.1", "2130706433", "0x7f000001", "localhost", "LOCALHOST.", "a.localhost", "0.0.0.0", "0",
	"10.0.0.1", "10.255.255.254", "172.16.0.1", "172.31.255.1", "192.168.0.1", "100.64.0.1", "169.254.169.254", "169.254.0.1", "192.0.0.192",
	"192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "100.100.100.200", "168.63.129.16",
	"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]",
	"[64:ff9b::7f00:1]", "[64:ff9b::10.0.0.1]", "[2002:7f00:1::]", "[2002:a00:1::]", "[2001:db8::1]", "[2001::1]", "[fec0::1]", "[100::1]",
	"at-127-0-0-1.test", "at-10-0-0-1.test", "at-169-254-169-254.test", "at-192-168-1-1.test", "turns-127-0-0-1.test", "turns-10-0-0-1.test",
	"router.local", "db.internal", "printer.home.arpa", "intranet", "127.0.0.1.", "①②⑦.0.0.1", "１２７.0.0.1",
}

// vectors asks for what must not be reached in every way.
func (t taking) vectors() error {
	tried := 0
	for _, host := range refusedHosts {
		for _, c := range []struct {
			tool string
			args map[string]any
		}{
			{"web_fetch", map[string]any{"url": "http://" + host + "/"}},
			{"web_fetch", map[string]any{"url": "http://" + host + ":8080/"}},
			{"web_fetch", map[string]any{"url": "http://docs.test/to/" + host + "/"}},
			{"download", map[string]any{"url": "http://" + host + "/", "path": "x"}},
			{"download", map[string]any{"url": "http://docs.test/to/" + host + "/", "path": "x"}},
		} {
			a, err := t.u.Use(c.tool, c.args)
			if err != nil {
				return err
			}
			tried++
			if !a.Failed && !strings.HasPrefix(host, "turns-") {
				return fmt.Errorf("%s %v: %s", c.tool, c.args, harness.Brief(a.Text))
			}
		}
	}
	rendered := "not tried: no Chromium"
	a, err := t.u.Use("web_fetch", map[string]any{"url": "http://docs.test:8080/ways", "render": "always"})
	if err != nil {
		return err
	}
	switch {
	case strings.Contains(a.Text, "the scripts have run"):
		rendered = "tried"
	case t.env.Full():
		return fmt.Errorf("the browser: %s", harness.Brief(a.Text))
	}
	if a, err := t.u.Use("web_fetch", map[string]any{"url": "http://docs.test/article"}); err != nil || a.Failed {
		return fmt.Errorf("a public host was not read: %s, %v", harness.Brief(a.Text), err)
	}
	t.site.mu.Lock()
	defer t.site.mu.Unlock()
	fmt.Printf("addresses: %d requests for %d hosts, %d connections to them; by the browser: %s\n", tried, len(refusedHosts), len(t.site.reached), rendered)
	if len(t.site.reached) > 0 {
		return fmt.Errorf("connections to %q", t.site.reached)
	}
	return nil
}

// hostile reads from servers that want to do harm.
func (t taking) hostile() error {
	pid := t.u.Cmd.Process.Pid
	before := harness.Resident(pid)
	var mu sync.Mutex
	var errs []error
	var wg sync.WaitGroup
	try := func(name, want string, most time.Duration) {
		begin := time.Now()
		a, err := t.u.Use("web_fetch", map[string]any{"url": "http://docs.test/hostile/" + name})
		took := time.Since(begin)
		mu.Lock()
		defer mu.Unlock()
		fmt.Printf("hostile %s: %.1f s, %.160s\n", name, took.Seconds(), a.Text)
		if err != nil || !strings.Contains(a.Text, want) || took > most+time.Second {
			errs = append(errs, fmt.Errorf("%s: %v after %v, want %q: %s", name, err, took, want, harness.Brief(a.Text)))
		}
	}
	for _, slow := range []string{"header", "drip"} {
		wg.Go(func() { try(slow, "no end after 30", 30*time.Second) })
	}
	for _, c := range [][2]string{
		{"loop", "redirect loop"}, {"headers", "the headers have more than"}, {"endless", "more than 10"}, {"10GB", "more than 10"}, {"short", "ends after"},
		{"charset", "café"}, {"gzip", "times its size"}, {"br", "times its size"}, {"zstd", "times its size"},
	} {
		try(c[0], c[1], 10*time.Second)
	}
	wg.Wait()
	peak, err := harness.PeakResident(pid)
	fmt.Printf("memory: %.1f MB before, at most %.1f MB\n", before, peak)
	if t.env.Full() && peak-before > 32 {
		errs = append(errs, fmt.Errorf("memory has grown by %.1f MB", peak-before))
	}
	return errors.Join(append(errs, err)...)
}

// services asks the services for pages on good and bad days.
func (t taking) services() error {
	var errs []error
	const within = 3 * time.Second
	tries := 1
	if !t.env.Full() { // it shares the machine with other figures: the best of three counts
		tries = 3
	}
	for _, c := range []struct{ day, word string }{
		{"key", "key refused"}, {"many", "rate limited"}, {"down", "unavailable"}, {"html", "unreadable"}, {"half", "unreadable"}, {"nothing", "unreadable"}, {"none", "no results"},
		{"one slow", "timeout"}, {"good", "ok, 1"},
	} {
		t.site.mu.Lock()
		t.site.day = c.day
		t.site.mu.Unlock()
		var a harness.Answer
		var took time.Duration
		for range tries {
			begin := time.Now()
			var err error
			if a, err = t.u.Use("web_search", map[string]any{"query": c.day, "backends": []string{"brave", "tavily", "exa", "serper"}}); err != nil {
				return err
			}
			if took = time.Since(begin); took <= within {
				break
			}
		}
		for _, name := range []string{"brave", "tavily", "exa", "serper"} {
			want := name + ": " + c.word
			if c.day == "one slow" && name != "tavily" {
				want = name + ": ok, 1"
			}
			if !strings.Contains(a.Text, want) {
				errs = append(errs, fmt.Errorf("%s: want %q: %s", c.day, want, harness.Brief(a.Text)))
			}
		}
		if took > within {
			errs = append(errs, fmt.Errorf("%s took %v", c.day, took))
		}
		fmt.Printf("services, %s: %.1f s\n", c.day, took.Seconds())
	}
	return errors.Join(errs...)
}

// table reads the pages of the table, at full size beside the peers.
func (t taking) table(ctx context.Context) error {
	right, err := readTable("toolcrib", t.u, "web_fetch", t.ready)
	if err != nil {
		return err
	}
	if right < len(table) {
		return fmt.Errorf("%d of %d pages are right", right, len(table))
	}
	if !t.env.Full() {
		return nil
	}
	for _, p := range peers {
		main, err := mainOf(filepath.Join(t.env.Cache, "webpeers", "node_modules", p.name))
		if err != nil {
			return err
		}
		begin := time.Now()
		u, err := harness.UseTools(ctx, harness.Program{Name: p.name, Args: []string{"node", main}})
		if err != nil {
			return err
		}
		ready := time.Since(begin)
		tool, err := fetcher(u)
		if err != nil {
			return err
		}
		if _, err := readTable(p.name, u, tool, ready); err != nil {
			return err
		}
		_ = u.Close() // it has answered
	}
	return nil
}

var program = regexp.MustCompile(`"bin":\s*(?:"([^"]+)"|\{[^}]*?:\s*"([^"]+)")`)

// mainOf returns the program of a package.
func mainOf(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return "", err
	}
	m := program.FindSubmatch(data)
	if m == nil {
		return "", fmt.Errorf("%s has no program", dir)
	}
	return filepath.Join(dir, string(m[1])+string(m[2])), nil
}

var toolName = regexp.MustCompile(`"name":\s*"([a-zA-Z_]*(?i:fetch)[a-zA-Z_]*)"`)

// fetcher returns the tool of a peer that makes Markdown of a page, or else the one that fetches.
func fetcher(u *harness.ToolUser) (string, error) {
	m, err := u.Call(int(u.Last.Add(1)), "tools/list", map[string]any{})
	if err != nil {
		return "", err
	}
	var names []string
	for _, found := range toolName.FindAllSubmatch(m.Result, -1) {
		names = append(names, string(found[1]))
	}
	if len(names) == 0 {
		return "", fmt.Errorf("no tool fetches: %.300s", m.Result)
	}
	if i := slices.IndexFunc(names, func(n string) bool { return strings.Contains(n, "markdown") }); i >= 0 {
		return names[i], nil
	}
	return names[0], nil
}

// readTable has a server read each page, and prints how it did.
func readTable(name string, u *harness.ToolUser, tool string, ready time.Duration) (right int, err error) {
	var times []time.Duration
	var wrong []string
	size := 0
	for _, row := range table {
		a, err := u.Use(tool, map[string]any{"url": "http://docs.test" + row.path})
		if err != nil {
			return right, fmt.Errorf("%s %s: %w", name, row.path, err)
		}
		times = append(times, time.Duration(u.Took.Load()))
		size += len(a.Text)
		if row.judge(a) {
			right++
		} else {
			wrong = append(wrong, row.path)
		}
	}
	fmt.Printf("%s: %d of %d pages right; ready after %.0f ms, %.1f ms and %d bytes a page; wrong: %s\n",
		name, right, len(table), harness.Milliseconds(ready), harness.Milliseconds(harness.Median(times)), size/len(table), strings.Join(wrong, " "))
	return right, nil
}
