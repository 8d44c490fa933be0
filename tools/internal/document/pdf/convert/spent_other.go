//go:build !unix

package main

import "time"

// spent is not known on this system.
func spent() time.Duration { return 0 }
