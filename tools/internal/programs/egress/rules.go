package egress

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

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
	t, err := newTarget(strings.Trim(host, "[]"), r.port)
	switch {
	case err != nil || r.below && t.name == "":
		return rule{}, fmt.Errorf("%q is not a host; hosts are written example.com, *.example.com, example.com:443, 10.0.0.5 or 10.0.0.0/8", text)
	case t.name == "":
		r.prefix = onlyAddress(t.addr)
	default:
		r.name = t.name
	}
	return r, nil
}

func onlyAddress(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	return netip.PrefixFrom(a, a.BitLen())
}

// names reports whether the rule is about the host that a program named.
func (r rule) names(t target) bool {
	switch {
	case r.port != 0 && r.port != t.port:
		return false
	case r.any:
		return true
	case r.prefix.IsValid():
		return t.addr.IsValid() && r.prefix.Contains(t.addr)
	case r.below:
		return strings.HasSuffix(t.name, "."+r.name)
	default:
		return t.name == r.name
	}
}

// policy is Options with parsed rules.
type policy struct {
	opt     Options
	hosts   []rule
	private []rule
}

// Check returns the errors of the options.
func (opt Options) Check() error {
	_, err := newPolicy(opt)
	return err
}

func newPolicy(opt Options) (*policy, error) {
	p := &policy{opt: opt}
	for _, text := range opt.Hosts {
		r, err := parseRule(text)
		if err != nil {
			return nil, fmt.Errorf("hosts of the network: %w", err)
		}
		if r.prefix.IsValid() && !isPublic(r.prefix.Addr()) {
			return nil, fmt.Errorf("hosts of the network: %q is private; it must be named among the private hosts", text)
		}
		p.hosts = append(p.hosts, r)
	}
	for _, text := range opt.Private {
		r, err := parseRule(text)
		if err != nil {
			return nil, fmt.Errorf("private hosts of the network: %w", err)
		}
		p.private = append(p.private, r)
	}
	if p.opt.Upstream == nil {
		p.opt.Upstream = http.ProxyFromEnvironment
	}
	if p.opt.Lookup == nil {
		p.opt.Lookup = func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name+".") // no search list: it would name another host
		}
	}
	if p.opt.Dial == nil {
		dialer := net.Dialer{}
		p.opt.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", address)
		}
	}
	return p, nil
}

func (p *policy) bounds() string {
	switch {
	case len(p.hosts) == 0 && len(p.private) == 0:
		return "public hosts"
	case len(p.hosts) == 0:
		return "public hosts and " + strings.Join(p.opt.Private, ", ")
	}
	return strings.Join(append(append([]string{}, p.opt.Hosts...), p.opt.Private...), ", ")
}

// checkName returns why a program may not ask for a host, nil = it may. It does not check the
// addresses of a name.
func (p *policy) checkName(t target) error {
	if t.addr.IsValid() {
		if why := p.checkAddress(t, t.addr); why != nil {
			return why
		}
	}
	if p.privately(t) {
		return nil
	}
	if isLocalName(t.name) {
		return private(t, "it is a name of this machine or its network", len(p.hosts) == 0)
	}
	for _, r := range p.hosts {
		if r.names(t) {
			return nil
		}
	}
	if len(p.hosts) > 0 {
		return refusedf("it is not one of network_hosts in the configuration (%s)", shortened(p.opt.Hosts))
	}
	return nil
}

// privately reports whether the configuration allows private addresses for the host.
func (p *policy) privately(t target) bool {
	for _, r := range p.private {
		if r.names(t) {
			return true
		}
	}
	return false
}

// checkAddress returns why a host may not be reached at one of its addresses, nil = it may.
func (p *policy) checkAddress(t target, a netip.Addr) error {
	a = a.Unmap()
	if isPublic(a) && !isOwn(a) {
		return nil
	}
	for _, r := range p.private {
		if r.prefix.IsValid() && r.prefix.Contains(a) && (r.port == 0 || r.port == t.port) {
			return nil
		}
	}
	if !neverByName(a) && p.privately(t) {
		return nil
	}
	if t.addr.IsValid() {
		return private(t, "the address is private", !neverByName(a) && len(p.hosts) == 0)
	}
	return private(t, fmt.Sprintf("its address %s is private", a), !neverByName(a))
}

// private returns the refusal of a host with a private address. ask reports whether the user
// may allow it for a session.
func private(t target, why string, ask bool) error {
	return &refused{why: fmt.Sprintf("%s; network_private: [%s] in the configuration allows it", why, t), ask: ask}
}

func shortened(names []string) string {
	const most = 8
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " ..."
	}
	return strings.Join(names, ", ")
}

// refused is the reason why a program may not reach a host.
type refused struct {
	why string
	ask bool // the user may allow it for a session
}

func (r *refused) Error() string { return r.why }

func refusedf(format string, args ...any) error { return &refused{why: fmt.Sprintf(format, args...)} }

// upstream returns the machine's proxy for a host, nil = none.
func (p *policy) upstream(scheme string, t target) (*url.URL, error) {
	return p.opt.Upstream(&http.Request{URL: &url.URL{Scheme: scheme, Host: t.String()}})
}
