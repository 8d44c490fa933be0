// Package handles makes the handles of jobs and interpreters, which belong to a principal.
//
// Start at [New]. The package imports tools for the name of the principal without
// authentication, and nothing else of toolcrib.
package handles

import (
	"crypto/rand"
	"strings"

	"toolcrib/tools"
)

// Short is the length of a handle. Its owner is checked, so that it need not be a secret.
const Short = 8

// Long is the length of a handle of [tools.Anonymous], which several users may be: only
// those who know the handle can use it.
const Long = 26

// New returns a random handle for a principal, of lower-case base32 characters.
func New(principal string) string {
	text := strings.ToLower(rand.Text())[:Long]
	if principal == tools.Anonymous {
		return text
	}
	return text[:Short]
}

// Is reports whether a text has the form of a handle.
func Is(text string) bool {
	return (len(text) == Short || len(text) == Long) && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz234567") == ""
}
