package outbound

import (
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
		got, err := ParseTarget(text)
		if err != nil {
			return
		}
		if got.Port == 0 || (got.Name == "") == !got.Addr.IsValid() {
			t.Fatalf("%q: %+v", text, got)
		}
		if got.Name != "" {
			if ip := net.ParseIP(got.Name); ip != nil || strings.Trim(got.Name, "0123456789.") == "" || strings.ContainsAny(got.Name, "%@:/\\[] \x00") {
				t.Fatalf("%q is taken for the name %q", text, got.Name)
			}
		}
		again, err := ParseTarget(got.String())
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
		r.names(Target{Name: "a.test", Port: 80})
		r.names(Target{Addr: netip.MustParseAddr("10.0.0.1"), Port: 80})
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
