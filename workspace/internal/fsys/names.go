package fsys

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// Below returns host relative to dir, which holds it on a component boundary.
func Below(dir, host string) (rel string, ok bool) {
	if SameName(dir, host) {
		return ".", true
	}
	if !strings.HasSuffix(dir, "/") {
		dir += "/"
	}
	if len(host) > len(dir) && SameName(dir, host[:len(dir)]) {
		return host[len(dir):], true
	}
	return "", false
}

// SameName compares the names of directories as the system does.
func SameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// WindowsAlias returns the first component of rel that Windows takes for another name: a
// stream (a:b), a short name (GIT~1), or one with a dot or space at the end, which Windows
// drops; "" for none.
func WindowsAlias(rel string) string {
	for name := range strings.SplitSeq(rel, "/") {
		short := strings.LastIndexByte(name, '~')
		if name != "." && (strings.ContainsRune(name, ':') || strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") ||
			short >= 0 && short+1 < len(name) && '0' <= name[short+1] && name[short+1] <= '9') {
			return name
		}
	}
	return ""
}

// Show makes a path fit for a message: characters that do not print, such as
// those that reverse the direction of text, are escaped, and a long one is cut.
func Show(text string) string {
	const most = 200
	cut := ""
	if len(text) > most {
		cut = fmt.Sprintf("... (%d bytes)", len(text))
		text = strings.ToValidUTF8(text[:most], "")
	}
	for _, r := range text {
		if r == '\uFFFD' || !strconv.IsPrint(r) {
			return strconv.Quote(text) + cut
		}
	}
	return text + cut
}

// Cause words a system error without the host path that it carries.
func Cause(err error) string {
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// A temporary file, directory or link of a change has a name of this shape around
// 16 lower-case hexadecimal digits. Listings leave such entries out.
const (
	tempPrefix = ".toolcrib-"
	tempDigits = 16
	tempSuffix = ".tmp"
)

// NewTemp returns a name that nobody has.
func NewTemp() string {
	var b [tempDigits / 2]byte
	rand.Read(b[:]) // never fails
	return tempPrefix + hex.EncodeToString(b[:]) + tempSuffix
}

// IsTemp reports whether an entry is one that a change has made for itself.
func IsTemp(name string) bool {
	if len(name) != len(tempPrefix)+tempDigits+len(tempSuffix) {
		return false
	}
	digits, ok := strings.CutPrefix(name, tempPrefix)
	if !ok {
		return false
	}
	digits, ok = strings.CutSuffix(digits, tempSuffix)
	return ok && strings.Trim(digits, "0123456789abcdef") == ""
}

// HashBytes returns the SHA-256 of data in lower-case hex.
func HashBytes(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// HashDigits is how many digits of a hash name a content.
const HashDigits = 12

// Names reports whether want names the content with this hash or version token: it is the
// same, or the first digits of the hash.
func Names(want, hash string) bool {
	want = strings.ToLower(want)
	if strings.HasPrefix(want, "v:") {
		return want == hash
	}
	return len(want) >= HashDigits && strings.HasPrefix(hash, want)
}

// Hash returns the SHA-256 of what r gives in lower-case hex.
func Hash(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
