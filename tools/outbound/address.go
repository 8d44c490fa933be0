package outbound

import (
	"net"
	"net/netip"
)

// notPublic are the addresses that no public name should have: those of the registries of
// special addresses (RFC 6890 and its successors), and those where a cloud answers its own
// machines.
var notPublic = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"168.63.129.16/32",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// Only one eighth of IPv6 is assigned. Other networks are embedded in it too.
var (
	given      = netip.MustParsePrefix("2000::/3")
	translated = netip.MustParsePrefix("64:ff9b::/96") // NAT64 of RFC 6052, with an IPv4 address at the end
)

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

// isPublic reports whether an address belongs to the public network.
func isPublic(a netip.Addr) bool {
	if a.Zone() != "" || !a.IsValid() {
		return false
	}
	a = a.Unmap()
	if a.Is6() {
		if translated.Contains(a) {
			return isPublic(embedded(a))
		}
		if !given.Contains(a) || hasISATAP(a) && !isPublic(embedded(a)) {
			return false
		}
	}
	for _, p := range notPublic {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// embedded returns the IPv4 address in the last four bytes of an IPv6 address.
func embedded(a netip.Addr) netip.Addr {
	b := a.As16()
	return netip.AddrFrom4([4]byte(b[12:]))
}

// hasISATAP reports whether the interface identifier has the form of RFC 5214, whose last
// four bytes are the destination of the packet.
func hasISATAP(a netip.Addr) bool {
	b := a.As16()
	return b[8]&^0x03 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

// neverByName reports whether an address can be allowed only as an address. A name that
// resolves to it is an attack rather than a configuration.
func neverByName(a netip.Addr) bool {
	a = a.Unmap()
	return !a.IsValid() || a.Zone() != "" || a.IsUnspecified() || a.IsMulticast() || a.IsLinkLocalUnicast() ||
		cloudAddresses[a]
}

var cloudAddresses = map[netip.Addr]bool{
	netip.MustParseAddr("100.100.100.200"):    true, // Alibaba
	netip.MustParseAddr("168.63.129.16"):      true, // Azure
	netip.MustParseAddr("192.0.0.192"):        true, // Oracle
	netip.MustParseAddr("fd00:ec2::254"):      true, // Amazon
	netip.MustParseAddr("fd20:ce::254"):       true, // Google
	netip.MustParseAddr("fd00:c1::a9fe:a9fe"): true, // Oracle
	netip.MustParseAddr("fd00:42::42"):        true, // Scaleway
	netip.MustParseAddr("fd00:a9fe:a9fe::1"):  true, // Akamai
	netip.MustParseAddr("fd00:100::100:200"):  true, // Alibaba
}

// isOwn reports whether an address belongs to this machine. Its services may listen on each
// of its addresses.
func isOwn(a netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	a = a.Unmap()
	for _, one := range all {
		if p, ok := one.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(p.IP); ok && ip.Unmap() == a {
				return true
			}
		}
	}
	return false
}
