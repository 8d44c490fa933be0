package identity

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// WellKnown is the path of the metadata of a protected resource (RFC 9728); the path
// of the resource may follow it.
const WellKnown = "/.well-known/oauth-protected-resource"

// Metadata is read by clients that look for a token.
type Metadata struct {
	issuer string
	url    string // of the metadata
	paths  []string
	basic  string // the scope to begin with; "" = none lets read
	text   []byte
}

func newMetadata(cfg JWT, scopes compiled) (*Metadata, error) {
	resource, err := url.Parse(cfg.Resource)
	if err != nil || resource.Host == "" || resource.Fragment != "" || resource.Scheme != "https" && resource.Scheme != "http" {
		return nil, &SettingError{Key: "public_url", Err: fmt.Errorf("the public URL %q is not https://HOST/PATH", cfg.Resource)}
	}
	text, err := json.Marshal(map[string]any{
		"resource":                 cfg.Resource,
		"authorization_servers":    []string{cfg.Issuer},
		"scopes_supported":         slices.Sorted(maps.Keys(scopes)),
		"bearer_methods_supported": []string{"header"},
		"resource_name":            "toolcrib",
	})
	if err != nil {
		return nil, err
	}
	m := &Metadata{
		issuer: cfg.Issuer, text: text,
		url:   resource.Scheme + "://" + resource.Host + WellKnown + resource.EscapedPath(),
		paths: []string{WellKnown, WellKnown + resource.Path},
		basic: strings.Join(scopes.basic(), " "),
	}
	return m, nil
}

// Serves reports whether the metadata is at a path. endpoint is the path of the resource on
// this server, which a proxy may serve under another one.
func (m *Metadata) Serves(path, endpoint string) bool {
	return m != nil && (slices.Contains(m.paths, path) || path == WellKnown+endpoint)
}

// ServeHTTP answers with the metadata. It holds no secret, so every page may read it.
func (m *Metadata) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "public, max-age=300")
	header.Set("Access-Control-Allow-Origin", "*")
	_, _ = w.Write(m.text) // a client that has gone is told nothing
}
