package identity_test

import (
	"crypto/rand"
	"crypto/rsa"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"toolcrib/server/identity"
)

// clock is a time that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// Keys are fetched once for all who wait, again for a key that is new, but at most
// once a minute, and count no longer than they may where the issuer is down.
func TestKeysRotate(t *testing.T) {
	is, old, next := newIssuer(t), newKeyring(), newKeyringOf(t)
	is.publish(old)
	is.control = "public, max-age=600"
	c := &clock{at: time.Now()}
	g := gate(t, is, c.now)
	of := func(k keyring, kid string) string {
		return "Bearer " + sign(t, jwt.SigningMethodES256, k.ec, kid, is.claims(map[string]any{"exp": time.Now().Add(24 * time.Hour).Unix()}), nil)
	}
	expect := func(what, token string, status, asked int) {
		t.Helper()
		_, bad := admit(t, g, "/mcp", token)
		if bad == nil {
			bad = new(identity.Refusal)
		}
		is.mu.Lock()
		defer is.mu.Unlock()
		if bad.Status != status || is.asked != asked {
			t.Errorf("%s: status %d after %d fetches, want %d after %d: %s", what, bad.Status, is.asked, status, asked, bad.Message)
		}
	}
	var all sync.WaitGroup
	token := of(old, "ec")
	for range 20 {
		all.Go(func() { admit(t, g, "/mcp", token) })
	}
	all.Wait()
	expect("many at once", token, 0, 1)
	is.set(func() { is.keys = append(is.keys, jwk("next", &next.ec.PublicKey)) })
	expect("a new key, too soon", of(next, "next"), 401, 1)
	c.pass(time.Minute)
	expect("a new key", of(next, "next"), 0, 2)
	expect("a key that does not exist", of(next, "nobody's"), 401, 2)
	is.set(func() { is.down = true })
	c.pass(5 * time.Minute)
	expect("the issuer is down, for a key that does not exist", of(next, "nobody's"), 401, 3)
	expect("the issuer is down, the keys count", of(next, "next"), 0, 3)
	c.pass(5 * time.Minute)
	expect("the keys count no longer", of(next, "next"), 503, 4)
	expect("not asked again at once", of(next, "next"), 503, 4)
	is.set(func() { is.down = false; is.keys = is.keys[3:] })
	c.pass(5 * time.Second)
	expect("the issuer is back", of(next, "next"), 0, 5)
	expect("without the old key", token, 401, 5)
}

// TestKeysRefused lists keys of a set that prove nothing.
func TestKeysRefused(t *testing.T) {
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	ring := newKeyring()
	with := func(k map[string]any, name string, value any) map[string]any {
		k[name] = value
		return k
	}
	for name, k := range map[string]map[string]any{
		"small":               jwk("k", &small.PublicKey),
		"for encryption":      with(jwk("k", &ring.rsa.PublicKey), "use", "enc"),
		"to sign":             with(jwk("k", &ring.rsa.PublicKey), "key_ops", []string{"sign"}),
		"for another alg":     with(jwk("k", &ring.rsa.PublicKey), "alg", "RS512"),
		"for an alg not ours": with(jwk("k", &ring.rsa.PublicKey), "alg", "HS256"),
		"even exponent":       with(jwk("k", &ring.rsa.PublicKey), "e", "BAAE"),
		"symmetric":           {"kty": "oct", "kid": "k", "k": "c2VjcmV0"},
		"broken":              with(jwk("k", &ring.rsa.PublicKey), "n", "!"),
	} {
		t.Run(name, func(t *testing.T) {
			is := newIssuer(t)
			is.keys = []map[string]any{k, jwk("other", &ring.ec.PublicKey)}
			key := ring.rsa
			if name == "small" {
				key = small
			}
			token := sign(t, jwt.SigningMethodRS256, key, "k", is.claims(nil), nil)
			if who, bad := admit(t, gate(t, is, nil), "/mcp", "Bearer "+token); bad == nil {
				t.Errorf("admitted as %q", who.Principal)
			}
		})
	}
}

// TestKeysElsewhere has the metadata of an issuer name another service of this machine. Only
// the configuration may name it.
func TestKeysElsewhere(t *testing.T) {
	ring := newKeyring()
	is, other := newIssuer(t), newIssuer(t)
	other.publish(ring)
	is.keysURL = other.url + "/keys"
	token := sign(t, jwt.SigningMethodRS256, ring.rsa, "rsa", is.claims(nil), nil)
	if who, bad := admit(t, gate(t, is, nil), "/mcp", "Bearer "+token); bad == nil || other.asked > 0 {
		t.Errorf("admitted as %q after %d requests", who.Principal, other.asked)
	}
	g, err := identity.JWTGate(identity.JWT{Issuer: is.url, KeysURL: is.keysURL, Resource: resource}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, bad := admit(t, g, "/mcp", "Bearer "+token); bad != nil {
		t.Error(bad.Message)
	}
}

func TestJWTSettings(t *testing.T) {
	for name, cfg := range map[string]identity.JWT{
		"issuer without TLS":  {Issuer: "http://login.example", Resource: resource},
		"issuer with a query": {Issuer: "https://login.example?x=1", Resource: resource},
		"no issuer":           {Resource: resource},
		"keys without TLS":    {Issuer: "https://login.example", KeysURL: "http://login.example/keys", Resource: resource},
		"none":                {Issuer: "https://login.example", Algorithms: []string{"none"}, Resource: resource},
		"HS256":               {Issuer: "https://login.example", Algorithms: []string{"RS256", "HS256"}, Resource: resource},
		"no resource":         {Issuer: "https://login.example"},
	} {
		if _, err := identity.JWTGate(cfg, nil); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
