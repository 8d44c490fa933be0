package outbound

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Rules say which hosts may be reached. With the zero value, these are all public ones.
type Rules struct {
	// Hosts are the only hosts that may be reached: "example.com", "*.example.com" (all
	// below it), "example.com:443", an address or a prefix of addresses. Empty = all.
	Hosts []string
	// Private are hosts that may be reached although their addresses are private, in the
	// same forms; "*" = all. A name does not allow link-local addresses, which serve the
	// metadata of clouds: they must be given as addresses.
	Private []string
	// Settings is what the names of the settings for Hosts and Private begin with, for
	// refusals: "network" for network_hosts and network_private.
	Settings string
	// Search resolves names as other programs of the machine do, with its search list. It is
	// for hosts that the configuration names; elsewhere the list would name another host.
	Search bool
	// Proxy returns the machine's proxy for a request, nil = none. If Proxy is nil, the
	// variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY of this process decide.
	Proxy func(*http.Request) (*url.URL, error)
	// Lookup resolves a name; nil = the resolver of the machine.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	// Dial connects to an address; nil = over TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

// Guard decides which hosts may be reached, and connects to them. It does not change, and
// several goroutines may call its methods.
type Guard struct {
	rules   Rules
	hosts   []rule
	private []rule
}

// NewGuard returns the guard of these rules.
func NewGuard(rules Rules) (*Guard, error) {
	g := &Guard{rules: rules}
	for _, text := range rules.Hosts {
		r, err := parseRule(text)
		if err != nil {
			return nil, fmt.Errorf("hosts of the network: %w", err)
		}
		if r.prefix.IsValid() && !isPublic(r.prefix.Addr()) {
			return nil, fmt.Errorf("hosts of the network: %q is private; it must be named among the private hosts", text)
		}
		g.hosts = append(g.hosts, r)
	}
	for _, text := range rules.Private {
		r, err := parseRule(text)
		if err != nil {
			return nil, fmt.Errorf("private hosts of the network: %w", err)
		}
		g.private = append(g.private, r)
	}
	if g.rules.Proxy == nil {
		g.rules.Proxy = http.ProxyFromEnvironment
	}
	if g.rules.Lookup == nil {
		g.rules.Lookup = func(ctx context.Context, name string) ([]netip.Addr, error) {
			if !rules.Search && strings.Contains(name, ".") { // others, such as localhost, are found only without the dot
				name += "."
			}
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		}
	}
	if g.rules.Dial == nil {
		dialer := net.Dialer{}
		g.rules.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", address)
		}
	}
	return g, nil
}

// Also returns a guard that lets these private hosts through too, each a name or an address
// with a port.
func (g *Guard) Also(hosts []string) *Guard {
	more := *g
	for _, text := range hosts {
		if r, err := parseRule(text); err == nil {
			more.private = append(slices.Clip(more.private), r)
		}
	}
	return &more
}

// Bounds describes in a few words which hosts may be reached.
func (g *Guard) Bounds() string {
	switch {
	case len(g.hosts) == 0 && len(g.private) == 0:
		return "public hosts"
	case len(g.hosts) == 0:
		return "public hosts and " + strings.Join(g.rules.Private, ", ")
	}
	return strings.Join(slices.Concat(g.rules.Hosts, g.rules.Private), ", ")
}

// Refusal is the reason why a host may not be reached.
type Refusal struct {
	Host string // with its port
	Why  string
	Ask  bool // the user may allow it for a session, see Grant
}

func (r *Refusal) Error() string { return r.Why }

func refusedf(format string, args ...any) error { return &Refusal{Why: fmt.Sprintf(format, args...)} }

// Check returns why a host may not be asked for as a *Refusal, nil = it may. It does not
// check the addresses of a name: Connect does.
func (g *Guard) Check(t Target) error { return g.check(t, false) }

// check is Check. agreed says that the host may be private.
func (g *Guard) check(t Target, agreed bool) error {
	if t.Addr.IsValid() {
		if why := g.checkAddress(t, t.Addr, agreed); why != nil {
			return why
		}
	}
	if agreed || g.privately(t) {
		return nil
	}
	if isLocalName(t.Name) {
		return g.privateHost(t, "it is a name of this machine or its network", len(g.hosts) == 0)
	}
	for _, r := range g.hosts {
		if r.names(t) {
			return nil
		}
	}
	if len(g.hosts) > 0 {
		return refusedf("it is not one of %s_hosts in the configuration (%s)", g.rules.Settings, shortened(g.rules.Hosts))
	}
	return nil
}

