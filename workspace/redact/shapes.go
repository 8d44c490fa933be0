package redact

import (
	"encoding/base64"
	"strings"
)

// shapeRules are secrets with a form of their own.
func shapeRules() []rule {
	return []rule{
		{"private-key", "-----begin ", privateKey},
		{"jwt", "eyj", jsonWebToken},
		{"url-password", "://", urlPassword},
		{"bearer-token", "bearer ", bearer},
		{"azure-sas", "sig=", sasSignature},
	}
}

// privateKey matches a PEM block with a private key, to its end or, if it was cut, to that
// of the text.
func privateKey(s string, from, to int) (span, bool) {
	label, rest, ok := strings.Cut(s[to:min(len(s), to+64)], "-----")
	if !ok || !strings.Contains(label, "PRIVATE KEY") {
		return span{}, false
	}
	body := to + len(label) + len("-----")
	if strings.HasPrefix(rest, mark) {
		return span{}, false
	}
	end := strings.Index(s[body:], "-----END ")
	if end < 0 {
		return span{from: from, to: len(s)}, true
	}
	end += body + len("-----END ")
	if i := strings.Index(s[end:min(len(s), end+64)], "-----"); i >= 0 {
		end += i + len("-----")
	}
	return span{from: from, to: end}, true
}

// jsonWebToken matches a signed or encrypted token: parts in base64, the first
// of which is a header.
func jsonWebToken(s string, from, to int) (span, bool) {
	if s[from:to] != "eyJ" || from > 0 && isAlnum(s[from-1]) {
		return span{}, false
	}
	end := inName.run(s, to)
	parts := strings.Split(s[from:end], ".")
	if len(parts) < 3 || len(parts[0]) < 12 || len(parts[1]) < 4 {
		return span{}, false
	}
	header, err := base64.RawURLEncoding.DecodeString(parts[0])
	if err != nil || !strings.Contains(string(header), `"alg"`) && !strings.Contains(string(header), `"typ"`) {
		return span{}, false
	}
	return span{from: from, to: end}, true
}

// urlPassword matches the password of a URL; in a URL with a name alone, a name that is a
// token.
func urlPassword(s string, from, to int) (span, bool) {
	end := to
	for end < len(s) && s[end] > ' ' && strings.IndexByte("/?#\"'`<>\\", s[end]) < 0 {
		end++
	}
	at := strings.LastIndexByte(s[to:end], '@')
	if at < 0 {
		return span{}, false
	}
	user, password, both := strings.Cut(s[to:to+at], ":")
	found := span{from: to + at - len(password), to: to + at}
	if !both {
		if scheme := strings.ToLower(s[max(0, from-5):from]); !strings.HasSuffix(scheme, "http") && scheme != "https" {
			return span{}, false
		}
		password, found.from = user, to
		if len(user) < 16 || !strings.ContainsAny(user, digits) {
			return span{}, false
		}
	}
	return found, password != "" && !placeholder(password)
}

// bearer matches a bearer token anywhere.
func bearer(s string, _, to int) (span, bool) {
	end := inBearer.run(s, to)
	return span{from: to, to: end}, end-to >= 16 && strings.ContainsAny(s[to:end], digits)
}

// sasSignature matches the signature of a signed URL of a blob store.
func sasSignature(s string, from, to int) (span, bool) {
	if from == 0 || s[from-1] != '?' && s[from-1] != '&' {
		return span{}, false
	}
	end := inSAS.run(s, to)
	return span{from: to, to: end}, end-to >= 32
}
