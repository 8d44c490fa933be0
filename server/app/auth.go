package app

import (
	"net"
	"net/url"

	"toolcrib/server"
	"toolcrib/server/config"
	"toolcrib/server/identity"
)

// auth is how clients prove over HTTP who they are.
type auth struct {
	gate  *identity.Gate // nil: they need not
	shown string         // a line for the user who started the server; "" = nothing
	hosts []string       // names of the server in addition to those of the configuration
}

// authOf puts the settings to work on a listener at addr.
func authOf(cfg config.Config, addr net.Addr) (a auth, err error) {
	resource, host, err := publicURL(cfg, addr)
	if err != nil {
		return auth{}, err
	}
	if host != "" {
		a.hosts = []string{host}
	}
	switch {
	case cfg.Auth == "none":
		return a, nil
	case cfg.Auth == "jwt" && cfg.Issuer == "":
		return auth{}, config.Usagef("toolcrib serve --http=ADDR --auth=jwt --issuer=https://login.example.com", "--auth=jwt wants to know whose tokens are taken")
	case cfg.Auth == "jwt":
		a.gate, err = identity.JWTGate(identity.JWT{
			Issuer: cfg.Issuer, Resource: resource, Audience: cfg.Audience, KeysURL: cfg.JWKSURL, Algorithms: cfg.Algorithms,
		}, cfg.Scopes)
		a.shown = "token signed by " + cfg.Issuer + " for " + resource
	default:
		var tokens []identity.Token
		tokens, a.shown = tokensOf(cfg)
		a.gate, err = identity.StaticGate(tokens, cfg.Scopes)
	}
	if err != nil {
		return auth{}, &config.UsageError{Err: err, Hint: "see toolcrib help serve for --auth"}
	}
	return a, nil
}

// tokensOf returns the static tokens, and what to show of them. One is made where
// nobody has set any.
func tokensOf(cfg config.Config) (tokens []identity.Token, shown string) {
	tokens = append(tokens, cfg.Tokens...)
	switch {
	case cfg.Token != "":
		tokens = append(tokens, identity.Token{Name: identity.Holder, Token: cfg.Token})
		shown = "token from TOOLCRIB_TOKEN"
	case len(tokens) == 0:
		token, hash := identity.NewToken()
		tokens = append(tokens, identity.Token{Name: identity.Holder, Hash: hash})
		shown = "token " + token
	}
	return tokens, shown
}

// publicURL returns the URL by which clients call the server, and the host in it
// where the settings name one.
func publicURL(cfg config.Config, addr net.Addr) (resource, host string, err error) {
	if cfg.PublicURL == "" {
		return "http://" + addr.String() + server.Endpoint, "", nil
	}
	u, err := url.Parse(cfg.PublicURL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", "", &config.KeyError{Key: "public_url", Err: config.Usagef("--public-url=https://tools.example.com"+server.Endpoint, "--public-url: %q is not the URL of a server", cfg.PublicURL)}
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = server.Endpoint
	}
	return u.String(), u.Hostname(), nil
}
