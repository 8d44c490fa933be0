package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
)

// hashBytes returns the SHA-256 of data in lower-case hex.
func hashBytes(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// hashOf returns the SHA-256 of what r gives in lower-case hex.
func hashOf(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
