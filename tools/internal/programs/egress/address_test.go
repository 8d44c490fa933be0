package egress_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"toolcrib/tools/internal/programs/egress"
)

// TestVectors asks the proxy for each host as a program would, by CONNECT, by a plain
// request and by SOCKS. Nothing that must be refused may reach the dialler.
func TestVectors(t *testing.T) {
	refused := strings.Fields(`
		127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0177.0.0.1 017700000001 0 0.0.0.0 127.0.0.1.
		127.127.127.127 127.000.000.001 localhost LOCALHOST localhost. a.localhost
		[::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [0000::ffff:a9fe:a9fe]
		[64:ff9b::7f00:1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::a00:1] [2002:7f00:1::] [2002:a9fe:a9fe::1]
		[2001:0:4136:e378:8000:63bf:3fff:fdd2] [fe80::1%25eth0] [fe80::1%eth0] [fe80::1] [fc00::1] [fd00:ec2::254]
		[fd20:ce::254] [ff02::1] [fec0::1] [2001:db8::1] [::ffff:0:127.0.0.1] [100::1] [2600:1900::5efe:7f00:1]
		[2600:1900::200:5efe:a00:1] [fd00:c1::a9fe:a9fe] [fd00:42::42] [fd00:a9fe:a9fe::1] [fd00:100::100:200] [3fff::1]
		169.254.169.254 169.254.170.2 2852039166 0xa9fea9fe 0251.0376.0251.0376 100.100.100.200 100.64.0.1 168.63.129.16
		192.0.0.192 192.0.2.1 198.51.100.7 203.0.113.9 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 198.18.0.1
		224.0.0.1 240.0.0.1 255.255.255.255 192.88.99.1
		metadata.google.internal printer.local router.home.arpa
		user@127.0.0.1 example.com@127.0.0.1 127.0.0.1@example.com example.com%40127.0.0.1 example.com\@127.0.0.1
		127.0.0.1\.example.com [::1]:80@example.com example.com:80:22 example.com%00 example.com%2f 127.0.0.1%00.example.com
		①②⑦.⓪.⓪.① 127。0。0。1 ⓛocalhost -a.example.com a..example.com [127.0.0.1] [example.com] ::1 .example.com
		loop.test metadata.test nat64.test mapped.test private.test mixed.test`)
	allowed := strings.Fields(`ok.test OK.TEST ok.test. 8.8.8.8 [2606:4700:4700::1111] [::ffff:8.8.8.8] [64:ff9b::808:808]
		1.1.1.1.ok.test xn--nxasmq6b.ok.test a_b.ok.test 0x7f.ok.test`)
	names := map[string]string{
		"loop.test": "127.0.0.1", "metadata.test": "169.254.169.254", "nat64.test": "64:ff9b::7f00:1",
		"mapped.test": "::ffff:10.0.0.1", "private.test": "192.168.0.5", "mixed.test": "8.8.8.8 10.0.0.1",
	}
	for _, way := range []string{"connect", "plain", "socks"} {
		t.Run(way, func(t *testing.T) {
			w := newWorld(t, egress.Options{Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
				if name == "localhost" || name == "metadata.google.internal" {
					t.Errorf("%s was resolved", name)
				}
				text, ok := names[name]
				if !ok {
					text = "8.8.8.8"
				}
				var all []netip.Addr
				for one := range strings.FieldsSeq(text) {
					all = append(all, netip.MustParseAddr(one))
				}
				return all, nil
			}})
			for _, host := range refused {
				if got := w.ask(way, host); got == "reached" {
					t.Errorf("%s is let through", host)
				}
			}
			for _, host := range w.dialled {
				if a := netip.MustParseAddrPort(host).Addr(); a != netip.MustParseAddr("8.8.8.8") {
					t.Errorf("%s was dialled", host)
				}
			}
			for _, host := range allowed {
				if got := w.ask(way, host); got != "reached" {
					t.Errorf("%s: %s", host, got)
				}
			}
		})
	}
}

// ask asks for port 80 of a host, and answers "reached" or what the proxy says.
func (w *world) ask(way, host string) string {
	w.t.Helper()
	return w.askWith(w.gate.Pass(true, nil), way, host)
}

// askWith is ask with a pass, which it closes.
func (w *world) askWith(pass *egress.Pass, way, host string) string {
	w.t.Helper()
	defer pass.Close()
	return w.askOpen(pass, way, host)
}

// askOpen is askWith of a command that goes on.
func (w *world) askOpen(pass *egress.Pass, way, host string) string {
	w.t.Helper()
	conn := w.open()
	defer conn.Close()
	switch way {
	case "connect":
		fmt.Fprintf(conn, "CONNECT %s:80 HTTP/1.1\r\nHost: x\r\n%s\r\n", host, authorization(pass))
	case "plain":
		fmt.Fprintf(conn, "GET http://%s/x HTTP/1.1\r\nHost: x\r\n%s\r\n", host, authorization(pass))
	default:
		if strings.Contains(host, ":") { // brackets are those of URLs
			host = strings.Trim(host, "[]")
		}
		if err := socksTo(conn, pass, host, 80); err != nil {
			return err.Error()
		}
		return "reached"
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return "reached"
	}
	return resp.Status
}

// TestRebinding has a name answer with a public address first and with a private one ever
// after: what was looked at is what is dialled.
func TestRebinding(t *testing.T) {
	asked := 0
	w := newWorld(t, egress.Options{Lookup: func(context.Context, string) ([]netip.Addr, error) {
		asked++
		if asked == 1 {
			return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}})
	if got := w.ask("connect", "flip.test"); got != "reached" {
		t.Fatal(got)
	}
	for range 3 {
		if got := w.ask("connect", "flip.test"); !strings.Contains(got, "403") || !strings.Contains(got, "127.0.0.1 is private") {
			t.Errorf("after the answer changed: %s", got)
		}
	}
	if got := strings.Join(w.dialled, " "); got != "8.8.8.8:80" {
		t.Errorf("dialled: %s", got)
	}
}

// TestOwnAddress refuses the addresses of this machine's devices, public or not.
func TestOwnAddress(t *testing.T) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, egress.Options{})
	for _, one := range all {
		ip := one.(*net.IPNet).IP.String()
		if strings.Contains(ip, ":") {
			ip = "[" + ip + "]"
		}
		if got := w.ask("connect", ip); got == "reached" {
			t.Errorf("%s is let through", ip)
		}
	}
}
