package match

import (
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFinderStaysInTheText searches texts between pages that cannot be read, where
// a byte too many ends the process.
func TestFinderStaysInTheText(t *testing.T) {
	page := unix.Getpagesize()
	memory, err := unix.Mmap(-1, 0, 3*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(memory); err != nil {
			t.Error(err)
		}
	})
	for _, guard := range [][]byte{memory[:page], memory[2*page:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	inner := memory[page : 2*page : 2*page]
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, literals := range literalSets {
		words := fragments(literals)
		f := newFinder(literals)
		for at := 0; at < page; {
			at += copy(inner[at:], words[rnd.IntN(len(words))])
		}
		for size := range 400 {
			for _, text := range [][]byte{inner[:size], inner[page-size:]} {
				checkFinder(t, text, literals)
				for from := size; from >= 0; from -= 1 + rnd.IntN(9) {
					for _, n := range f.needles {
						n.core.index(text, from)
					}
				}
			}
		}
	}
}
