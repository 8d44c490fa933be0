// Package inbound protects an HTTP listener: against web pages that may not call it, in
// origin.go, and against bodies that take too much memory or time, in body.go.
//
// It knows nothing of the protocol, and must not import mcp-go.
package inbound

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"toolcrib/server/wire"
)

// OriginCheck refuses requests of web pages in a browser on the same machine: by the Host
// header those to a name that was rebound to this address, by the Origin header those of
// another site. Source: the transport rules of the protocol and its security best
// practices.
type OriginCheck struct {
	loopback bool // the listener can only be reached from this machine
	hosts    []string
	origins  []string
	exposed  string // value of Access-Control-Expose-Headers
}

// NewOriginCheck makes an origin check. loopback means that the listener can only be reached from this
// machine; exposed is the header that lists which headers of an answer pages may read.
func NewOriginCheck(loopback bool, hosts, origins []string, exposed string) OriginCheck {
	return OriginCheck{loopback: loopback, hosts: lowered(hosts), origins: lowered(origins), exposed: exposed}
}

func lowered(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.ToLower(strings.TrimRight(s, "/"))
	}
	return out
}

// Refuses returns why a request must be refused, "" if it may be answered.
func (c OriginCheck) Refuses(r *http.Request) string {
	if !c.host(r.Host) {
		return "the host " + wire.Tellable(r.Host) + " is not a name of this server; --allow-host adds one"
	}
	switch origins := r.Header.Values("Origin"); {
	case len(origins) > 1:
		return "the request has several origins"
	case len(origins) == 1 && !c.origin(origins[0], r.Host):
		return "pages of the origin " + wire.Tellable(origins[0]) + " may not call this server; --allow-origin adds one"
	}
	return ""
}

// host reports whether a Host names this server. The owner of a name can rebind it to any
// address, so only known names count. An address cannot be rebound: it counts if it is a
// loopback address, or if the server listens on others too.
func (c OriginCheck) host(hostport string) bool {
	name := strings.ToLower(hostport)
	if h, port, err := net.SplitHostPort(name); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return false
		}
		name = h
	} else {
		name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	}
	if name == "localhost" || slices.Contains(c.hosts, name) || slices.Contains(c.hosts, strings.ToLower(hostport)) {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && (ip.IsLoopback() || !c.loopback)
}

// origin reports whether pages of an origin may call: those of the host that is
// called, of this machine, and those that were named.
func (c OriginCheck) origin(origin, host string) bool {
	if c.named(origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" &&
		u.Scheme+"://"+u.Host == origin && (u.Host == host || OriginCheck{loopback: true, hosts: c.hosts}.host(u.Host))
}

func (c OriginCheck) named(origin string) bool {
	return slices.Contains(c.origins, strings.ToLower(origin))
}

// Preflight adds the headers with which a browser lets a page of a named origin read an
// answer, and answers its OPTIONS request. Pages of this machine's other servers pass the
// origin check but get no such headers. That keeps them out even where no token is
// needed: a browser asks first before it sends a body of application/json, the header of a
// session or a DELETE, and a page can do nothing without one of these.
func (c OriginCheck) Preflight(w http.ResponseWriter, r *http.Request) (answered bool) {
	origin := r.Header.Get("Origin")
	if origin == "" || !c.named(origin) {
		return false
	}
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", origin)
	header.Add("Vary", "Origin")
	header.Set("Access-Control-Expose-Headers", c.exposed)
	if r.Method != http.MethodOptions {
		return false
	}
	header.Set("Access-Control-Allow-Methods", "POST, GET, DELETE")
	if wanted := r.Header.Get("Access-Control-Request-Headers"); wanted != "" {
		header.Set("Access-Control-Allow-Headers", wanted)
	}
	header.Set("Access-Control-Max-Age", "3600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
