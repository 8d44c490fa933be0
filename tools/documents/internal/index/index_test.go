package index_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/documents/internal/index"
	"toolcrib/tools/documents/internal/passage"
	"toolcrib/tools/internal/lexical"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

func open(t testing.TB, ws *workspace.Workspace) *index.Index {
	t.Helper()
	x, err := index.Open(t.Context(), ws, &index.Cache{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func everything(index.ID) bool { return true }

// sentences are texts of few words, so that they have many in common.
func sentences(r *rand.Rand, n int) collection {
	c := make(collection, n)
	for i := range c {
		for range 1 + r.IntN(30) {
			c[i] += fmt.Sprintf("w%d ", r.IntN(1+r.IntN(200)))
		}
	}
	return c
}

// However the passages came into the index, they are ranked as a ranking in memory has them.
func TestRanking(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	c := sentences(r, 700)
	related := []string{" загрузка", " перезагрузка", " выгрузить", " التحميل", " تحميلات", ""}
	for i := range c {
		c[i] += related[r.IntN(len(related))]
	}
	ws, _ := tooltest.Tree(t, nil)
	x := open(t, ws)
	for from := 0; from < len(c); {
		to := min(from+1+r.IntN(1+r.IntN(100)), len(c))
		if err := x.Put(t.Context(), c.readings(from, to)); err != nil {
			t.Fatal(err)
		}
		from = to
	}
	var tokens [][]string
	for _, text := range c {
		tokens = append(tokens, lexical.Tokens(text))
	}
	plain := lexical.New(tokens)
	files, err := x.Files(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		query := lexical.Tokens(sentences(r, 1)[0] + related[r.IntN(len(related))])
		want := plain.Search(query)
		got, err := x.Search(t.Context(), query, everything, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != min(len(want), 10) {
			t.Fatalf("%v: %d hits of %d", query, len(got), len(want))
		}
		for i, h := range got {
			if math.Abs(h.Score-want[i].Score) > 1e-9 || files[fmt.Sprint(want[i].Doc)].Content != h.Content() {
				t.Errorf("%v: hit %d is %v, want %v", query, i, h, want[i])
			}
		}
	}
}

// Hybrid searches rank as keyword ones do where the documents have all words. Words in the place
// of those that they lack find more, behind all that has a word of the query itself.
func TestHybridKeepsKeywordHits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	c := sentences(r, 300)
	ws, _ := tooltest.Tree(t, nil)
	x := open(t, ws)
	for from := 0; from < len(c); from += 50 {
		if err := x.Put(t.Context(), c.readings(from, from+50)); err != nil {
			t.Fatal(err)
		}
	}
	search := func(words []string, instead ...string) []index.Hit {
		t.Helper()
		hits, err := x.Search(t.Context(), words, everything, len(c), instead...)
		if err != nil {
			t.Fatal(err)
		}
		return hits
	}
	ids := func(hits []index.Hit) (all []int64) {
		for _, h := range hits {
			all = append(all, h.Passage)
		}
		return all
	}
	for range 100 {
		known := lexical.Tokens(c[r.IntN(len(c))])
		keyword := ids(search(known))
		if diff := cmp.Diff(keyword, ids(search(known, nearest(t, x, known)...))); diff != "" {
			t.Fatalf("%v (-keyword +hybrid):\n%s", known, diff)
		}
		hybrid := ids(search(known, "w1", "w2", "w3"))
		if len(hybrid) < len(keyword) {
			t.Fatalf("%v: %d of %d hits", known, len(hybrid), len(keyword))
		}
		ahead := slices.Sorted(slices.Values(hybrid[:len(keyword)]))
		if diff := cmp.Diff(slices.Sorted(slices.Values(keyword)), ahead); diff != "" {
			t.Errorf("%v: what has a word of the query does not come first:\n%s", known, diff)
		}
	}
}

// A guessed word counts half where parts of the query's words count too, and else three quarters.
func TestGuessed(t *testing.T) {
	ws, _ := tooltest.Tree(t, nil)
	x := open(t, ws)
	if err := x.Put(t.Context(), collection{"word", "other"}.readings(0, 2)); err != nil {
		t.Fatal(err)
	}
	score := func(words []string, more ...string) float64 {
		t.Helper()
		hits, err := x.Search(t.Context(), words, everything, 1, more...)
		if err != nil || len(hits) != 1 {
			t.Fatal(hits, err)
		}
		return hits[0].Score
	}
	exact := score([]string{"word"})
	for query, want := range map[string]float64{"wrod": 0.75, "выгрузка": 0.5} {
		if got := score(lexical.Tokens(query), "word") / exact; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %.3f, want %.3f", query, got, want)
		}
	}
}

// Of a script without spaces the letter is replaced that no passage has between its neighbours.
func TestLetters(t *testing.T) {
	ws, _ := tooltest.Tree(t, nil)
	x := open(t, ws)
	c := collection{"自动编号", "自行编号，自行编写", "自己和编号", "ก้าวหน้า"}
	if err := x.Put(t.Context(), c.readings(0, len(c))); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"自加编号": "自加编 自动编", "自动编号": "", "加编号": "", "自加": "", "自加减编": "", "x加编号": "", "ก้าคหน้า": "ก้าคห ก้าวห",
	} {
		near, err := x.Correct(t.Context(), lexical.Tokens(query), everything)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range near {
			got = append(got, n.Word, n.Nearest)
			if tokens := lexical.Tokens(n.Nearest); !slices.Equal(n.Words, tokens) {
				t.Errorf("%s: the words %q, want %q", query, n.Words, tokens)
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	places := placesOf(t, x)
	near, err := x.Correct(t.Context(), lexical.Tokens("自加编号"), func(id index.ID) bool { return places[id] > 0 })
	if err != nil || len(near) != 1 || near[0].Nearest != "自行编" {
		t.Errorf("without the first: %v, %v", near, err)
	}
}

// Two words of a query find them as one, behind what has the words themselves.
func TestCompounds(t *testing.T) {
	ws, _ := tooltest.Tree(t, nil)
	x := open(t, ws)
	if err := x.Put(t.Context(), collection{"the hostname", "a host", "names"}.readings(0, 3)); err != nil {
		t.Fatal(err)
	}
	hits, err := x.Search(t.Context(), lexical.Tokens("the name of a host name"), everything, 9)
	if err != nil {
		t.Fatal(err)
	}
	if got := placed(t, placesOf(t, x))(hits, nil); !slices.Equal(got, []int{1, 2, 0}) {
		t.Errorf("got %v, want those of the words and then the compound", got)
	}
	if want := hits[0].Score / 2; math.Abs(hits[2].Score-want) > 1e-9 {
		t.Errorf("a compound scores %.3f, want %.3f", hits[2].Score, want)
	}
	if hits, err = x.Search(t.Context(), lexical.Tokens("выгрузка of a host name"), everything, 9); err != nil || len(hits) != 2 {
		t.Errorf("%v, %v: where parts of words count, compounds do not", hits, err)
	}
}

// What files no longer have is not found, whatever was merged, and the rest is.
func TestChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ws, _ := tooltest.Tree(t, nil)
	x := open(t, ws)
	now := map[string]int{} // the word of a file
	for n := range 200 {
		path := fmt.Sprint(r.IntN(30))
		if r.IntN(4) == 0 {
			if err := x.Forget(t.Context(), []string{path}); err != nil {
				t.Fatal(err)
			}
			delete(now, path)
		} else {
			readings := collection{fmt.Sprintf("common x%d", n)}.readings(0, 1)
			readings[0].Path, readings[0].Key = path, fmt.Append(nil, n)
			if err := x.Put(t.Context(), readings); err != nil {
				t.Fatal(err)
			}
			now[path] = n
		}
		hits, err := x.Search(t.Context(), []string{"common"}, everything, 100)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, h := range hits {
			if p, ok, err := x.Passage(t.Context(), h.Passage); err != nil {
				t.Fatal(err)
			} else if ok {
				got = append(got, p.Text)
			}
		}
		for _, n := range now {
			want = append(want, fmt.Sprintf("common x%d", n))
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("after %d changes (-want +got):\n%s", n, diff)
		}
	}
}

// Files of one content have its passages once, until none of them has it.
func TestSameContent(t *testing.T) {
	ws, _ := tooltest.Tree(t, nil)
	x := open(t, ws)
	one := collection{"word"}.readings(0, 1)[0]
	other := one
	other.Path = "other"
	known := index.Reading{Path: "known", Key: one.Key}
	gone := index.Reading{Path: "gone", Key: []byte("of another server")}
	if err := x.Put(t.Context(), []index.Reading{one, other, known, gone}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		forget string
		hits   int
	}{{"none", 1}, {"0", 1}, {"other", 1}, {"known", 0}} {
		if err := x.Forget(t.Context(), []string{test.forget}); err != nil {
			t.Fatal(err)
		}
		hits, err := x.Search(t.Context(), []string{"word"}, everything, 10)
		found := 0
		for _, h := range hits {
			if _, ok, err := x.Passage(t.Context(), h.Passage); err == nil && ok {
				found++
			}
		}
		if err != nil || found != test.hits {
			t.Errorf("without %s: %d hits, want %d (%v)", test.forget, found, test.hits, err)
		}
	}
	if has, err := x.Has(t.Context(), one.Key); has || err != nil {
		t.Errorf("a content without files is still there (%v)", err)
	}
}

// Two servers index one tree at once.
func TestTwoServers(t *testing.T) {
	ws, dir := tooltest.Tree(t, nil)
	second, err := workspace.Open([]string{dir}, workspace.Options{StateBase: ws.StateBase(), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	c := sentences(rand.New(rand.NewPCG(1, 3)), 400)
	for i := range c {
		c[i] += fmt.Sprintf("common unique%d", i)
	}
	done := make(chan error)
	servers := []*index.Index{open(t, ws), open(t, second)}
	for _, x := range servers {
		go func() {
			for from := 0; from < len(c); from += 20 {
				if err := x.Put(t.Context(), c.readings(from, from+20)); err != nil {
					done <- err
					return
				}
				if _, err := x.Search(t.Context(), []string{"common"}, everything, 10); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range servers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for _, x := range servers {
		hits, err := x.Search(t.Context(), []string{"common"}, everything, 1000)
		if err != nil || len(hits) != len(c) {
			t.Errorf("%d passages, want %d (%v)", len(hits), len(c), err)
		}
		for i := range c {
			hits, err := x.Search(t.Context(), []string{fmt.Sprintf("unique%d", i)}, everything, 10)
			if err != nil || len(hits) != 1 {
				t.Fatalf("text %d is there %d times (%v)", i, len(hits), err)
			}
		}
	}
}

// The key of a content depends on the kind of its file, and a passage is found by its headings too.
func TestKey(t *testing.T) {
	if a, b := index.Key([]byte("hash"), ".md"), index.Key([]byte("hash"), ".csv"); string(a) == string(b) {
		t.Error("two kinds have one key")
	}
	words := index.Words(&lexical.Tokenizer{}, &passage.Passage{Headings: "Dogs > Cats", Text: "a cat and " + strings.Repeat("dogs ", 3)})
	if diff := cmp.Diff([]lexical.Count{{Token: "dog", N: 4}, {Token: "cat", N: 2}}, words); diff != "" {
		t.Error(diff)
	}
}
