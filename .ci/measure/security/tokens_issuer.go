package security

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"maps"
	"math/big"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// tokenIssuer is an authorization server with two keys.
type tokenIssuer struct {
	url      string
	web      *http.Server
	rsa      *rsa.PrivateKey
	ec       *ecdsa.PrivateKey
	stranger *ecdsa.PrivateKey // whose key nobody publishes
}

func newTokenIssuer() (is *tokenIssuer, err error) {
	is = new(tokenIssuer)
	if is.rsa, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		return nil, err
	}
	for _, key := range []**ecdsa.PrivateKey{&is.ec, &is.stranger} {
		if *key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return nil, err
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	is.url = "http://" + ln.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, is.url, is.url+"/keys")
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"keys":[{"kty":"RSA","kid":"rsa","n":%q,"e":%q},%s]}`,
			base64.RawURLEncoding.EncodeToString(is.rsa.N.Bytes()), base64.RawURLEncoding.EncodeToString(big.NewInt(int64(is.rsa.E)).Bytes()), ecKey("ec", &is.ec.PublicKey))
	})
	is.web = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = is.web.Serve(ln) }() // until close
	return is, nil
}

func (is *tokenIssuer) close() { _ = is.web.Close() }

// ecKey returns a public key as a JSON Web Key.
func ecKey(kid string, public *ecdsa.PublicKey) string {
	raw, err := public.Bytes()
	if err != nil {
		panic(err) // it was made here
	}
	half := (len(raw) - 1) / 2
	return fmt.Sprintf(`{"kty":"EC","crv":"P-256","kid":%q,"x":%q,"y":%q}`, kid,
		base64.RawURLEncoding.EncodeToString(raw[1:1+half]), base64.RawURLEncoding.EncodeToString(raw[1+half:]))
}

// claims are those of a token that is as it should be, with some changed; nil takes
// one away.
func (is *tokenIssuer) claims(resource string, changed map[string]any) jwt.MapClaims {
	now := time.Now()
	c := jwt.MapClaims{"iss": is.url, "aud": resource, "sub": "ada", "scope": "tools:read", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	for name, value := range changed {
		if c[name] = value; value == nil {
			delete(c, name)
		}
	}
	return c
}

// token makes a token of the issuer.
func (is *tokenIssuer) token(resource string, changed map[string]any) string {
	return signed(jwt.SigningMethodES256, is.ec, is.claims(resource, changed), map[string]any{"kid": "ec"})
}

// signed makes a token with a header.
func signed(method jwt.SigningMethod, key any, claims jwt.MapClaims, header map[string]any) string {
	t := jwt.NewWithClaims(method, claims)
	maps.Copy(t.Header, header)
	text, err := t.SignedString(key)
	if err != nil {
		panic(err) // key and method go together
	}
	return text
}

// cases are the requests of the matrix.
func (is *tokenIssuer) cases(resource string) []tokenCase {
	good := is.token(resource, nil)
	parts := strings.Split(good, ".")
	other := strings.Split(is.token(resource, map[string]any{"sub": "eve", "scope": "tools:all"}), ".")
	der, err := x509.MarshalPKIXPublicKey(&is.rsa.PublicKey)
	if err != nil {
		panic(err) // it was made here
	}
	ahead, past := time.Now().Add(5*time.Minute).Unix(), time.Now().Add(-5*time.Minute).Unix()
	header := func(changed map[string]any) string {
		changed["kid"] = "ec"
		return signed(jwt.SigningMethodES256, is.ec, is.claims(resource, nil), changed)
	}
	forged := func(kid string, header map[string]any) string {
		if header == nil {
			header = map[string]any{}
		}
		header["kid"] = kid
		return signed(jwt.SigningMethodES256, is.stranger, is.claims(resource, nil), header)
	}
	var list []tokenCase
	const metadata = `resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp"`
	add := func(name string, c tokenCase) {
		c.name = name
		switch c.status {
		case http.StatusUnauthorized:
			c.challenge = append(c.challenge, metadata, `scope="tools:read"`)
		case http.StatusBadRequest:
			c.challenge = append(c.challenge, metadata, `error="invalid_request"`)
		case 0:
			c.status = http.StatusUnauthorized
			c.challenge = append(c.challenge, metadata, `error="invalid_token"`, "error_description=")
		}
		list = append(list, c)
	}
	bearer := func(token string) []string { return []string{"Bearer " + token} }
	for name, token := range map[string]string{
		"a word": "hush", "two parts": parts[0] + "." + parts[1], "huge": good + strings.Repeat("A", 13<<10),
		"signature cut off": parts[0] + "." + parts[1] + ".", "signature of another token": parts[0] + "." + other[1] + "." + parts[2],
		"none":                       signed(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, is.claims(resource, nil), map[string]any{"kid": "ec"}),
		"HS256 with the public key":  signed(jwt.SigningMethodHS256, der, is.claims(resource, nil), map[string]any{"kid": "rsa"}),
		"RS512, which is not taken":  signed(jwt.SigningMethodRS512, is.rsa, is.claims(resource, nil), map[string]any{"kid": "rsa"}),
		"the kid of another key":     signed(jwt.SigningMethodES256, is.ec, is.claims(resource, nil), map[string]any{"kid": "rsa"}),
		"the key of a stranger":      forged("ec", nil),
		"an unknown kid":             forged("new", nil),
		"a kid that is a path":       forged("../../dev/null", nil),
		"a kid that is SQL":          forged("x' UNION SELECT 'k", nil),
		"its key in the header":      forged("ec", map[string]any{"jwk": ecKey("ec", &is.stranger.PublicKey)}),
		"its key at jku":             forged("ec", map[string]any{"jku": is.url + "/other"}),
		"its key at x5u":             forged("ec", map[string]any{"x5u": is.url + "/other"}),
		"crit":                       header(map[string]any{"crit": []string{"exp"}}),
		"b64":                        header(map[string]any{"b64": false, "crit": []string{"b64"}}),
		"typ of something else":      header(map[string]any{"typ": "dpop+jwt"}),
		"expired":                    is.token(resource, map[string]any{"exp": past}),
		"without an end":             is.token(resource, map[string]any{"exp": nil}),
		"an end that is no time":     is.token(resource, map[string]any{"exp": "never"}),
		"not valid yet":              is.token(resource, map[string]any{"nbf": ahead}),
		"issued in the future":       is.token(resource, map[string]any{"iat": ahead}),
		"another issuer":             is.token(resource, map[string]any{"iss": "https://evil.example"}),
		"the issuer with a slash":    is.token(resource, map[string]any{"iss": is.url + "/"}),
		"no audience":                is.token(resource, map[string]any{"aud": nil}),
		"the token of another place": is.token("https://other.example/mcp", nil),
		"the host as audience":       is.token("https://tools.example", nil),
		"no subject":                 is.token(resource, map[string]any{"sub": nil}),
		"an empty subject":           is.token(resource, map[string]any{"sub": ""}),
		"a subject that is a number": is.token(resource, map[string]any{"sub": 7}),
	} {
		add(name, tokenCase{values: bearer(token)})
	}
	add("no token", tokenCase{status: 401})
	add("another scheme", tokenCase{values: []string{"Basic YWRhOmFkYQ=="}, status: 401})
	add("GET without a token", tokenCase{method: http.MethodGet, status: 401})
	add("DELETE without a token", tokenCase{method: http.MethodDelete, status: 401})
	add("GET with a token that has expired", tokenCase{method: http.MethodGet, values: bearer(is.token(resource, map[string]any{"exp": past}))})
	add("two tokens", tokenCase{values: []string{"Bearer " + good, "Bearer " + good}, status: 400})
	add("an empty token", tokenCase{values: []string{"Bearer "}, status: 400})
	add("a token of two words", tokenCase{values: bearer(good + " x"), status: 400})
	add("a token in the query", tokenCase{query: "?access_token=" + good, status: 400})
	add("a token in the query too", tokenCase{query: "?access_token=" + good, values: bearer(good), status: 400})
	for name, host := range map[string]string{"foreign host": "evil.example", "look-alike host": "tools.example.evil.example", "address of another machine": "10.0.0.1"} {
		add(name, tokenCase{values: bearer(good), header: map[string]string{"Host": host}, status: 403})
	}
	for name, origin := range map[string]string{"foreign origin": "https://evil.example", "null origin": "null", "look-alike origin": "http://localhost.evil.example"} {
		add(name, tokenCase{values: bearer(good), header: map[string]string{"Origin": origin}, status: 403})
	}
	add("metadata for a foreign host", tokenCase{method: http.MethodGet, path: "/.well-known/oauth-protected-resource", header: map[string]string{"Host": "evil.example"}, status: 403})
	insufficient := []string{metadata, `error="insufficient_scope"`}
	add("a scope that is too small", tokenCase{values: bearer(good), tool: "write_file", status: 403, challenge: append(insufficient, `scope="tools:write"`)})
	add("no scope", tokenCase{values: bearer(is.token(resource, map[string]any{"scope": nil})), status: 403, challenge: append(insufficient, `scope="tools:read"`)})
	add("a scope that does not exist", tokenCase{values: bearer(is.token(resource, map[string]any{"scope": "tools:readers *"})), status: 403, challenge: insufficient})
	add("as it should be", tokenCase{values: bearer(good), status: 200})
	add("RS256", tokenCase{values: bearer(signed(jwt.SigningMethodRS256, is.rsa, is.claims(resource, nil), map[string]any{"kid": "rsa", "typ": "at+jwt"})), status: 200})
	add("several audiences", tokenCase{values: bearer(is.token(resource, map[string]any{"aud": []string{"https://other.example", resource}})), status: 200})
	add("by its public name", tokenCase{values: bearer(good), header: map[string]string{"Host": "tools.example", "Origin": "https://tools.example"}, status: 200})
	add("the scope that is wanted", tokenCase{values: bearer(is.token(resource, map[string]any{"scope": "tools:read tools:write"})), tool: "write_file", status: 200})
	add("metadata", tokenCase{method: http.MethodGet, path: "/.well-known/oauth-protected-resource", status: 200})
	add("metadata of the endpoint", tokenCase{method: http.MethodGet, path: "/.well-known/oauth-protected-resource/mcp", status: 200})
	return list
}
