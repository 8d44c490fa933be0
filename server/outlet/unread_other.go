//go:build !linux

package outlet

import "io"

func unread(io.Writer) int64 { return 0 }
