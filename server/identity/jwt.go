package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// JWT says whose tokens are taken: the server is an OAuth 2.1 resource server.
type JWT struct {
	// Issuer is the claim iss of every token, to the letter, and where its metadata
	// is looked for.
	Issuer string
	// Resource is the URI by which clients call the server.
	Resource string
	// Audience must be in the claim aud, to the letter; "" = Resource.
	Audience string
	// KeysURL is where the issuer has its JSON Web Key Set; "" = where its metadata
	// says (RFC 8414 or OpenID Connect Discovery). A private host other than that of the
	// issuer must be named here.
	KeysURL string
	// Algorithms are those that a signature may have; none = DefaultAlgorithms.
	Algorithms []string

	Now func() time.Time // nil = time.Now
}

// DefaultAlgorithms are the algorithms of signatures where none are named.
func DefaultAlgorithms() []string { return []string{"RS256", "PS256", "ES256", "EdDSA"} }

// algorithms are all that may be named: those with a public key.
func algorithms() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

const (
	// leeway is how far the clocks of issuer and server may differ.
	leeway = 30 * time.Second
	// maxToken, maxClaim and maxScopes bound a token, one claim of it and the list
	// of its scopes.
	maxToken  = 12 << 10
	maxClaim  = 256
	maxScopes = 256
)

func (c JWT) audience() string {
	if c.Audience != "" {
		return c.Audience
	}
	return c.Resource
}

// signed knows tokens that an issuer signed.
type signed struct {
	issuer, audience string
	parser           *jwt.Parser
	keys             *keySet
	scopes           compiled
	now              func() time.Time
}

func newJWT(cfg JWT, scopes compiled) (*signed, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Algorithms == nil {
		cfg.Algorithms = DefaultAlgorithms()
	}
	for _, alg := range cfg.Algorithms {
		if !slices.Contains(algorithms(), alg) {
			return nil, &SettingError{Key: "algorithms", Err: fmt.Errorf("tokens signed by %q are not taken; there are: %s", alg, strings.Join(algorithms(), ", "))}
		}
	}
	keys, err := newKeySet(cfg)
	if err != nil {
		return nil, err
	}
	return &signed{
		issuer: cfg.Issuer, audience: cfg.audience(), keys: keys, scopes: scopes, now: cfg.Now,
		// The claims are proved by ours, which is stricter.
		parser: jwt.NewParser(jwt.WithValidMethods(cfg.Algorithms), jwt.WithStrictDecoding(), jwt.WithJSONNumber(), jwt.WithoutClaimsValidation()),
	}, nil
}

// whose implements [verifier].
func (s *signed) whose(ctx context.Context, token string) (Who, error) {
	if len(token) > maxToken {
		return Who{}, invalidToken(fmt.Sprintf("the token is longer than %d bytes", maxToken))
	}
	claims := jwt.MapClaims{}
	_, err := s.parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) { return s.key(ctx, t.Header) })
	if err != nil {
		if down, ok := errors.AsType[*unavailable](err); ok {
			return Who{}, down
		}
		if invalid, ok := errors.AsType[invalidToken](err); ok {
			return Who{}, invalid
		}
		if errors.Is(err, jwt.ErrTokenMalformed) {
			return Who{}, invalidToken("the token is not a JWT")
		}
		return Who{}, invalidToken("the signature of the token is not one of the issuer, or its algorithm is not taken")
	}
	return s.prove(claims)
}

// key returns the keys that may have signed a token with a header. Keys in the header
// itself (jwk, jku, x5u, x5c) are ignored.
func (s *signed) key(ctx context.Context, header map[string]any) (any, error) {
	for _, name := range []string{"crit", "b64"} { // extensions that change what is signed
		if _, ok := header[name]; ok {
			return nil, invalidToken("the header of the token has " + name + ", which is not understood")
		}
	}
	if typ, ok := header["typ"]; ok {
		text, _ := typ.(string)
		text = strings.TrimPrefix(strings.ToLower(text), "application/")
		if text != "jwt" && text != "at+jwt" {
			return nil, invalidToken("the token is not of type at+jwt or JWT")
		}
	}
	kid := ""
	if v, ok := header["kid"]; ok {
		if kid, ok = v.(string); !ok || kid == "" || len(kid) > maxClaim {
			return nil, invalidToken("the kid of the token is not a short text")
		}
	}
	alg, _ := header["alg"].(string) // the parser has found it among those that are taken
	keys, err := s.keys.find(ctx, kid, alg)
	if err != nil {
		return nil, err
	}
	return jwt.VerificationKeySet{Keys: keys}, nil
}

// prove judges the claims of a token whose signature is right.
func (s *signed) prove(claims jwt.MapClaims) (Who, error) {
	if iss, _ := claims["iss"].(string); iss != s.issuer {
		return Who{}, invalidToken("the token is of another issuer")
	}
	if !slices.Contains(texts(claims["aud"]), s.audience) {
		return Who{}, invalidToken("the token is for another resource: its aud does not have this server")
	}
	sub, _ := claims["sub"].(string)
	if sub == "" || len(sub) > maxClaim || strings.IndexFunc(sub, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }) >= 0 {
		return Who{}, invalidToken("the token has no subject, or one that is no short line of text")
	}
	expires, err := s.times(claims)
	if err != nil {
		return Who{}, err
	}
	return Who{
		Principal: s.issuer + " " + sub, Name: sub, Issuer: s.issuer,
		Grant: s.scopes.grant(scopesOf(claims)), Expires: expires.Add(leeway),
	}, nil
}

// times proves exp, which must be there, nbf and iat.
func (s *signed) times(claims jwt.MapClaims) (expires time.Time, err error) {
	now := s.now()
	for _, name := range []string{"exp", "nbf", "iat"} {
		v, there := claims[name]
		if !there && name != "exp" {
			continue
		}
		n, _ := v.(json.Number)
		seconds, err := n.Float64()
		if err != nil || seconds < 0 || seconds > 253402300799 { // the year 9999
			return expires, invalidToken("the token has no " + name + ", or one that is no time")
		}
		at := time.Unix(int64(seconds), 0)
		switch {
		case name == "exp" && now.After(at.Add(leeway)):
			return expires, invalidToken("the token has expired")
		case name == "exp":
			expires = at
		case now.Add(leeway).Before(at):
			return expires, invalidToken("the token is not valid yet: its " + name + " is in the future")
		}
	}
	return expires, nil
}

// scopesOf reads the scopes of a token: scope (RFC 9068), or scp as some issuers
// call it.
func scopesOf(claims jwt.MapClaims) []string {
	var list []string
	for _, name := range []string{"scope", "scp"} {
		for _, text := range texts(claims[name]) {
			list = append(list, strings.Fields(text)...)
		}
	}
	return list[:min(len(list), maxScopes)]
}

// texts reads a claim that is a text or a list of texts.
func texts(claim any) []string {
	switch v := claim.(type) {
	case string:
		return []string{v}
	case []any:
		var list []string
		for _, one := range v {
			text, ok := one.(string)
			if !ok {
				return nil
			}
			list = append(list, text)
		}
		return list
	}
	return nil
}
