package index_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/search/internal/index"
	"toolcrib/tools/search/internal/match"
	"toolcrib/workspace/fileindex"
)

var pieces = []string{
	"static ", "int ", "_probe_", "(", "foo", "Foo", "FOO", "return", "struct {", "\n", "\n\t", "\r\n", "\t", "0x1f", "1234567", "k", "K", "\u212a", "s", "S", "\u017f",
	"mask", "MASK", "ma\u017f\u212a", "é", "É", "日本語", "привет", "\xff", "\xe2\x84", "\xaa", "e", "zq", "", "-->", "TODO", "\x01", "a.b",
}

func randomText(rnd *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(pieces[rnd.IntN(len(pieces))])
	}
	return b.String()
}

// randomData is the content of a file: mostly text, small and large.
func randomData(rnd *rand.Rand) []byte {
	text := randomText(rnd, rnd.IntN(60))
	switch rnd.IntN(20) {
	case 0:
		return nil
	case 1:
		return []byte("\xef\xbb\xbf" + text)
	case 2:
		data := []byte("\xff\xfe")
		for _, u := range utf16.Encode([]rune(text)) {
			data = append(data, byte(u), byte(u>>8))
		}
		return data
	case 3:
		return []byte(text + "\x00" + text)
	case 4:
		return []byte(strings.Repeat("x", 8<<10) + "\x00" + text)
	case 5: // the buffer ends in the middle of something
		pad := 256<<10 - rnd.IntN(8)
		return []byte(strings.Repeat("y", pad) + "\u212a" + text)
	case 6:
		return []byte(randomText(rnd, 3000))
	}
	return []byte(text)
}

func randomNeed(rnd *rand.Rand, files []file) [][]match.Literal {
	var need [][]match.Literal
	for range 1 + rnd.IntN(3) {
		var literals []match.Literal
		for range 1 + rnd.IntN(3) {
			l := match.Literal{Fold: rnd.IntN(3) == 0}
			if len(files) > 0 && rnd.IntN(4) > 0 {
				t, _ := text(files[rnd.IntN(len(files))].data)
				at := rnd.IntN(len(t) + 1)
				l.Text = t[at:min(len(t), at+1+rnd.IntN(30))]
			} else {
				l.Text = randomText(rnd, 1+rnd.IntN(3))
			}
			l.Text, _, _ = strings.Cut(l.Text, "\n")
			if l.Fold {
				l.Text = strings.Map(func(r rune) rune {
					if r >= 0x80 {
						return -1
					}
					return r
				}, strings.ToLower(l.Text))
			}
			literals = append(literals, l)
		}
		need = append(need, literals)
	}
	return need
}

func one(text string) [][]match.Literal { return [][]match.Literal{{{Text: text}}} }

// Whatever happens to the files, none that holds what is asked for is ruled out.
func TestAgainstScan(t *testing.T) {
	tooltest.Unraced(t)
	for seed := range uint64(2) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		tr := newTree(t)
		x := index.New(tr, index.Options{Memory: 64 << 20})
		w := index.NewWorker(x)
		ruledOut, asked := 0, 0
		for range 50 {
			for range rnd.IntN(30) {
				name := fmt.Sprintf("f%d", rnd.IntN(80))
				if tr.files[name] != nil && rnd.IntN(4) == 0 {
					tr.remove(name)
				} else {
					tr.write(name, randomData(rnd))
				}
			}
			if rnd.IntN(4) > 0 {
				if err := w.Update(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for range 20 {
				need := randomNeed(rnd, tr.list())
				ruledOut += tr.check(x, need)
				asked += len(tr.files)
			}
			if t.Failed() {
				return
			}
		}
		if ruledOut < asked/3 {
			t.Errorf("of %d questions only %d could be answered with no", asked, ruledOut)
		}
		if s := x.Stats(); s.Segments > 20 || x.Documents() > 5*80 {
			t.Errorf("%d segments with %d documents for at most 80 files", s.Segments, x.Documents())
		}
	}
}

func TestClasses(t *testing.T) {
	long := strings.Repeat("abcdefghijklmnopqrstuvwxyz ", 80_000)
	for _, tt := range []struct {
		name, data, literal string
		fold                bool
		want                index.Class
	}{
		{"there", "some needle here", "needle", false, index.May},
		{"not there", "some thread here", "needle", false, index.Not},
		{"the other case", "some NEEDLE here", "needle", false, index.Not},
		{"case ignored", "some NeeDLE here", "needle", true, index.May},
		{"case ignored, not there", "some NeeDL here", "needle", true, index.Not},
		{"over two lines", "nee\ndle", "needle", false, index.Not},
		{"end of a line", "need\r\nneedle\r\n", "needle", false, index.May},
		{"end of the text", "needle", "needle", false, index.May},
		{"three bytes at the end", "nee", "nee", false, index.May},
		{"two bytes tell nothing", "x", "ne", false, index.May},
		{"empty", "", "needle", false, index.Not},
		{"binary", "needle\x00", "needle", false, index.Binary},
		{"NUL behind the head", strings.Repeat("x", 8<<10) + "\x00needle", "needle", false, index.May},
		{"NUL behind a byte order mark", "\xef\xbb\xbf\x00 thread", "needle", false, index.Not},
		{"UTF-16", "\xff\xfet\x00h\x00", "needle", false, index.May},
		{"UTF-32", "\xff\xfe\x00\x00t\x00\x00\x00", "needle", false, index.May},
		{"long line, at its end", long + "needle", "needle", false, index.May},
		{"long line, not there", long, "needle", false, index.Not},
		{"long line, over the edge", long[:256<<10-3] + "needle", "needle", false, index.May},
		{"letter beyond ASCII", "ma\u017fk", "mask", true, index.May},
		{"long before the end", "ma\u017fk" + long[:100<<10], "mask", true, index.May},
		{"long before the end of a large file", "ma\u017fk" + long, "mask", true, index.May},
		{"at the end of a large file", long + "ma\u017fk", "mask", true, index.May},
		{"and over the edge", long[:256<<10-1] + "\u017fk", "zzsk", true, index.May},
		{"which does not matter here", "ma\u017fk", "lint", true, index.Not},
		{"nor when case counts", "ma\u017fk", "mask", false, index.Not},
		{"bytes that are not UTF-8", "\xffabc\xfe", "\xffabc\xfe", false, index.May},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := newTree(t)
			tr.write("f", []byte(tt.data))
			x := index.New(tr, index.Options{Memory: 1 << 20})
			f := tr.list()[0].File
			need := [][]match.Literal{{{Text: tt.literal, Fold: tt.fold}}}
			if got := x.Select(need, false).Class(f.ID, f.Version); got != index.May {
				t.Errorf("class %d before anything was read", got)
			}
			if err := index.NewWorker(x).Update(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := x.Select(need, false).Class(f.ID, f.Version); got != tt.want {
				t.Errorf("class %d, want %d", got, tt.want)
			}
			if f.Version++; x.Select(need, false).Class(f.ID, f.Version) != index.May {
				t.Error("another version is not a file that may hold everything")
			}
			var nothing *index.Selection
			if nothing.Class(f.ID, f.Version) != index.May {
				t.Error("no selection rules a file out")
			}
		})
	}
}

