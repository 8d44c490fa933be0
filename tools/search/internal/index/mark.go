package index

// freshSize is how many bytes of text are gone through at once.
const freshSize = 4096

// markPortable notes the grams of at most freshSize bytes as seen, and returns those that
// were not. It cannot be foretold which these are, so no branch depends on it.
func markPortable(seen *[gramCount / 64]uint64, of *alphabet, window uint32, text []byte, fresh *[freshSize]uint32) (end, n uint32) {
	if seen == nil || of == nil || fresh == nil {
		return window, 0 // looked at once, instead of for each byte
	}
	for _, c := range text {
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
	return window, n
}
