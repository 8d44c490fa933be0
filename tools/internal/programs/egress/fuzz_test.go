package egress

import (
	"bytes"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
)

// FuzzTarget reads what programs may send as a host: what comes out is a name that can be
// no address to any resolver, or an address in its one form.
func FuzzTarget(f *testing.F) {
	for _, seed := range []string{"a.test:80", "[::1]:80", "127.0.0.1:80", "0x7f.1:80", "127.1:443", "a@b:1", "[fe80::1%eth0]:1", "①.test:1", ":80", "[::]", "a:b:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseTarget(text)
		if err != nil {
			return
		}
		if got.port == 0 || (got.name == "") == !got.addr.IsValid() {
			t.Fatalf("%q: %+v", text, got)
		}
		if got.name != "" {
			if ip := net.ParseIP(got.name); ip != nil || strings.Trim(got.name, "0123456789.") == "" || strings.ContainsAny(got.name, "%@:/\\[] \x00") {
				t.Fatalf("%q is taken for the name %q", text, got.name)
			}
		}
		again, err := parseTarget(got.String())
		if err != nil || again != got {
			t.Fatalf("%q: %+v, then %+v, %v", text, got, again, err)
		}
	})
}

// FuzzRule reads entries of the configuration: none names a private address without
// saying so.
func FuzzRule(f *testing.F) {
	for _, seed := range []string{"a.test", "*.a.test:80", "10.0.0.0/8", "*", "*:80", "[::1]:80", "::1", "fe80::1%x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRule(text)
		if err != nil {
			return
		}
		set := 0
		for _, is := range []bool{r.any, r.name != "", r.prefix.IsValid()} {
			if is {
				set++
			}
		}
		if set != 1 {
			t.Fatalf("%q: %+v", text, r)
		}
		r.names(target{name: "a.test", port: 80})
		r.names(target{addr: netip.MustParseAddr("10.0.0.1"), port: 80})
	})
}

// FuzzSOCKS reads a request of a program that has shown its pass.
func FuzzSOCKS(f *testing.F) {
	f.Add([]byte{5, 1, 0, 1, 8, 8, 8, 8, 0, 80})
	f.Add([]byte{5, 1, 0, 3, 6, 'a', '.', 't', 'e', 's', 't', 0, 80})
	f.Add(append([]byte{5, 1, 0, 4}, make([]byte, 18)...))
	f.Add([]byte{5, 2, 0, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, code, err := readSOCKS(bytes.NewReader(data))
		if err == nil && (code != 0 || got.port == 0 || (got.name == "") == !got.addr.IsValid()) {
			t.Fatalf("%+v, %d", got, code)
		}
		g := new(Proxy).Gate()
		if pass, _ := greet(struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(data), io.Discard}, g); pass != nil {
			t.Fatal("a pass for nothing")
		}
	})
}

// FuzzAddress checks that no address is public that the standard library knows as private.
func FuzzAddress(f *testing.F) {
	f.Add([]byte{127, 0, 0, 1})
	f.Add(netip.MustParseAddr("64:ff9b::7f00:1").AsSlice())
	f.Add(netip.MustParseAddr("2600::5efe:a00:1").AsSlice())
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, ok := netip.AddrFromSlice(raw)
		if !ok || !isPublic(a) {
			return
		}
		for _, one := range []netip.Addr{a, a.Unmap()} {
			if one.IsLoopback() || one.IsPrivate() || one.IsLinkLocalUnicast() || one.IsMulticast() || one.IsUnspecified() || !one.IsGlobalUnicast() {
				t.Fatalf("%s is taken for public", one)
			}
		}
		if neverByName(a) {
			t.Fatalf("%s is public and never allowed", a)
		}
	})
}
