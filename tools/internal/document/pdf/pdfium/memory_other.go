//go:build !unix

package pdfium

func reserveRange(int) []byte { return nil }

func releaseRange([]byte) {}
