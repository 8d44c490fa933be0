package workspace

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// A temporary file, directory or link of a change has a name of this shape around
// 16 lower-case hexadecimal digits. Listings leave such entries out.
const (
	tempPrefix = ".toolcrib-"
	tempDigits = 16
	tempSuffix = ".tmp"
)

// newTempName returns a name that nobody has.
func newTempName() string {
	var b [tempDigits / 2]byte
	rand.Read(b[:]) // never fails
	return tempPrefix + hex.EncodeToString(b[:]) + tempSuffix
}

// tempName tells whether an entry is one that a change has made for itself.
func tempName(name string) bool {
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
