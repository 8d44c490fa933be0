package outbound_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"toolcrib/tools/outbound"
)

// refusedHosts must never be reached: loopback, private and reserved addresses in every form
// that some resolver accepts, names of this machine, and texts that parsers read differently.
const refusedHosts = `
	127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0x7F.1 0177.0.0.1 017700000001 0 0.0.0.0 0x0 00.0.0.0 127.0.0.1.
	127.127.127.127 127.000.000.001 127.0.0.1.. 4294967295 0xffffffff localhost LOCALHOST localhost. a.localhost
	[::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [0000::ffff:a9fe:a9fe] [::8.8.8.8]
	[64:ff9b::7f00:1] [64:ff9b::a9fe:a9fe] [64:ff9b::10.0.0.1] [64:ff9b:1::a00:1] [2002:7f00:1::] [2002:a9fe:a9fe::1] [2002:808:808::1]
	[2001:0:4136:e378:8000:63bf:3fff:fdd2] [2001::1] [fe80::1%25eth0] [fe80::1%eth0] [fe80::1] [2606:4700::1%25eth0] [fc00::1] [fd00:ec2::254]
	[fd20:ce::254] [ff02::1] [ff0e::1] [fec0::1] [2001:db8::1] [::ffff:0:127.0.0.1] [100::1] [2600:1900::5efe:7f00:1]
	[2600:1900::200:5efe:a00:1] [fd00:c1::a9fe:a9fe] [fd00:42::42] [fd00:a9fe:a9fe::1] [fd00:100::100:200] [3fff::1] [5f00::1] [4000::1]
	169.254.169.254 169.254.170.2 2852039166 0xa9fea9fe 0251.0376.0251.0376 100.100.100.200 100.64.0.1 168.63.129.16
	192.0.0.192 192.0.2.1 198.51.100.7 203.0.113.9 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 198.18.0.1 198.19.255.255
	224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 192.88.99.1 0.1.2.3
	metadata.google.internal printer.local router.home.arpa x.localdomain
	user@127.0.0.1 example.com@127.0.0.1 127.0.0.1@example.com user:pass@example.com example.com%40127.0.0.1 example.com\@127.0.0.1
	127.0.0.1\.example.com [::1]:80@example.com example.com:80:22 example.com:99999 example.com:-1 example.com:+80 example.com:0
	example.com%00 example.com%2f 127.0.0.1%00.example.com
	①②⑦.⓪.⓪.① 127。0。0。1 １２７.0.0.1 ⓛocalhost ＬＯＣＡＬＨＯＳＴ ⑩.0.0.1 ①⓪．⓪．⓪．① 0ₓ7f.1 -a.example.com a..example.com [127.0.0.1] [example.com] ::1 .example.com
	loop.test metadata.test nat64.test mapped.test private.test mixed.test zero.test six.test own6.test`

// refusedURLs are no URL of the web, or hide one.
const refusedURLs = `http:\\127.0.0.1 http:127.0.0.1 http:///127.0.0.1 //127.0.0.1 http://:80/ http:// https://
	file:///etc/passwd ftp://example.com/ gopher://127.0.0.1:70/ dict://127.0.0.1:11211/ unix:///var/run/docker.sock
	http+unix://%2fvar%2frun%2fdocker.sock/ data:text/plain,x javascript:1 jar:http://example.com!/ ldap://127.0.0.1 ws://example.com/
	ht|tp://example.com http://exa|mple.com/ http://example.com|x/ http://%31%32%37.0.0.1/ http://a%2eb@127.0.0.1/`

const allowedHosts = `ok.test OK.TEST ok.test. ok.test:8443 8.8.8.8 [2606:4700:4700::1111] [::ffff:8.8.8.8] [64:ff9b::808:808]
	1.1.1.1.ok.test xn--nxasmq6b.ok.test a_b.ok.test 0x7f.ok.test bücher.test ＯＫ.test 例え.テスト`

var answers = map[string]string{
	"loop.test": "127.0.0.1", "metadata.test": "169.254.169.254", "nat64.test": "64:ff9b::7f00:1",
	"mapped.test": "::ffff:10.0.0.1", "private.test": "192.168.0.5", "mixed.test": "8.8.8.8 10.0.0.1",
	"zero.test": "0.0.0.0", "six.test": "::1", "own6.test": "2606:4700:4700::1111 fe80::1",
}

// vectors returns whole URLs of the lists; | in refusedURLs are blanks and control characters.
func vectors() (refused, allowed []string) {
	for host := range strings.FieldsSeq(refusedHosts) {
		refused = append(refused, "http://"+host+"/x", "https://"+host+"/x")
	}
	for text := range strings.FieldsSeq(refusedURLs) {
		if strings.Contains(text, "|") {
			for _, c := range []string{" ", "\t", "\r\n", "\x00", "\u00ad"} {
				if c == "\u00ad" && !strings.HasPrefix(text, "ht|") { // a soft hyphen in a name is left out, as DNS wants
					continue
				}
				refused = append(refused, strings.ReplaceAll(text, "|", c))
			}
			continue
		}
		refused = append(refused, text)
	}
	for host := range strings.FieldsSeq(allowedHosts) {
		allowed = append(allowed, "http://"+host+"/x?y=127.0.0.1#@127.0.0.1/")
	}
	return refused, append(allowed, "http://example.com#@127.0.0.1/", "HTTP://example.com/")
}