func TestUnreadable(t *testing.T) {
	tr := newTree(t)
	tr.write("gone", []byte("thread"))
	tr.write("sparse", nil)
	if err := os.Truncate(filepath.Join(tr.dir, "sparse"), 1<<30); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(tr.dir, "gone")); err != nil {
		t.Fatal(err)
	}
	x := index.New(tr, index.Options{Memory: 1 << 20})
	if err := index.NewWorker(x).Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, f := range tr.list() {
		if c := x.Select(one("needle"), false).Class(f.ID, f.Version); c != index.May {
			t.Errorf("%s: class %d", f.Rel, c)
		}
	}
	if s := x.Stats(); s.Other != 2 || s.Files != 0 {
		t.Errorf("%+v", s)
	}
}

// Several segments are made when the files are many, and some stay out when the memory
// is small; nothing else changes.
func TestManyFilesAndLittleMemory(t *testing.T) {
	tr := newTree(t)
	rnd := rand.New(rand.NewPCG(7, 7))
	const n = 9000
	for i := range n {
		tr.write(fmt.Sprintf("f%05d", i), fmt.Appendf(nil, "common number_%d %s", i, randomText(rnd, 10)))
	}
	x := index.New(tr, index.Options{Memory: 64 << 20})
	w := index.NewWorker(x)
	if err := w.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := x.Stats()
	if all.Files != n || all.Left != 0 || all.Segments != 2 {
		t.Errorf("%+v", all)
	}
	for _, literal := range []string{"common", "number_77", "number_8999 ", "foo", "_probe_"} {
		tr.check(x, one(literal))
	}
	if ruledOut := tr.check(x, one("number_8765 ")); ruledOut < n-100 {
		t.Errorf("only %d are ruled out", ruledOut)
	}

	small := index.New(tr, index.Options{Memory: all.Bytes * 2 / 3})
	v := index.NewWorker(small)
	for range 3 {
		if err := v.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
		tr.check(small, one("number_77"))
		tr.write("f00001", []byte("number_77"))
	}
	if s := small.Stats(); s.Left == 0 || s.Files+s.Left != n || s.Bytes > all.Bytes*2/3+1<<20 {
		t.Errorf("%+v, of %+v", s, all)
	}
}

// What was asked before the index changed stays true of the files as they were, also where
// it is looked up only when its part of the index is gone.
func TestSelectionOfThePast(t *testing.T) {
	tr := newTree(t)
	x := index.New(tr, index.Options{Memory: 64 << 20})
	w := index.NewWorker(x)
	var selections []*index.Selection
	var files [][]fileindex.File
	for round := range 4 {
		for i := range 3000 {
			tr.write(fmt.Sprintf("f%d", i), fmt.Appendf(nil, "round_%d text_%d", round, i))
		}
		if err := w.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
		now, _ := tr.Changed(0)
		selections, files = append(selections, x.Select(one("text_77"), false)), append(files, now)
	}
	for round, selection := range selections {
		ruledOut := 0
		for _, f := range files[round] {
			switch c := selection.Class(f.ID, f.Version); {
			case c == index.Not && f.Rel == "f77":
				t.Errorf("round %d: %s is ruled out", round, f.Rel)
			case c == index.Not:
				ruledOut++
			}
		}
		if last := round == len(selections)-1; last && ruledOut < 2900 {
			t.Errorf("only %d files are ruled out", ruledOut)
		}
	}
}

// Files that have gone leave the index when others come.
func TestChurn(t *testing.T) {
	tr := newTree(t)
	x := index.New(tr, index.Options{Memory: 64 << 20})
	w := index.NewWorker(x)
	for round := range 4 {
		for i := range 5000 {
			name, text := fmt.Sprintf("f%d-%d", round, i), fmt.Appendf(nil, "text_%d", i)
			if round == 0 {
				tr.write(name, text)
			} else {
				tr.replace(fmt.Sprintf("f%d-%d", round-1, i), name, text)
			}
		}
		if err := w.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := x.Documents(); n > 15_000 {
		t.Errorf("%d documents for 5000 files", n)
	}
	tr.check(x, one("text_77"))
}
