package index

// freshSize is how many bytes of text are gone through at once.
const freshSize = 4096

// mark marks the grams of at most freshSize bytes as seen, and returns those that were not;
// high reports whether a byte is not ASCII. Which grams are fresh cannot be predicted, so no
// branch depends on it.
func mark(seen *[gramCount / 64]uint64, of *alphabet, window uint32, text []byte, fresh *[freshSize]uint32) (end, n uint32, high bool) {
	if seen == nil || of == nil || fresh == nil {
		return window, 0, false // checked once instead of for each byte
	}
	bits := byte(0)
	for _, c := range text {
		bits |= c
		window = shift(window, of[c])
		g := gram(window)
		fresh[n%freshSize] = g
		word := &seen[g/64]
		now := *word | 1<<(g%64)
		unseen := uint32(0)
		if *word != now {
			unseen = 1
		}
		*word = now
		n += unseen
	}
	return window, n, bits >= 0x80
}
