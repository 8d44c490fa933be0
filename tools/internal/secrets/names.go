package secrets

import (
	"path"
	"slices"
	"strings"

	"toolcrib/workspace/redact"
)

// secretParts are the parts of names whose values are secrets, as in DB_PASS.
var secretParts = []string{
	"pass", "passwd", "password", "passphrase", "passcode", "pw", "pwd", "secret", "secrets", "token", "key", "apikey", "auth", "authorization",
	"cred", "creds", "credential", "credentials", "pat", "pin", "otp", "sas", "jwt", "bearer", "cookie", "session", "psk", "dsn", "salt", "signature",
	"webhook", "passwords", "requirepass", "masterauth",
}

// secretEnds are ends of such parts, as in DBPASS.
var secretEnds = []string{"pass", "passwd", "password", "passphrase", "passcode", "pwd", "pw", "secret", "token", "apikey", "secretkey", "accesskey", "privatekey", "credentials", "auth"}

// plainEnds are last parts of names that describe a secret and hold none.
var plainEnds = []string{
	"file", "path", "dir", "directory", "stdin", "fd", "name", "url", "uri", "id", "length", "len", "size", "count", "type", "policy", "field", "prompt", "helper",
	"manager", "env", "ttl", "expiry", "expires", "algorithm", "alg", "store", "sock", "socket", "limit", "agent", "mode", "method", "from", "host", "port", "user",
}

// Name reports whether the name of a variable, an option, a header or a field means that
// its value is a secret.
func Name(name string) bool {
	if len(name) > 128 || name == "PWD" || name == "OLDPWD" || strings.EqualFold(name, "cwd") {
		return false
	}
	parts := nameParts(name)
	if len(parts) == 0 || slices.Contains(plainEnds, parts[len(parts)-1]) {
		return false
	}
	for _, p := range parts {
		if slices.Contains(secretParts, p) || slices.ContainsFunc(secretEnds, func(end string) bool { return len(p) > len(end) && strings.HasSuffix(p, end) }) {
			return true
		}
	}
	return redact.SecretName(name)
}

// nameParts splits a name, in lower case, at characters that are no letters and before
// capitals that begin a part. Digits are dropped.
func nameParts(name string) (parts []string) {
	begin := 0
	end := func(at int) {
		if at > begin {
			parts = append(parts, strings.ToLower(name[begin:at]))
		}
		begin = at
	}
	for i := range len(name) {
		c := name[i]
		upper := c >= 'A' && c <= 'Z'
		switch {
		case !upper && (c < 'a' || c > 'z'):
			end(i)
			begin = i + 1
		case upper && i > begin && name[i-1] >= 'a' && name[i-1] <= 'z':
			end(i)
		}
	}
	end(len(name))
	return parts
}

// option reports whether a word is an option whose value is a secret, and returns its name.
// Single letters depend on the program, see programs.go.
func option(word string) bool {
	name := strings.TrimLeft(word, "-")
	if len(name) < 3 || name == word || strings.ContainsAny(name, "=:$ \t\n") {
		return false
	}
	parts := nameParts(name)
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	switch {
	case slices.Contains([]string{"no", "without", "disable", "skip", "show"}, parts[0]):
		return false
	case last == "key" && len(parts) == 1: // a file's, or a sort key
		return false
	case word[1] != '-' && len(parts) == 1: // not a row of option letters with such an end
		return slices.Contains(secretParts, last) || redact.SecretName(name) || strings.HasSuffix(last, "pass")
	}
	return Name(name)
}

// fileParts are parts of the names of files that hold mainly a secret.
var fileParts = []string{"secret", "password", "passwd", "passphrase", "token", "credential", "apikey", "api_key", "api-key"}

// File reports whether a file holds secrets, by its name: text written to it counts as a
// secret.
func File(name string) bool {
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	switch base {
	case ".netrc", "_netrc", ".pgpass", "pgpass.conf", ".git-credentials", ".htpasswd", ".my.cnf", ".smbcredentials", ".vault-token", ".npmrc", ".pypirc", ".dockercfg":
		return true
	}
	if strings.HasPrefix(base, "id_") && !strings.HasSuffix(base, ".pub") {
		return true
	}
	switch path.Ext(base) {
	case ".pem", ".key", ".p12", ".pfx", ".jks", ".keytab":
		return true
	}
	return slices.ContainsFunc(fileParts, func(p string) bool { return strings.Contains(base, p) })
}

var (
	variableOnly = later(`^["']?(?:\$\{?\w+\}?|\$env:\w+|%\w+%|\{\{[^{}]*\}\}|<[a-zA-Z][\w -]*>)["']?$`)
	substitution = later("^[\"']?(?:\\$\\(|`)")
	prints       = later(`\b(?:echo|printf|print|yes)\b|<<`)
)

// empty reports whether a value holds no secret itself, because it refers to another value.
func empty(value string) bool {
	switch {
	case len(value) > 500 && !substitution().MatchString(value):
		return false
	case value == "", value == "-", strings.HasPrefix(value, Mark[:9]), variableOnly().MatchString(value):
		return true
	case substitution().MatchString(value):
		return !prints().MatchString(value)
	}
	return false
}
