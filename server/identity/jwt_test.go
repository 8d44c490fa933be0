package identity_test

import (
	"bytes"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"toolcrib/server/identity"
	"toolcrib/tools"
)

// TestJWT lists tokens with what they say wrong; "" is nothing.
func TestJWT(t *testing.T) {
	is, ring := newIssuer(t), newKeyring()
	is.publish(ring)
	g := gate(t, is, nil)
	now := time.Now()
	es := func(changed, header map[string]any) string {
		return sign(t, jwt.SigningMethodES256, ring.ec, "ec", is.claims(changed), header)
	}
	der, err := x509.MarshalPKIXPublicKey(&ring.rsa.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	stranger := newKeyringOf(t)
	good := es(nil, nil)
	parts := strings.Split(good, ".")
	for _, c := range []struct{ name, token, refused string }{
		{"ES256", good, ""},
		{"RS256", sign(t, jwt.SigningMethodRS256, ring.rsa, "rsa", is.claims(nil), nil), ""},
		{"PS256", sign(t, jwt.SigningMethodPS256, ring.rsa, "rsa", is.claims(nil), nil), ""},
		{"EdDSA", sign(t, jwt.SigningMethodEdDSA, ring.ed, "ed", is.claims(nil), nil), ""},
		{"no kid, one key fits", sign(t, jwt.SigningMethodEdDSA, ring.ed, "", is.claims(nil), nil), ""},
		{"at+jwt", es(nil, map[string]any{"typ": "at+jwt"}), ""},
		{"application/AT+JWT", es(nil, map[string]any{"typ": "application/AT+JWT"}), ""},
		{"several audiences", es(map[string]any{"aud": []string{"https://other.example", resource}}, nil), ""},
		{"expired within the leeway", es(map[string]any{"exp": now.Add(-10 * time.Second).Unix()}, nil), ""},
		{"key of the header is not looked at", es(nil, map[string]any{"jwk": jwk("ec", stranger.ec.Public()), "jku": "https://evil.example"}), ""},

		{"a word", "hush", "not a JWT"},
		{"empty parts", "..", "not a JWT"},
		{"four parts", good + ".x", "not a JWT"},
		{"huge", good + strings.Repeat("x", 16<<10), "longer"},
		{"none", sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "ec", is.claims(nil), nil), "signature"},
		{"HS256 with the public key", sign(t, jwt.SigningMethodHS256, der, "rsa", is.claims(nil), nil), "signature"},
		{"RS384, which is not taken", sign(t, jwt.SigningMethodRS384, ring.rsa, "rsa", is.claims(nil), nil), "signature"},
		{"key of another kind", sign(t, jwt.SigningMethodES256, ring.ec, "rsa", is.claims(nil), nil), "does not have"},
		{"key of a stranger", sign(t, jwt.SigningMethodES256, stranger.ec, "ec", is.claims(nil), nil), "signature"},
		{"key in the header", sign(t, jwt.SigningMethodES256, stranger.ec, "ec", is.claims(nil), map[string]any{"jwk": jwk("ec", stranger.ec.Public())}), "signature"},
		{"unknown kid", sign(t, jwt.SigningMethodES256, ring.ec, "../../ec", is.claims(nil), nil), "does not have"},
		{"kid that is no text", es(nil, map[string]any{"kid": 7}), "kid"},
		{"signature cut off", parts[0] + "." + parts[1] + ".", "signature"},
		{"other claims", parts[0] + "." + strings.Split(es(map[string]any{"sub": "eve"}, nil), ".")[1] + "." + parts[2], "signature"},
		{"crit", es(nil, map[string]any{"crit": []string{"exp"}}), "crit"},
		{"b64", es(nil, map[string]any{"b64": false}), "b64"},
		{"typ", es(nil, map[string]any{"typ": "dpop+jwt"}), "type"},
		{"expired", es(map[string]any{"exp": now.Add(-2 * time.Minute).Unix()}, nil), "expired"},
		{"no exp", es(map[string]any{"exp": nil}, nil), "no exp"},
		{"exp that is no number", es(map[string]any{"exp": "tomorrow"}, nil), "no exp"},
		{"exp without an end", es(map[string]any{"exp": 1e300}, nil), "no exp"},
		{"not yet", es(map[string]any{"nbf": now.Add(2 * time.Minute).Unix()}, nil), "not valid yet"},
		{"of the future", es(map[string]any{"iat": now.Add(2 * time.Minute).Unix()}, nil), "not valid yet"},
		{"another issuer", es(map[string]any{"iss": is.url + "/"}, nil), "another issuer"},
		{"no issuer", es(map[string]any{"iss": nil}, nil), "another issuer"},
		{"another resource", es(map[string]any{"aud": "https://tools.example/other"}, nil), "another resource"},
		{"prefix of the resource", es(map[string]any{"aud": resource + "/"}, nil), "another resource"},
		{"no audience", es(map[string]any{"aud": nil}, nil), "another resource"},
		{"audience that is no text", es(map[string]any{"aud": []any{resource, 1}}, nil), "another resource"},
		{"no subject", es(map[string]any{"sub": nil}, nil), "no subject"},
		{"empty subject", es(map[string]any{"sub": ""}, nil), "no subject"},
		{"subject of two lines", es(map[string]any{"sub": "ada\neve"}, nil), "no subject"},
		{"long subject", es(map[string]any{"sub": strings.Repeat("a", 300)}, nil), "no subject"},
	} {
		t.Run(c.name, func(t *testing.T) {
			who, bad := admit(t, g, "/mcp", "Bearer "+c.token)
			switch {
			case c.refused == "" && bad != nil:
				t.Errorf("refused: %+v", bad)
			case c.refused == "" && who.Principal != is.url+" ada":
				t.Errorf("principal %q", who.Principal)
			case c.refused != "" && bad == nil:
				t.Errorf("admitted as %q", who.Principal)
			case c.refused != "" && (bad.Status != 401 || !strings.Contains(bad.Message, c.refused) ||
				!strings.Contains(bad.Challenge, `error="invalid_token"`) || !strings.Contains(bad.Challenge, `resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp"`)):
				t.Errorf("%+v, want %q", bad, c.refused)
			}
		})
	}
}

