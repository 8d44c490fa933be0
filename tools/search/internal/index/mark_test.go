package index_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toolcrib/tools/search/internal/index"
)

// The fresh grams are those that were not seen before.
func TestMark(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var pieces [][]byte
		for range rnd.IntN(20) {
			p := make([]byte, rnd.IntN(1+[]int{4, 4096}[rnd.IntN(2)]))
			some := 1 + rnd.IntN(256)
			for i := range p {
				p[i] = byte(rnd.IntN(some))
			}
			if n := len(p); n > 0 && some <= 0x80 && rnd.IntN(2) == 0 {
				p[rnd.IntN(n)] = 0x80 + byte(rnd.IntN(0x80)) // the only one beyond ASCII
			}
			pieces = append(pieces, p)
		}
		got, want := index.Marked(pieces)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
}

// A document has the grams of its lines, each once, whatever was read before it.
func TestGramsOfDocuments(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var texts [][]byte
	for range 300 {
		texts = append(texts, randomData(rnd))
	}
	texts = append(texts, texts[0], texts[1], []byte("ab"), []byte("\n\n"), []byte("a\nb\nabc"))
	got, want := index.Grams(texts)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatal(diff)
	}
}
