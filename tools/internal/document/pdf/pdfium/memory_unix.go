//go:build unix

package pdfium

import "golang.org/x/sys/unix"

func reserveRange(size int) []byte {
	all, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return all
}

func releaseRange(all []byte) {
	_ = unix.Munmap(all) // it was made by Mmap
}