// privateHost returns the refusal of a host with a private address, and names the setting
// that allows it. ask reports whether the user may allow it for a session.
func (g *Guard) privateHost(t Target, why string, ask bool) error {
	if g.rules.Settings != "" {
		entry := t.String()
		if strings.Count(entry, ":") > 1 { // YAML reads an IPv6 address as something else
			entry = strconv.Quote(entry)
		}
		why += fmt.Sprintf("; %s_private: [%s] in the configuration allows it", g.rules.Settings, entry)
	}
	return &Refusal{Host: t.String(), Why: why, Ask: ask}
}

// privately reports whether the configuration allows private addresses for the host.
func (g *Guard) privately(t Target) bool {
	for _, r := range g.private {
		if r.names(t) {
			return true
		}
	}
	return false
}

// checkAddress returns why a host may not be reached at one of its addresses, nil = it may.
func (g *Guard) checkAddress(t Target, a netip.Addr, agreed bool) error {
	a = a.Unmap()
	if isPublic(a) && !isOwn(a) {
		return nil
	}
	for _, r := range g.private {
		if r.prefix.IsValid() && r.prefix.Contains(a) && (r.port == 0 || r.port == t.Port) {
			return nil
		}
	}
	if !neverByName(a) && (agreed || g.privately(t)) {
		return nil
	}
	if t.Addr.IsValid() {
		return g.privateHost(t, "the address is private", !neverByName(a) && len(g.hosts) == 0)
	}
	return g.privateHost(t, fmt.Sprintf("its address %s is private", a), !neverByName(a))
}

func shortened(names []string) string {
	const most = 8
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " ..."
	}
	return strings.Join(names, ", ")
}

// rule is one entry of a list of hosts.
type rule struct {
	any    bool         // "*"
	name   string       // "" = the rule is about addresses
	below  bool         // all names below name, and not name itself
	prefix netip.Prefix // zero = the rule is about names
	port   uint16       // 0 = every port
}

// parseRule parses "example.com", "*.example.com", an address, each of these with or without
// a port, or a prefix such as "10.0.0.0/8".
func parseRule(text string) (rule, error) {
	if text == "*" {
		return rule{any: true}, nil
	}
	if prefix, err := netip.ParsePrefix(text); err == nil {
		if prefix != prefix.Masked() {
			return rule{}, fmt.Errorf("%q: the network is %s", text, prefix.Masked())
		}
		return rule{prefix: prefix}, nil
	}
	if addr, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return rule{prefix: onlyAddress(addr)}, nil
	}
	if strings.Contains(text, "://") {
		return rule{}, fmt.Errorf("%q is a URL; give a host, such as example.com or example.com:443", text)
	}
	host, port, r := text, "", rule{}
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		host, port = text[:i], text[i+1:]
		n, err := parsePort(port)
		if err != nil {
			return rule{}, fmt.Errorf("%q: the port must be a number between 1 and 65535", text)
		}
		r.port = n
	}
	if host == "*" {
		r.any = true
		return r, nil
	}
	host, r.below = strings.CutPrefix(host, "*.")
	t, err := NewTarget(strings.Trim(host, "[]"), r.port)
	switch {
	case err != nil || r.below && t.Name == "":
		return rule{}, fmt.Errorf("%q is not a host; hosts are written example.com, *.example.com, example.com:443, 10.0.0.5 or 10.0.0.0/8", text)
	case t.Name == "":
		r.prefix = onlyAddress(t.Addr)
	default:
		r.name = t.Name
	}
	return r, nil
}

func onlyAddress(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	return netip.PrefixFrom(a, a.BitLen())
}

// names reports whether the rule is about the host that a program named.
func (r rule) names(t Target) bool {
	switch {
	case r.port != 0 && r.port != t.Port:
		return false
	case r.any:
		return true
	case r.prefix.IsValid():
		return t.Addr.IsValid() && r.prefix.Contains(t.Addr)
	case r.below:
		return strings.HasSuffix(t.Name, "."+r.name)
	default:
		return t.Name == r.name
	}
}
