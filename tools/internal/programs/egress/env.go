package egress

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// noProxy are the hosts that programs reach without the proxy: each other.
const noProxy = "localhost,.localhost,127.0.0.1,127.0.0.0/8,::1,0.0.0.0"

// Env returns the variables, KEY=VALUE, with which programs find the gate at a port of their
// loopback device. They contain the secret of the pass.
func (p *Pass) Env(port int) []string {
	at := (&url.URL{
		Scheme: "http", User: url.UserPassword(passUser, p.secret),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
	}).String()
	var env []string
	for _, name := range [...]string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		env = append(env, name+"="+at, strings.ToLower(name)+"="+at)
	}
	return append(env,
		"NO_PROXY="+noProxy, "no_proxy="+noProxy,
		// Programs that read other names, or these only when told to.
		"npm_config_proxy="+at, "npm_config_https_proxy="+at, "npm_config_noproxy="+noProxy,
		"YARN_HTTP_PROXY="+at, "YARN_HTTPS_PROXY="+at,
		"NODE_USE_ENV_PROXY=1",
	)
}

// Told describes the hosts that a command was refused, for the end of its output; "" = none.
func (p *Pass) Told() string {
	if p == nil {
		return ""
	}
	hosts, more := p.Refused()
	if len(hosts) == 0 {
		return ""
	}
	var b strings.Builder
	if !p.network {
		names := make([]string, len(hosts))
		for i, h := range hosts {
			names[i] = h.Host
		}
		fmt.Fprintf(&b, "the network is off; it asked for %s; network: true asks for it", shortened(names))
		return b.String()
	}
	b.WriteString("not let through: ")
	var asked []string
	for i, h := range hosts {
		if h.Asked {
			asked = append(asked, h.Host)
		}
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s: %s", h.Host, h.Why)
	}
	if more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	if len(asked) > 0 {
		fmt.Fprintf(&b, "; call again with network: true, and the user is asked to allow %s for this session", shortened(asked))
	}
	return b.String()
}

func shortened(names []string) string {
	const most = 8
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " ..."
	}
	return strings.Join(names, ", ")
}
