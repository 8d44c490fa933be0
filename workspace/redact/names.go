package redact

import "strings"

// secretNames are the ends of names, in lower case and without - and _, whose
// values are secrets.
var secretNames = [...]string{
	"password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "accesskey", "secretkey", "privatekey",
	"signingkey", "encryptionkey", "accountkey", "sharedkey", "masterkey", "authkey", "credential", "credentials", "authorization",
}

// plainNames are the ends of names that end like these and hold no secret: positions in
// lists, and names of the protocol.
var plainNames = [...]string{
	"nexttoken", "pagetoken", "continuationtoken", "canceltoken", "cancellationtoken", "synctoken", "progresstoken", "maxtoken",
	"pertoken", "eostoken", "bostoken", "padtoken", "stoptoken", "cwd",
}

// SecretName reports whether the value of a name is a secret.
func SecretName(name string) bool {
	if len(name) > 128 {
		return false
	}
	buf := make([]byte, 0, 128)
	for _, c := range []byte(name) {
		if isAlnum(c) || c >= 0x80 {
			buf = append(buf, lower(c))
		}
	}
	bare := strings.TrimRight(string(buf), digits)
	for _, plain := range plainNames {
		if strings.HasSuffix(bare, plain) {
			return false
		}
	}
	for _, end := range secretNames {
		if before, ok := strings.CutSuffix(bare, end); ok {
			return end != "pwd" || before != "" && before != "old" // which are directories
		}
	}
	return bare == "cookie" || bare == "setcookie" || bare == "auth" || bare == "pass"
}

// nameRules find values behind the names of secrets, in assignments, headers,
// flags, and objects of any notation.
func nameRules() []rule {
	var rules []rule
	for _, word := range []string{
		"password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "api_key", "api-key",
		"accesskey", "access_key", "access-key", "secretkey", "secret_key", "secret-key", "privatekey", "private_key", "private-key",
		"signingkey", "signing_key", "signing-key", "encryptionkey", "encryption_key", "encryption-key", "accountkey", "account_key",
		"sharedkey", "shared_key", "masterkey", "master_key", "authkey", "auth_key", "auth-key", "credential", "credentials",
	} {
		rules = append(rules, rule{"secret-value", word, assigned})
	}
	return append(rules, rule{"authorization", "authorization", header}, rule{"cookie", "cookie", header})
}

// placeholder reports whether a value names another one, or is empty.
func placeholder(value string) bool {
	if value == "" || strings.HasPrefix(value, mark) || len(value) > 2 && strings.Trim(value, "*.xX-") == "" {
		return true
	}
	switch value[0] {
	case '$', '<', '{', '%':
		return true
	}
	switch strings.ToLower(value) {
	case "null", "nil", "none", "true", "false", "undefined", "string", "required", "optional", "redacted", "empty", "unset":
		return true
	}
	return false
}
