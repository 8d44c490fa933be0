package egress

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// target is the host and port that a program asks for.
type target struct {
	name string     // lower case, without a dot at the end; "" = addr is set
	addr netip.Addr // zero = name is set
	port uint16
}

func (t target) String() string {
	return net.JoinHostPort(t.host(), strconv.Itoa(int(t.port)))
}

func (t target) host() string {
	if t.name != "" {
		return t.name
	}
	return t.addr.String()
}

var (
	errPort = errors.New("a host and a port between 1 and 65535 are needed, such as example.com:443")
	errName = errors.New("it is not the name of a host")
	errZone = errors.New("an address with a zone is one of this machine's links")
)

// parseTarget parses the HOST:PORT of a CONNECT request.
func parseTarget(text string) (target, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return target{}, errPort
	}
	if strings.HasPrefix(text, "[") != strings.Contains(host, ":") {
		return target{}, errName
	}
	n, err := parsePort(port)
	if err != nil {
		return target{}, err
	}
	return newTarget(host, n)
}

func parsePort(text string) (uint16, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || text[0] == '+' {
		return 0, errPort
	}
	return uint16(n), nil
}

// newTarget accepts a name or an address in its usual form. It refuses other forms of
// addresses, which resolvers accept too: only attacks use them.
func newTarget(host string, port uint16) (target, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return target{}, errZone
		}
		return target{addr: addr.Unmap(), port: port}, nil
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if !isName(name) {
		return target{}, errName
	}
	return target{name: name, port: port}, nil
}

// isName reports whether text is the name of a host, in ASCII and lower case. The last
// label of a name is no number.
func isName(text string) bool {
	if text == "" || len(text) > 253 {
		return false
	}
	labels := strings.Split(text, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			c := label[i]
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	return !isNumber(labels[len(labels)-1])
}

func isNumber(label string) bool {
	if strings.Trim(label, "0123456789") == "" {
		return true
	}
	rest, hex := strings.CutPrefix(label, "0x")
	return hex && strings.Trim(rest, "0123456789abcdef") == ""
}

// isLocalName reports whether a name belongs to this machine or its site, regardless of its
// addresses.
func isLocalName(name string) bool {
	for _, top := range [...]string{"localhost", "local", "internal", "home.arpa", "localdomain"} {
		if name == top || strings.HasSuffix(name, "."+top) {
			return true
		}
	}
	return false
}
