package identity

import (
	"net/http"
	"strings"
)

// Refusal is how a request is refused.
type Refusal struct {
	Status    int
	Challenge string // the header WWW-Authenticate; "" = none
	Message   string // for people: the reason, and what to do
}

// missing refuses a request without a token. It has no error code, since a client that did
// not know that it needs a token made no error (RFC 6750, 3.1).
func (g *Gate) missing() *Refusal {
	message := "the request needs the header Authorization: Bearer TOKEN; the server showed it when it started, or its configuration has it"
	if g.metadata != nil {
		message = "the request needs the header Authorization: Bearer TOKEN with a token of " + g.metadata.issuer
	}
	return &Refusal{Status: http.StatusUnauthorized, Challenge: g.challenge(g.basic()...), Message: message}
}

// invalid refuses a token.
func (g *Gate) invalid(why string) *Refusal {
	return &Refusal{
		Status: http.StatusUnauthorized, Message: why,
		Challenge: g.challenge(append(g.basic(), param{"error", "invalid_token"}, param{"error_description", why})...),
	}
}

// malformed refuses a request that carries its token wrongly.
func (g *Gate) malformed(why string) *Refusal {
	return &Refusal{
		Status: http.StatusBadRequest, Message: why,
		Challenge: g.challenge(param{"error", "invalid_request"}, param{"error_description", why}),
	}
}

// unavailable refuses a request whose token cannot be judged now.
func (g *Gate) unavailable(err error) *Refusal {
	return &Refusal{Status: http.StatusServiceUnavailable, Message: err.Error() + "; try again later"}
}

// Insufficient refuses a call that wants scopes which the token does not have;
// without any, no scope would help.
func (g *Gate) Insufficient(scopes []string, why string) *Refusal {
	params := []param{{"error", "insufficient_scope"}}
	if len(scopes) > 0 {
		params = append(params, param{"scope", strings.Join(scopes, " ")})
	}
	return &Refusal{
		Status: http.StatusForbidden, Message: why,
		Challenge: g.challenge(append(params, param{"error_description", why})...),
	}
}

// basic is the scope that a client should begin with.
func (g *Gate) basic() []param {
	if g.metadata == nil || g.metadata.basic == "" {
		return nil
	}
	return []param{{"scope", g.metadata.basic}}
}

type param struct{ name, value string }

// challenge is the header WWW-Authenticate. The values are ours or were checked:
// only quotes and backslashes want care.
func (g *Gate) challenge(params ...param) string {
	if g.metadata != nil {
		params = append([]param{{"resource_metadata", g.metadata.url}}, params...)
	} else {
		params = append([]param{{"realm", "toolcrib"}}, params...)
	}
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	said := make([]string, len(params))
	for i, p := range params {
		said[i] = p.name + `="` + quote.Replace(p.value) + `"`
	}
	return "Bearer " + strings.Join(said, ", ")
}
