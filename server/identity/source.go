package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxDocument is the most bytes of an issuer's metadata or key set.
const maxDocument = 1 << 20

// source is where the keys of an issuer are fetched.
type source struct {
	issuer, keysURL string
	client          *http.Client
}

func newSource(cfg JWT) (*source, error) {
	u, err := trusted(cfg.Issuer)
	if err != nil || u.RawQuery != "" {
		return nil, &SettingError{Key: "issuer", Err: fmt.Errorf("the issuer %q is not https://HOST, or http on this machine", cfg.Issuer)}
	}
	if cfg.KeysURL != "" {
		if _, err := trusted(cfg.KeysURL); err != nil {
			return nil, &SettingError{Key: "jwks_url", Err: fmt.Errorf("the URL of the keys %q is not https://HOST/PATH, or http on this machine", cfg.KeysURL)}
		}
	}
	client := cfg.Client
	if client == nil {
		client = &http.Client{Timeout: fetchWait, Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: fetchWait / 2}).DialContext,
			TLSHandshakeTimeout:    fetchWait / 2,
			ResponseHeaderTimeout:  fetchWait / 2,
			MaxResponseHeaderBytes: 64 << 10,
			IdleConnTimeout:        time.Minute,
		}}
	}
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error {
		return errors.New("a redirect is not followed")
	}
	return &source{cfg.Issuer, cfg.KeysURL, &own}, nil
}

// trusted parses a URL whose answer can be believed: over TLS, or from this machine.
func trusted(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	ip, err := netip.ParseAddr(u.Hostname())
	here := u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	if u.Host == "" || u.User != nil || u.Fragment != "" || u.Scheme != "https" && (u.Scheme != "http" || !here) {
		return nil, errors.New("not https, or http on this machine")
	}
	return u, nil
}

// fetch fetches the keys, and says how long they count.
func (s *source) fetch(ctx context.Context) ([]key, time.Duration, error) {
	where := s.keysURL
	if where == "" {
		var err error
		if where, err = s.discover(ctx); err != nil {
			return nil, 0, err
		}
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	header, err := s.get(ctx, where, &set)
	if err != nil {
		return nil, 0, err
	}
	keys := parseKeys(set.Keys)
	if len(keys) == 0 {
		return nil, 0, fmt.Errorf("%s has no key that can be used", where)
	}
	return keys, life(header.Get("Cache-Control")), nil
}

// discover returns the URL of the keys that the metadata of the issuer has.
func (s *source) discover(ctx context.Context) (string, error) {
	u, err := url.Parse(s.issuer)
	if err != nil {
		return "", err
	}
	base, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	var failures []error
	for _, where := range []string{
		base + "/.well-known/oauth-authorization-server" + path, // RFC 8414
		base + path + "/.well-known/openid-configuration",
		base + "/.well-known/openid-configuration" + path,
	} {
		var meta struct {
			Issuer  string `json:"issuer"`
			KeysURL string `json:"jwks_uri"`
		}
		_, err := s.get(ctx, where, &meta)
		if err == nil && meta.Issuer != s.issuer {
			err = fmt.Errorf("%s is of another issuer", where)
		}
		if err == nil {
			if _, err = trusted(meta.KeysURL); err == nil {
				return meta.KeysURL, nil
			}
			err = fmt.Errorf("%s names no keys over https", where)
		}
		failures = append(failures, err)
	}
	return "", errors.Join(failures...)
}

// get fetches a JSON document.
func (s *source) get(ctx context.Context, where string, into any) (http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, where, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	res, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", where, res.Status)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxDocument+1))
	if err == nil && len(text) > maxDocument {
		err = fmt.Errorf("longer than %d bytes", maxDocument)
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return res.Header, nil
}

// life reads a Cache-Control.
func life(control string) time.Duration {
	for part := range strings.SplitSeq(strings.ToLower(control), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "no-store", "no-cache":
			return leastLife
		case "max-age":
			if seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31); err == nil {
				return min(max(time.Duration(seconds)*time.Second, leastLife), mostLife)
			}
		}
	}
	return usualLife
}
