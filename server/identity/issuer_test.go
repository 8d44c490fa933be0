package identity_test

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"toolcrib/server/identity"
)

// resource is what the servers of the tests are called.
const resource = "https://tools.example/mcp"

// issuer is an authorization server of a test: it has keys and says so.
type issuer struct {
	url     string
	keysURL string // "" = its own

	mu      sync.Mutex
	keys    []map[string]any
	control string // its Cache-Control
	down    bool
	asked   int // for its keys
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	is := new(issuer)
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	is.url = web.URL
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, is.url, cmp.Or(is.keysURL, is.url+"/keys"))
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		is.mu.Lock()
		defer is.mu.Unlock()
		is.asked++
		if is.down {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Cache-Control", is.control)
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": is.keys})
	})
	return is
}

// set changes the issuer while it serves.
func (is *issuer) set(change func()) {
	is.mu.Lock()
	defer is.mu.Unlock()
	change()
}

func b64(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// jwk is a public key as a key set has it.
func jwk(kid string, public crypto.PublicKey) map[string]any {
	switch k := public.(type) {
	case *rsa.PublicKey:
		return map[string]any{"kty": "RSA", "kid": kid, "use": "sig", "n": b64(k.N.Bytes()), "e": b64(big.NewInt(int64(k.E)).Bytes())}
	case *ecdsa.PublicKey:
		raw, err := k.Bytes()
		if err != nil {
			panic(err)
		}
		size := (len(raw) - 1) / 2
		return map[string]any{"kty": "EC", "kid": kid, "crv": k.Curve.Params().Name, "x": b64(raw[1 : 1+size]), "y": b64(raw[1+size:])}
	case ed25519.PublicKey:
		return map[string]any{"kty": "OKP", "kid": kid, "crv": "Ed25519", "x": b64(k)}
	}
	panic("no such key")
}

// keyring is one key of each kind.
type keyring struct {
	rsa *rsa.PrivateKey
	ec  *ecdsa.PrivateKey
	ed  ed25519.PrivateKey
}

var newKeyring = sync.OnceValue(func() keyring {
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	e, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	_, d, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	return keyring{r, e, d}
})

// publish has the issuer say all keys of a ring.
func (is *issuer) publish(k keyring) {
	is.set(func() {
		is.keys = []map[string]any{jwk("rsa", &k.rsa.PublicKey), jwk("ec", &k.ec.PublicKey), jwk("ed", k.ed.Public())}
	})
}

// claims are those of a token that is as it should be, with some changed; nil takes
// one away.
func (is *issuer) claims(changed map[string]any) jwt.MapClaims {
	now := time.Now()
	c := jwt.MapClaims{
		"iss": is.url, "aud": resource, "sub": "ada", "scope": "tools:read",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	for name, value := range changed {
		if value == nil {
			delete(c, name)
			continue
		}
		c[name] = value
	}
	return c
}

// sign makes a token; header adds to its header.
func sign(t *testing.T, method jwt.SigningMethod, key any, kid string, claims jwt.MapClaims, header map[string]any) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	if kid != "" {
		token.Header["kid"] = kid
	}
	maps.Copy(token.Header, header)
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func gate(t *testing.T, is *issuer, now func() time.Time) *identity.Gate {
	t.Helper()
	g, err := identity.JWTGate(identity.JWT{Issuer: is.url, Resource: resource, Now: now}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// admit makes a request with the values of the header Authorization.
func admit(t *testing.T, g *identity.Gate, target string, values ...string) (identity.Who, *identity.Refusal) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, target, http.NoBody)
	for _, v := range values {
		r.Header.Add("Authorization", v)
	}
	return g.Admit(r)
}

// newKeyringOf makes a ring of which only the key of curves is there.
func newKeyringOf(t *testing.T) keyring {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return keyring{ec: k}
}

// got returns what a handler answers to a GET.
func got(t *testing.T, h http.Handler) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, identity.WellKnown, http.NoBody))
	return w.Body.Bytes()
}
