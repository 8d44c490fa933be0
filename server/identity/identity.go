// Package identity finds the principal of an HTTP request, which tools the principal may
// call, how many calls at once, and the directory of its files.
//
// Start at [Gate.Admit]: it reads the token of a request, has it verified as one of
// the static tokens (token.go) or as a JWT of the issuer (jwt.go, with the keys of
// keyset.go), and says by which status and challenge a request is refused
// (refusal.go). The scopes of a token give it a [Grant] (scope.go).
// [Limits] bound how much a principal calls, [Roots] gives each its workspace. The
// package knows HTTP and tools, not the protocol: it must not import mcp-go.
package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"toolcrib/tools"
)

// The principals that no token names.
const (
	Anonymous = tools.Anonymous // no token is wanted
	Holder    = "token"         // the token that the server shows at its start
)

// Who is in whose name a request is made.
type Who struct {
	// Principal is [Anonymous], the name of a static token, or issuer and subject.
	Principal string
	// Name is [Anonymous], the name of a static token or the subject of a JWT, and
	// Issuer who issued that, else "".
	Name, Issuer string
	Grant        *Grant    // nil = everything
	Expires      time.Time // zero: never
	root         *template // of the token itself; nil = that of all
}

// Gate admits requests by their tokens. Its methods may be called by several
// goroutines; a nil Gate admits everybody as [Anonymous].
type Gate struct {
	verify   verifier
	metadata *Metadata
}

// verifier knows whose a token is. Its error is an [invalidToken] or an
// [unavailable].
type verifier interface {
	whose(ctx context.Context, token string) (Who, error)
}

// invalidToken is why a token is refused. Nothing of the token is in it.
type invalidToken string

func (e invalidToken) Error() string { return string(e) }

// unavailable is why no token can be judged.
type unavailable struct{ err error }

func (e *unavailable) Error() string { return e.err.Error() }
func (e *unavailable) Unwrap() error { return e.err }

// SettingError is an error in a setting, with its key in configuration files.
type SettingError struct {
	Key string // at the top: tokens
	At  string // where below it: tokens[2].root, the first being 1; "" = the key itself
	Err error
}

func (e *SettingError) Error() string { return e.Err.Error() }
func (e *SettingError) Unwrap() error { return e.Err }

// StaticGate admits the holders of static tokens. Its error is a [SettingError] and
// names the token whose entry is wrong.
func StaticGate(tokens []Token, scopes Scopes) (*Gate, error) {
	static, err := newStatic(tokens, scopes)
	if err != nil {
		return nil, err
	}
	return &Gate{verify: static}, nil
}

// JWTGate admits the holders of tokens that an issuer signed for this server. Its
// error is a [SettingError]; that the issuer can be reached is not proved before the
// first token comes.
func JWTGate(cfg JWT, scopes Scopes) (*Gate, error) {
	compiled, err := scopes.compile()
	if err != nil {
		return nil, err
	}
	v, err := newJWT(cfg, compiled)
	if err != nil {
		return nil, err
	}
	m, err := newMetadata(cfg, compiled)
	if err != nil {
		return nil, err
	}
	return &Gate{verify: v, metadata: m}, nil
}

// Metadata returns the server's metadata for clients that look for a token, nil where no
// issuer has any.
func (g *Gate) Metadata() *Metadata {
	if g == nil {
		return nil
	}
	return g.metadata
}

// Admit returns the principal of a request, or how to refuse it.
func (g *Gate) Admit(r *http.Request) (Who, *Refusal) {
	if g == nil {
		return Who{Principal: Anonymous, Name: Anonymous}, nil
	}
	if r.URL.Query().Has("access_token") {
		return Who{}, g.malformed("a token in the query ends in logs; send it in the header Authorization")
	}
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return Who{}, g.missing()
	}
	if len(values) > 1 {
		return Who{}, g.malformed("the header Authorization appears twice")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return Who{}, g.missing()
	}
	token = strings.Trim(token, " ")
	if !tokenText(token) {
		return Who{}, g.malformed("the header Authorization is not Bearer TOKEN")
	}
	who, err := g.verify.whose(r.Context(), token)
	if err == nil {
		return who, nil
	}
	if invalid, ok := errors.AsType[invalidToken](err); ok {
		return Who{}, g.invalid(string(invalid))
	}
	return Who{}, g.unavailable(err)
}

// tokenText reports whether a text has the form of a bearer token (RFC 6750, 2.1).
func tokenText(text string) bool {
	body := strings.TrimRight(text, "=")
	return body != "" && strings.IndexFunc(body, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~+/", r)
	}) < 0
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// checkName refuses the name of a token that would be unclear in logs and paths.
func checkName(name string) error {
	const most = 64
	if name == "" || len(name) > most || !alphanumeric(name[0]) || strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._@", r)
	}) >= 0 {
		return fmt.Errorf("the name of a token is 1 to %d letters, digits and, behind the first, -._@, not %q", most, name)
	}
	return nil
}
