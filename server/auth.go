package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// The principals of HTTP until there are named ones.
const (
	anonymous = "anonymous" // no token is wanted
	holder    = "token"     // the token was shown
)

// bearer checks the bearer token. It keeps only its hash.
type bearer struct {
	wanted bool
	hash   [sha256.Size]byte
}

func newBearer(token string) bearer { return bearer{token != "", sha256.Sum256([]byte(token))} }

// principal says in whose name a request is, and false if it may not be made.
func (b bearer) principal(r *http.Request) (string, bool) {
	if !b.wanted {
		return anonymous, true
	}
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	hash := sha256.Sum256([]byte(strings.TrimSpace(token)))
	ok := strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(hash[:], b.hash[:]) == 1
	return holder, ok
}

// missing says what a request lacks.
func (b bearer) missing(r *http.Request) *fault {
	if r.Header.Get("Authorization") == "" {
		return refuse(mcp.INVALID_REQUEST, "the request needs the header Authorization: Bearer TOKEN; the server showed the token when it started")
	}
	return refuse(mcp.INVALID_REQUEST, "the bearer token is not that of this server; it shows a new one at each start unless TOOLCRIB_TOKEN sets it")
}

// challenge is the header of a 401 answer.
func (b bearer) challenge(r *http.Request) string {
	if r.Header.Get("Authorization") == "" {
		return `Bearer realm="toolcrib"`
	}
	return `Bearer realm="toolcrib", error="invalid_token"`
}