func TestJWTHeader(t *testing.T) {
	is := newIssuer(t)
	is.publish(newKeyring())
	g := gate(t, is, nil)
	good := "Bearer " + sign(t, jwt.SigningMethodES256, newKeyring().ec, "ec", is.claims(nil), nil)
	for _, c := range []struct {
		name, target string
		values       []string
		status       int
		challenge    string
	}{
		{"nothing", "/mcp", nil, 401, `scope="tools:read"`},
		{"another scheme", "/mcp", []string{"Basic YTpi"}, 401, `scope="tools:read"`},
		{"twice", "/mcp", []string{good, good}, 400, `error="invalid_request"`},
		{"empty", "/mcp", []string{"Bearer "}, 400, `error="invalid_request"`},
		{"two words", "/mcp", []string{good + " more"}, 400, `error="invalid_request"`},
		{"in the query", "/mcp?access_token=x", nil, 400, `error="invalid_request"`},
		{"in the query too", "/mcp?access_token=x", []string{good}, 400, `error="invalid_request"`},
		{"scheme in another case", "/mcp", []string{strings.Replace(good, "Bearer", "bearer", 1)}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, bad := admit(t, g, c.target, c.values...)
			if bad == nil {
				bad = new(identity.Refusal)
			}
			if bad.Status != c.status || !strings.Contains(bad.Challenge, c.challenge) {
				t.Errorf("%+v, want %d with %s", bad, c.status, c.challenge)
			}
			if c.status == 401 && strings.Contains(bad.Challenge, "error=") {
				t.Errorf("an error where no token was sent: %s", bad.Challenge)
			}
		})
	}
}

func TestJWTScopes(t *testing.T) {
	is := newIssuer(t)
	is.publish(newKeyring())
	g := gate(t, is, nil)
	reads, writes := &tools.Tool{Category: "files", Access: tools.Read}, &tools.Tool{Category: "files", Access: tools.Write}
	for _, c := range []struct {
		name           string
		claims         map[string]any
		reads, writes_ bool
	}{
		{"read", nil, true, false},
		{"read and write", map[string]any{"scope": "tools:read openid tools:write"}, true, true},
		{"scp", map[string]any{"scope": nil, "scp": []string{"tools:write"}}, false, true},
		{"all", map[string]any{"scope": "tools:all"}, true, true},
		{"unknown", map[string]any{"scope": "tools:rea tools:read,tools:write"}, false, false},
		{"none", map[string]any{"scope": nil}, false, false},
	} {
		token := sign(t, jwt.SigningMethodES256, newKeyring().ec, "ec", is.claims(c.claims), nil)
		who, bad := admit(t, g, "/mcp", "Bearer "+token)
		if bad != nil {
			t.Fatalf("%s: %+v", c.name, bad)
		}
		if got := who.Grant.Allows(reads); got != c.reads {
			t.Errorf("%s: reads %t", c.name, got)
		}
		if got := who.Grant.Allows(writes); got != c.writes_ {
			t.Errorf("%s: writes %t", c.name, got)
		}
	}
}

func TestMetadata(t *testing.T) {
	is := newIssuer(t)
	m := gate(t, is, nil).Metadata()
	for path, want := range map[string]bool{
		"/.well-known/oauth-protected-resource": true, "/.well-known/oauth-protected-resource/mcp": true,
		"/.well-known/oauth-protected-resource/other": false, "/mcp": false,
	} {
		if m.Serves(path, "/mcp") != want {
			t.Errorf("%s: served %t", path, !want)
		}
	}
	w := got(t, m)
	for _, want := range []string{`"resource":"` + resource + `"`, `"authorization_servers":["` + is.url + `"]`, `"bearer_methods_supported":["header"]`, `"tools:read"`} {
		if !bytes.Contains(w, []byte(want)) {
			t.Errorf("no %s in %s", want, w)
		}
	}
}
