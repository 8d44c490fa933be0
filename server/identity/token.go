package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

// MinToken is the fewest characters of a token that somebody chose.
const MinToken = 32

// Token is a static token of the configuration. Its name is the principal.
type Token struct {
	Name     string   `json:"name" jsonschema_description:"whose token it is: the principal of its calls"`
	Hash     string   `json:"hash,omitempty" jsonschema_description:"sha256: and the SHA-256 of the token in hex, as toolcrib token new prints it"`
	Token    string   `json:"token,omitempty" secret:"yes" jsonschema_description:"the token itself, in the place of its hash"`
	Scopes   []string `json:"scopes,omitempty" jsonschema_description:"what the token may call, by the names of scopes (default everything)"`
	Toolsets []string `json:"toolsets,omitempty" jsonschema_description:"only tools of these categories"`
	ReadOnly bool     `json:"read_only,omitempty" jsonschema_description:"only tools that change nothing"`
	Root     string   `json:"root,omitempty" expand:"-" jsonschema_description:"the directory of its files, in the place of principal_root"`
}

// NewToken makes a token of 256 bits, and returns it with what Token.Hash has of it.
func NewToken() (token, hash string) {
	raw := make([]byte, 32)
	rand.Read(raw) // never returns an error
	token = "tc_" + base64.RawURLEncoding.EncodeToString(raw)
	sum := sha256.Sum256([]byte(token))
	return token, hashPrefix + hex.EncodeToString(sum[:])
}

// CheckToken refuses a token that somebody chose and that cannot be one.
func CheckToken(text string) error {
	_, err := Token{Name: "NAME", Token: text}.sum()
	return err
}

const hashPrefix = "sha256:"

// static knows static tokens by their hashes.
type static []entry

type entry struct {
	hash [sha256.Size]byte
	who  Who
}

func newStatic(tokens []Token, scopes Scopes) (static, error) {
	compiled, err := scopes.compile()
	if err != nil {
		return nil, err
	}
	var list static
	names, hashes := map[string]bool{}, map[[sha256.Size]byte]string{}
	for i, t := range tokens {
		wrong := func(field string, err error) error {
			return &SettingError{Key: "tokens", At: fmt.Sprintf("tokens[%d]%s", i+1, field), Err: err}
		}
		if err := checkName(t.Name); err != nil {
			return nil, wrong(".name", err)
		}
		e := entry{who: Who{Principal: t.Name, Name: t.Name}}
		if e.hash, err = t.sum(); err != nil {
			return nil, wrong("", fmt.Errorf("token %s: %w", t.Name, err))
		}
		if e.who.Grant, err = compiled.grantOf(t); err != nil {
			return nil, wrong(".scopes", fmt.Errorf("token %s: %w", t.Name, err))
		}
		if t.Root != "" {
			if e.who.root, err = parseTemplate(t.Root); err == nil {
				err = e.who.root.check()
			}
			if err != nil {
				return nil, wrong(".root", fmt.Errorf("token %s: %w", t.Name, err))
			}
		}
		if names[t.Name] {
			return nil, wrong(".name", fmt.Errorf("two tokens are called %s; a name is a principal", t.Name))
		}
		if other, taken := hashes[e.hash]; taken {
			return nil, wrong("", fmt.Errorf("tokens %s and %s are the same", other, t.Name))
		}
		names[t.Name], hashes[e.hash] = true, t.Name
		list = append(list, e)
	}
	return list, nil
}

// sum returns the hash of the token, which its entry has in one of two ways.
func (t Token) sum() (sum [sha256.Size]byte, err error) {
	switch {
	case (t.Token == "") == (t.Hash == ""):
		return sum, fmt.Errorf("an entry has either hash or token; toolcrib token new %s makes one", t.Name)
	case t.Token != "" && len(t.Token) < MinToken:
		return sum, fmt.Errorf("the token has %d characters, it needs %d; toolcrib token new %s makes one", len(t.Token), MinToken, t.Name)
	case t.Token != "" && !tokenText(t.Token):
		return sum, fmt.Errorf("the token has characters that no header carries; toolcrib token new %s makes one", t.Name)
	case t.Token != "":
		return sha256.Sum256([]byte(t.Token)), nil
	}
	digits, ok := strings.CutPrefix(t.Hash, hashPrefix)
	raw, err := hex.DecodeString(digits)
	if !ok || err != nil || len(raw) != len(sum) {
		return sum, fmt.Errorf("the hash is not %s and %d digits in hex", hashPrefix, 2*len(sum))
	}
	return [sha256.Size]byte(raw), nil
}

// whose implements [verifier]. It looks at every token, so that the time it takes
// says nothing of them.
func (s static) whose(_ context.Context, token string) (Who, error) {
	sum := sha256.Sum256([]byte(token))
	found := -1
	for i, e := range s {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], e.hash[:]), i, found)
	}
	if found < 0 {
		return Who{}, invalidToken("the bearer token is not one of this server")
	}
	return s[found].who, nil
}
