package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// template is the name of a directory of which components may be variables:
// ${sub} is the name of a static token or the subject of a JWT, ${iss} identifies its
// issuer.
type template struct {
	fixed string   // exists
	below []string // components under it, from the first variable on; none = fixed alone
}

// parseTemplate takes a template apart.
func parseTemplate(text string) (*template, error) {
	if !filepath.IsAbs(text) {
		return nil, fmt.Errorf("the root %q is not an absolute path", text)
	}
	t := &template{fixed: filepath.Clean(text)}
	before, _, found := strings.Cut(t.fixed, "$")
	if !found {
		return t, nil
	}
	cut := strings.LastIndexByte(before, filepath.Separator)
	t.below = strings.Split(t.fixed[cut+1:], string(filepath.Separator))
	t.fixed = filepath.Clean(t.fixed[:cut+1])
	for _, c := range t.below {
		if strings.ContainsRune(c, '$') && c != "${sub}" && c != "${iss}" {
			return nil, fmt.Errorf("the root %q: %q is not a whole component ${sub} or ${iss}", text, c)
		}
	}
	return t, nil
}

// check says whether the fixed part is a directory.
func (t *template) check() error {
	info, err := os.Stat(t.fixed)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", t.fixed)
	}
	return err
}

// tells reports whether two principals of one issuer get two directories.
func (t *template) tells() bool {
	return slices.Contains(t.below, "${sub}")
}

// make returns the directory of a principal. It makes missing directories below the fixed
// part, for its user alone. A symlink among them is refused, since it could lead to another
// principal.
func (t *template) make(who Who) (string, error) {
	if len(t.below) == 0 {
		return t.fixed, nil
	}
	top, err := os.OpenRoot(t.fixed)
	if err != nil {
		return "", err
	}
	defer top.Close()
	rel := ""
	for _, c := range t.below {
		switch c {
		case "${sub}":
			c = component(who.Name)
		case "${iss}":
			c = issuerComponent(who.Issuer)
		}
		rel = filepath.Join(rel, c)
		if err := top.Mkdir(rel, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		if info, err := top.Lstat(rel); err != nil || !info.IsDir() {
			return "", errors.Join(err, fmt.Errorf("%s is not a directory", filepath.Join(t.fixed, rel)))
		}
	}
	return filepath.Join(t.fixed, rel), nil
}

// plain matches the texts that are used unchanged as the name of a directory: they stay
// different on a file system that ignores case.
var plain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9_][a-z0-9._-]{0,62}[a-z0-9_-]$|^[a-z0-9_]$`) })

// marked are the names that component makes of other texts, and devices are names that
// Windows takes for something else, also with an extension.
var (
	marked  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`--[0-9a-f]{40}$`) })
	devices = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`) })
)

// component returns a text as the name of a directory. Different texts have different
// names on every file system: a text that is not plain gets its printable part followed by
// a part of its SHA-256.
func component(text string) string {
	if plain().MatchString(text) && !marked().MatchString(text) && !devices().MatchString(text) {
		return text
	}
	const shown = 24
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case b.Len() == shown:
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	sum := sha256.Sum256([]byte(text))
	return b.String() + "--" + hex.EncodeToString(sum[:20])
}

// issuerComponent returns an issuer as the name of a directory.
func issuerComponent(issuer string) string {
	if issuer == "" {
		return "tokens"
	}
	return component(issuer)
}
