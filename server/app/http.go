package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"toolcrib/server"
	"toolcrib/server/config"
	"toolcrib/server/identity"
)

// overHTTP serves clients over streamable HTTP and says on stderr where, and
// with which token.
func (p *Process) overHTTP(ctx context.Context, srv *server.Server, cfg config.Config, roots *identity.Roots) error {
	ln, err := listen(ctx, cfg)
	if err != nil {
		return err
	}
	a, err := authOf(cfg, ln.Addr())
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	fmt.Fprintf(p.Stderr, "listening on http://%s%s\n", ln.Addr(), server.Endpoint)
	if a.shown != "" {
		fmt.Fprintln(p.Stderr, a.shown)
	}
	if !server.Loopback(ln.Addr()) {
		fmt.Fprintln(p.Stderr, "toolcrib: warning: the token travels unencrypted over the network; put a proxy with TLS before the server")
	}
	return srv.ServeStreamable(ctx, ln, server.HTTP{
		Auth: a.gate, Roots: roots, Hosts: slices.Concat(cfg.AllowHosts, a.hosts), Origins: cfg.AllowOrigins,
	})
}

// listen opens the address of the configuration. Beyond this machine, it wants
// a token.
func listen(ctx context.Context, cfg config.Config) (net.Listener, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, family(cfg.HTTP), cfg.HTTP)
	if err != nil {
		return nil, config.Usagef("toolcrib serve --http=127.0.0.1:0 takes any port that is free", "--http: %w", err)
	}
	if cfg.Auth == "none" && !server.Loopback(ln.Addr()) {
		_ = ln.Close() // nobody was accepted
		return nil, openToAll(cfg)
	}
	return ln, nil
}

// openToAll refuses an address beyond this machine without a token.
func openToAll(cfg config.Config) error {
	return config.Usagef("leave --auth out, or listen on 127.0.0.1", "--http=%s can be reached from other machines, so --auth=none is refused", cfg.HTTP)
}

// beyond reports whether the text of an address says already that other machines reach
// it. Of a name only the listener knows.
func beyond(addr string) bool {
	at, err := netip.ParseAddrPort(addr)
	return err == nil && !at.Addr().IsLoopback()
}

// checkAddress refuses an address that does not say which networks are meant. name is
// that of its flag.
func checkAddress(name, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if _, bad := strconv.ParseUint(addr, 10, 16); bad == nil {
		host, port, err = "", addr, nil
	}
	switch {
	case err != nil:
		return config.Usagef("toolcrib serve --"+name+"=127.0.0.1:8080", "--%s: %q is not host:port", name, addr)
	case host == "":
		return config.Usagef(fmt.Sprintf("--%s=127.0.0.1:%s for this machine only, --%[1]s=0.0.0.0:%[2]s for every network", name, port), "--%s: %q does not say on which address to listen", name, addr)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return config.Usagef("toolcrib serve --"+name+"=127.0.0.1:8080", "--%s: %q is not a port", name, strings.TrimSpace(port))
	}
	return nil
}

// family is the network of an address: 0.0.0.0 means IPv4 alone.
func family(addr string) string {
	host, _, _ := net.SplitHostPort(addr) // checkAddress has split it
	switch ip, err := netip.ParseAddr(host); {
	case err != nil:
		return "tcp"
	case ip.Is4():
		return "tcp4"
	}
	return "tcp6"
}

// checkNames refuses hosts and origins that no request can have.
func checkNames(cfg config.Config) error {
	for _, host := range cfg.AllowHosts {
		if strings.ContainsAny(host, "/*@ ") {
			return config.Usagef("--allow-host=tools.example.com", "--allow-host: %q is not the name of a host", host)
		}
	}
	for _, origin := range cfg.AllowOrigins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme == "" || u.Host == "" || strings.Contains(u.Host, "*") || u.Scheme+"://"+u.Host != strings.TrimRight(origin, "/") {
			return config.Usagef("--allow-origin=https://app.example.com", "--allow-origin: %q is not an origin: scheme, host and port alone", origin)
		}
	}
	return nil
}
