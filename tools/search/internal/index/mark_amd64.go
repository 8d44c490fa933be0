package index

// mark is markPortable in half of the instructions: the processor's flag for the bit that
// was seen before counts the fresh ones.
//
//go:noescape
func mark(seen *[gramCount / 64]uint64, of *alphabet, window uint32, text []byte, fresh *[freshSize]uint32) (end, n uint32, high bool)
