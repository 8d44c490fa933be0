//go:build unix

package index

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// allocate returns n zero values outside the garbage collector's heap, so that they do not
// delay its next cycle by their size. T must not contain pointers. The values must be given to
// release once.
func allocate[T any](n int) ([]T, error) {
	var t T
	size := max(n*int(unsafe.Sizeof(t)), 1)
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n), nil
}

// release gives values of allocate back.
func release[T any](values []T) {
	_ = unix.Munmap(bytesOf(values)) // fails only for memory that was not allocated
}

// bytesOf returns all that was allocated for values.
func bytesOf[T any](values []T) []byte {
	var t T
	first := (*byte)(unsafe.Pointer(unsafe.SliceData(values)))
	return unsafe.Slice(first, max(cap(values)*int(unsafe.Sizeof(t)), 1))
}