// TestVectors asks for each URL as it is, by a redirect, and by way of a proxy. Nothing that
// must be refused may be dialled.
func TestVectors(t *testing.T) {
	refused, allowed := vectors()
	t.Logf("%d URLs to refuse, %d to reach", len(refused), len(allowed))
	to := ""
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/redirect" {
			w.Header()["Location"] = []string{to}
			w.WriteHeader(http.StatusFound)
			return
		}
		hello(w, r)
	}, outbound.Options{})
	w.answers = answers
	ways := map[string]func(string) outbound.Request{
		"direct": func(u string) outbound.Request { return outbound.Request{URL: u, Tries: 1} },
		"redirect": func(u string) outbound.Request {
			to = u
			return outbound.Request{URL: "http://start.test/redirect", Tries: 1}
		},
	}
	for name, request := range ways {
		t.Run(name, func(t *testing.T) {
			for _, u := range refused {
				if name == "redirect" && strings.ContainsAny(u, "\r\n\x00") { // no server can send it
					continue
				}
				_, _, err := w.ask(request(u))
				if got := code(t, err); got != "denied" && got != "invalid_argument" {
					t.Errorf("%q: %v", u, err)
				}
			}
			for _, at := range w.dials() {
				if at != "8.8.8.8:80" {
					t.Errorf("%s was dialled", at)
				}
			}
			for _, u := range allowed {
				if _, got, err := w.ask(request(u)); got != "hello" {
					t.Errorf("%q: %s, %v", u, got, err)
				}
			}
			w.dials()
		})
	}
	for _, name := range w.looked {
		if strings.HasSuffix(name, "localhost") || strings.HasSuffix(name, ".internal") {
			t.Errorf("%s was resolved", name)
		}
	}
}

// TestRebinding has a name answer with a public address first and with a private one ever
// after: what was judged is what is dialled.
func TestRebinding(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		hello(w, r)
	}, outbound.Options{})
	w.answers["flip.test"] = "8.8.8.8 then 127.0.0.1"
	if _, got, err := w.ask(outbound.Request{URL: "http://flip.test/"}); got != "hello" {
		t.Fatal(err)
	}
	for range 3 {
		_, _, err := w.ask(outbound.Request{URL: "http://flip.test/"})
		if code(t, err) != "denied" || !strings.Contains(err.Error(), "127.0.0.1 is private") {
			t.Errorf("after the answer changed: %v", err)
		}
	}
	if got := strings.Join(w.dials(), " "); got != "8.8.8.8:80" {
		t.Errorf("dialled: %s", got)
	}
}

// TestPrivate allows private hosts by the configuration, and no others.
func TestPrivate(t *testing.T) {
	w := newWorld(t, hello, outbound.Options{Rules: outbound.Rules{
		Private: []string{"nas.local", "10.1.0.0/16", "192.168.0.5:8080", "*.corp.test"}, Settings: "web",
	}})
	w.answers = map[string]string{"nas.local": "192.168.9.9", "a.corp.test": "10.9.9.9", "bad.corp.test": "169.254.169.254", "in.test": "10.1.2.3", "out.test": "10.2.2.3"}
	for u, want := range map[string]string{
		"http://nas.local/": "", "http://10.1.2.3/": "", "http://192.168.0.5:8080/": "", "http://a.corp.test/": "", "http://in.test/": "",
		"http://192.168.0.5/": "denied", "http://10.2.0.1/": "denied", "http://bad.corp.test/": "denied", "http://out.test/": "denied", "http://x.local/": "denied",
		"http://[fd00::1]/": "denied",
	} {
		_, _, err := w.ask(outbound.Request{URL: u})
		if got := code(t, err); string(got) != want {
			t.Errorf("%s: %v", u, err)
		}
		host := strings.TrimSuffix(strings.TrimPrefix(u, "http://"), "/") + ":80"
		if strings.HasPrefix(host, "[") {
			host = `"` + host + `"`
		}
		if want != "" && !strings.Contains(err.Error(), "web_private: ["+host+"] in the configuration allows it") {
			t.Errorf("%s does not name the setting: %v", u, err)
		}
	}
}

// TestTo reaches the hosts of the configuration on this machine, and no others of it.
func TestTo(t *testing.T) {
	serve := func() string {
		server := httptest.NewServer(http.HandlerFunc(hello))
		t.Cleanup(server.Close)
		return server.URL
	}
	ours, other := serve(), serve()
	byName := strings.Replace(ours, "127.0.0.1", "localhost", 1)
	client, err := outbound.To(ours, byName)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	w := &world{t: t, client: client}
	for _, u := range []string{ours, byName} {
		if _, got, err := w.ask(outbound.Request{URL: u, Timeout: -1}); got != "hello" {
			t.Errorf("%s: %v", u, err)
		}
	}
	if _, _, err := w.ask(outbound.Request{URL: other, Tries: 1}); code(t, err) != "denied" {
		t.Errorf("%s: %v", other, err)
	}
	if _, err := outbound.To("http://a b/"); err == nil {
		t.Error("no URL is accepted")
	}
}

// TestUnmapped dials an IPv4 address that is written as IPv6 as what it is.
func TestUnmapped(t *testing.T) {
	w := newWorld(t, hello, outbound.Options{})
	w.answers["mapped.test"] = "::ffff:8.8.4.4"
	if _, _, err := w.ask(outbound.Request{URL: "http://mapped.test/"}); err != nil {
		t.Fatal(err)
	}
	if got := w.dials(); len(got) != 1 || netip.MustParseAddrPort(got[0]).Addr() != netip.MustParseAddr("8.8.4.4") {
		t.Errorf("dialled: %q", got)
	}
}
