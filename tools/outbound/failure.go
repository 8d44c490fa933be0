package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"toolcrib/tools"
	"toolcrib/workspace/redact"
)

// The phases of a request, as errors name them.
const (
	waiting int32 = iota
	resolving
	connecting
	handshake
	sending
	heading
	reading
	pausing
)

var phaseNames = [...]string{
	waiting:    "waiting for a turn at the host",
	resolving:  "resolving the name",
	connecting: "connecting",
	handshake:  "the TLS handshake",
	sending:    "sending the request",
	heading:    "waiting for the headers",
	reading:    "reading the body",
	pausing:    "waiting to try again",
}

// phase is where a request is. A connection may be made by another goroutine.
type phase struct{ at atomic.Int32 }

func (p *phase) set(at int32) { p.at.Store(at) }

func (p *phase) String() string { return phaseNames[p.at.Load()] }

// enter notes the phase of the request that a connection is made for.
func enter(ctx context.Context, at int32) {
	if j := tripOf(ctx).journey; j != nil {
		j.phase.set(at)
	}
}

// fail returns an error of the journey as a tool returns it.
func (j *journey) fail(err error) *tools.Error {
	if e, ok := errors.AsType[*tools.Error](err); ok {
		return e
	}
	at := j.shown()
	say := func(code tools.Code, format string, args ...any) *tools.Error {
		return &tools.Error{Code: code, Msg: at + ": " + j.way.opt.Redactor.String(fmt.Sprintf(format, args...)), Err: err}
	}
	if no, ok := errors.AsType[*Refusal](err); ok {
		return say(tools.Denied, "%s: %s", j.target, no.Why)
	}
	switch {
	case errors.Is(j.caller.Err(), context.Canceled):
		return say(tools.Cancelled, "cancelled while %s", j.phase.String())
	case j.ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return say(tools.Timeout, "no end after %s, while %s", time.Since(j.began).Round(time.Millisecond), j.phase.String())
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		if e.IsNotFound {
			return say(tools.NotFound, "there is no host named %s", j.target.Hostname())
		}
		return say(tools.Unavailable, "resolving the name: %s", e.Err)
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return say(tools.Denied, "the certificate is not valid: %v", e.Err)
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		return say(tools.Unavailable, "connecting: %s", cause(e))
	}
	// net/http has no type for this error, of either version of HTTP.
	if text := err.Error(); strings.Contains(text, "response header") && (strings.Contains(text, "exceeded") || strings.Contains(text, "larger")) {
		return say(tools.TooLarge, "the headers have more than %d kB", headerBytes>>10)
	}
	return say(tools.Unavailable, "%s: %v", j.phase.String(), cause(err))
}

// cause is an error without the addresses and the names of system calls around it.
func cause(err error) error {
	if e, ok := errors.AsType[*os.SyscallError](err); ok {
		return e.Err
	}
	return err
}

func (j *journey) shown() string { return j.way.shown(j.url.String()) }

// mostShown is how many bytes of a URL are shown.
const mostShown = 300

// shown returns a URL without its secrets, for errors and logs.
func (w *way) shown(text string) string {
	text = w.opt.Redactor.String(Shown(text))
	if len(text) > mostShown {
		text = strings.ToValidUTF8(text[:mostShown], "") + "..."
	}
	return text
}

// Shown returns a URL without a user, a password, and the values of parameters, in the query or
// the fragment, that may be secrets by their names. What is no URL is quoted.
func Shown(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return fmt.Sprintf("%q", text)
	}
	if u.User != nil {
		u.User = url.User("redacted")
	}
	if u.RawQuery != "" {
		u.RawQuery = shownQuery(u.RawQuery)
	}
	if plain := shownQuery(u.Fragment); plain != u.Fragment { // where some services give a token
		u.Fragment, u.RawFragment = plain, ""
	}
	return u.String()
}

// shownQuery keeps the order of a query, and leaves out the values of secrets.
func shownQuery(query string) string {
	parts := strings.Split(query, "&")
	for i, part := range parts {
		name, value, ok := strings.Cut(part, "=")
		if ok && secretParameter(name, value) {
			parts[i] = name + "=redacted"
		}
	}
	return strings.Join(parts, "&")
}

// secretCode is the length from which a code is one that a service has issued, rather than
// that of a country or an article.
const secretCode = 16

func secretParameter(name, value string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	switch strings.ToLower(name) {
	case "code":
		return len(value) >= secretCode
	case "key", "sig", "signature", "x-amz-signature", "x-goog-signature", "appid", "session", "sessionid":
		return true
	}
	return redact.SecretName(name)
}
