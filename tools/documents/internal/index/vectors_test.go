package index_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toolcrib/tools/documents/internal/index"
	"toolcrib/tools/documents/internal/rank"
	"toolcrib/tools/internal/tooltest"
)

// present returns a function that keeps the contents that files have now.
func present(t *testing.T, x *index.Index) func(index.ID) bool {
	t.Helper()
	files, err := x.Files(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	there := map[index.ID]bool{}
	for _, f := range files {
		there[f.Content] = true
	}
	return func(id index.ID) bool { return there[id] }
}

// Vectors are made in steps, and passages that are gone are not found by theirs.
func TestVectors(t *testing.T) {
	ws, _ := tooltest.Tree(t, nil)
	x := open(t, ws)
	c := sentences(rand.New(rand.NewPCG(1, 4)), 700)
	for i := range c {
		c[i] += fmt.Sprintf(" number%d", i)
	}
	c[650] += " zygomorphic"
	if err := x.Put(t.Context(), c.readings(0, len(c))); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{200, 0, 0} {
		left, err := x.Vectors(t.Context(), x.Hashed(), rank.Dimensions, everything, len(c), func(int, int) bool { return false })
		if left != want || err != nil {
			t.Errorf("%d are left, want %d (%v)", left, want, err)
		}
	}
	for _, found := range []bool{true, false} {
		query, err := x.Hashed().Vectors(t.Context(), []string{"zigomorphc"})
		if err != nil {
			t.Fatal(err)
		}
		hits, err := x.Similar(t.Context(), x.Hashed(), query[0], present(t, x), 1)
		if err != nil || len(hits) != 1 {
			t.Fatalf("%v (%v)", hits, err)
		}
		if p, _, err := x.Passage(t.Context(), hits[0].Passage); err != nil || strings.Contains(p.Text, "zygomorphic") != found {
			t.Errorf("%q is the nearest (%v)", p.Text, err)
		}
		if err := x.Forget(t.Context(), []string{"650"}); err != nil {
			t.Fatal(err)
		}
	}
}

// A passage has the vector of all its words, also if it is the only one that lacks one.
func TestVectorOfLongPassage(t *testing.T) {
	ws, _ := tooltest.Tree(t, nil)
	x := open(t, ws)
	if err := x.Put(t.Context(), collection{strings.Repeat("common ", 400) + "zygomorphic"}.readings(0, 1)); err != nil {
		t.Fatal(err)
	}
	m := x.Hashed()
	query, err := m.Vectors(t.Context(), []string{"zygomorphic"})
	if err != nil {
		t.Fatal(err)
	}
	if left, err := x.Vectors(t.Context(), m, rank.Dimensions, everything, 1, func(int, int) bool { return true }); left > 0 || err != nil {
		t.Fatal(left, err)
	}
	if hits, err := x.Similar(t.Context(), m, query[0], everything, 1); err != nil || len(hits) != 1 || hits[0].Score < 0.1 {
		t.Errorf("%v (%v)", hits, err)
	}
}

// counting is a model that counts the texts that it was asked for.
type counting struct {
	dimensions, asked int
	failAt            int // how many texts it serves before it fails; 0 = it does not
}

var errFull = errors.New("the model is full")

func (m *counting) Name() string             { return "counting" }
func (m *counting) Batch(texts []string) int { return min(len(texts), 10) }
func (m *counting) Vectors(_ context.Context, texts []string) (all [][]int8, err error) {
	for _, text := range texts {
		if m.failAt > 0 && m.asked == m.failAt {
			return all, errFull
		}
		m.asked++
		v := make([]int8, m.dimensions)
		v[len(text)%m.dimensions] = 1
		all = append(all, v)
	}
	return all, nil
}

// A model is asked once for a text, whatever files have it and had it, and for kept ones alone;
// what it has done before it fails stays; vectors of another length are made anew.
func TestVectorsOfModel(t *testing.T) {
	ws, _ := tooltest.Tree(t, nil)
	x := open(t, ws)
	c := make(collection, 100)
	for i := range c {
		c[i] = fmt.Sprintf("text %d", i/2) // each twice
	}
	if err := x.Put(t.Context(), c.readings(0, len(c))); err != nil {
		t.Fatal(err)
	}
	m := &counting{dimensions: 8}
	nothing := func(index.ID) bool { return false }
	if _, err := x.Vectors(t.Context(), m, m.dimensions, nothing, 1, func(int, int) bool { return true }); m.asked > 0 || err != nil {
		t.Errorf("nothing is kept, and %d texts are asked for (%v)", m.asked, err)
	}
	for _, test := range []struct {
		name                string
		dimensions, failAt  int
		passages            int
		wantLeft, wantAsked int
		want                error
	}{
		{"fails", 8, 15, 100, 70, 15, errFull},
		{"goes on", 8, 0, 100, 0, 35, nil},
		{"is done", 8, 0, 100, 0, 0, nil},
		{"another length", 16, 0, 100, 0, 50, nil},
		{"a known text in a new file", 16, 0, 101, 0, 0, nil},
	} {
		if test.passages > len(c) {
			moved := collection{c[0]}.readings(0, 1)
			moved[0].Path, moved[0].Key = "moved", []byte("moved")
			if err := x.Put(t.Context(), moved); err != nil {
				t.Fatal(err)
			}
		}
		m.dimensions, m.failAt, m.asked = test.dimensions, test.failAt, 0
		left, err := x.Vectors(t.Context(), m, m.dimensions, everything, test.passages, func(int, int) bool { return true })
		if left != test.wantLeft || m.asked != test.wantAsked || !errors.Is(err, test.want) {
			t.Errorf("%s: %d left, %d asked (%v); want %d, %d (%v)", test.name, left, m.asked, err, test.wantLeft, test.wantAsked, test.want)
		}
	}
}
