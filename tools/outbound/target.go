package outbound

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Target is a host and a port.
type Target struct {
	Name string     // lower case, without a dot at the end; "" = Addr is set
	Addr netip.Addr // zero = Name is set
	Port uint16
}

// String returns HOST:PORT.
func (t Target) String() string {
	return net.JoinHostPort(t.Hostname(), strconv.Itoa(int(t.Port)))
}

// Hostname returns the name or the address.
func (t Target) Hostname() string {
	if t.Name != "" {
		return t.Name
	}
	return t.Addr.String()
}

// The errors of targets.
var (
	ErrPort = errors.New("a host and a port between 1 and 65535 are needed, such as example.com:443")
	errName = errors.New("it is not the name of a host")
	errZone = errors.New("an address with a zone is one of this machine's links")
)

// ParseTarget parses HOST:PORT.
func ParseTarget(text string) (Target, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return Target{}, ErrPort
	}
	if strings.HasPrefix(text, "[") != strings.Contains(host, ":") {
		return Target{}, errName
	}
	n, err := parsePort(port)
	if err != nil {
		return Target{}, err
	}
	return NewTarget(host, n)
}

func parsePort(text string) (uint16, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || text[0] == '+' {
		return 0, ErrPort
	}
	return uint16(n), nil
}

// NewTarget accepts a name or an address in its usual form. It refuses other forms of
// addresses, which resolvers accept too: only attacks use them.
func NewTarget(host string, port uint16) (Target, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return Target{}, errZone
		}
		return Target{Addr: addr.Unmap(), Port: port}, nil
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if !isName(name) {
		return Target{}, errName
	}
	return Target{Name: name, Port: port}, nil
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

var (
	errScheme = errors.New("it is not http or https")
	errUser   = errors.New("it has a user name or a password; send them in the header Authorization")
)

// parseURL parses an absolute URL of the web and returns it in the one form that is judged
// and sent: host in ASCII and lower case, no fragment. base, if not nil, is the URL that a
// relative one starts from.
func parseURL(text string, base *url.URL) (*url.URL, Target, error) {
	u, err := url.Parse(text)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return nil, Target{}, err
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	u.Scheme = strings.ToLower(u.Scheme)
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, Target{}, errScheme
	case u.Opaque != "" || u.Host == "":
		return nil, Target{}, errName
	case u.User != nil:
		return nil, Target{}, errUser
	}
	t, err := targetOf(u)
	if err != nil {
		return nil, Target{}, err
	}
	own := *u
	own.Fragment, own.RawFragment = "", ""
	if own.Host = t.String(); t.Port == portOf(u.Scheme) {
		own.Host = t.Hostname()
		if t.Addr.Is6() {
			own.Host = "[" + own.Host + "]"
		}
	}
	return &own, t, nil
}

func portOf(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}

func targetOf(u *url.URL) (Target, error) {
	host, port := u.Hostname(), portOf(u.Scheme)
	if text := u.Port(); text != "" {
		n, err := parsePort(text)
		if err != nil {
			return Target{}, err
		}
		port = n
	}
	if strings.HasPrefix(u.Host, "[") != strings.Contains(host, ":") {
		return Target{}, errName
	}
	// A name of other letters is judged in the form that is looked up: some of them become
	// digits and dots.
	for i := range len(host) {
		if host[i] >= 0x80 {
			ascii, err := idna.Lookup.ToASCII(host)
			if err != nil {
				return Target{}, errName
			}
			host = ascii
			break
		}
	}
	return NewTarget(host, port)
}
