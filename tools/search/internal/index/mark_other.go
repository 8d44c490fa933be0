//go:build !amd64

package index

// mark is markPortable.
func mark(seen *[gramCount / 64]uint64, of *alphabet, window uint32, text []byte, fresh *[freshSize]uint32) (end, n uint32, high bool) {
	return markPortable(seen, of, window, text, fresh)
}
