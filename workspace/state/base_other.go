//go:build !unix

package state

import "os"

// FallbackBase returns "": this system has no directory but the user's own.
func FallbackBase() string { return "" }

// refuseForeign has nothing to refuse: the access lists of the parent rule.
func refuseForeign(string, *os.Root) error { return nil }
