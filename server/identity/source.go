package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"toolcrib/tools/outbound"
)

// maxDocument is the most bytes of an issuer's metadata or key set.
const maxDocument = 1 << 20

// source is where the keys of an issuer are fetched.
type source struct {
	issuer, keysURL string
	client          *outbound.Client
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
	urls := []string{cfg.Issuer}
	if cfg.KeysURL != "" {
		urls = append(urls, cfg.KeysURL)
	}
	client, err := outbound.To(urls...)
	if err != nil {
		return nil, &SettingError{Key: "issuer", Err: err}
	}
	return &source{cfg.Issuer, cfg.KeysURL, client}, nil
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
	res, err := s.client.Do(ctx, outbound.Request{
		URL: where, Header: http.Header{"Accept": {"application/json"}},
		MaxBytes: maxDocument, Timeout: fetchWait, Redirects: -1, Tries: 1,
	})
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.Status != http.StatusOK {
		return nil, fmt.Errorf("%s: %d %s", where, res.Status, http.StatusText(res.Status))
	}
	text, err := io.ReadAll(res.Body)
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
