package index_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"toolcrib/tools/documents/internal/index"
	"toolcrib/tools/documents/internal/passage"
	"toolcrib/tools/documents/internal/rank"
	"toolcrib/tools/internal/lexical"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

// collection is texts by number, as one passage each.
type collection []string

func (c collection) readings(from, to int) []index.Reading {
	var all []index.Reading
	var t lexical.Tokenizer
	for i := from; i < to; i++ {
		p := passage.Passage{Place: "1", Text: c[i], Tokens: len(c[i]) / 4}
		all = append(all, index.Reading{
			Path: fmt.Sprint(i), Key: index.Key(fmt.Append(nil, i), ""), Parsed: true,
			Passages: []passage.Passage{p}, Words: [][]lexical.Count{index.Words(&t, &p)},
		})
	}
	return all
}

const step = 500

func fill(t testing.TB, ws *workspace.Workspace, c collection) *index.Index {
	t.Helper()
	x := open(t, ws)
	steps := make(chan []index.Reading) // made while others are written, as the tool does
	go func() {
		defer close(steps)
		for from := 0; from < len(c); from += step {
			steps <- c.readings(from, min(from+step, len(c)))
		}
	}()
	for readings := range steps {
		if err := x.Put(t.Context(), readings); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// porter is the peer: FTS5 with its tokenizer for English.
type porter struct{ db *sql.DB }

func fillPorter(t testing.TB, ws *workspace.Workspace, c collection) porter {
	t.Helper()
	dir, err := ws.State()
	if err != nil {
		t.Fatal(err)
	}
	db, err := dir.DB(t.Context(), "porter", `CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
		CREATE VIRTUAL TABLE words USING fts5(text, content='texts', content_rowid='id', tokenize='porter unicode61')`)
	if err != nil {
		t.Fatal(err)
	}
	for from := 0; from < len(c); from += step {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, insert := range []string{"INSERT INTO texts (id, text) VALUES (?, ?)", "INSERT INTO words (rowid, text) VALUES (?, ?)"} {
			statement, err := tx.Prepare(insert)
			if err != nil {
				t.Fatal(err)
			}
			for i := from; i < min(from+step, len(c)); i++ {
				if _, err := statement.Exec(i, c[i]); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	return porter{db}
}

func (p porter) search(ctx context.Context, words []string, most int) (ids []int, err error) {
	rows, err := p.db.QueryContext(ctx, "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", `"`+strings.Join(words, `" OR "`)+`"`, most)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// generated is documents of words as frequent as in a language.
func generated(n int) collection {
	r := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(r, 1.1, 20, 200_000)
	c := make(collection, n)
	for i := range c {
		var b strings.Builder
		for range 300 {
			fmt.Fprintf(&b, "w%xing ", words.Uint64())
		}
		c[i] = b.String()
	}
	return c
}

// fullTexts is how many texts are indexed at full size.
const fullTexts = 11_000

// TestRetrieval prints what the figure of that name compares: how well and how fast passages
// are found beside FTS5's porter tokenizer. TOOLCRIB_RETRIEVAL is a
// directory with sets, TOOLCRIB_RETRIEVAL_TEXTS how many texts are indexed.
func TestRetrieval(t *testing.T) {
	sets := os.Getenv("TOOLCRIB_RETRIEVAL")
	if sets == "" {
		t.Skip("needs: figure: TOOLCRIB_RETRIEVAL names the sets that it reads")
	}
	t.Run("cranfield", func(t *testing.T) { cranfield(t, filepath.Join(sets, "cranfield")) })
	n, err := strconv.Atoi(os.Getenv("TOOLCRIB_RETRIEVAL_TEXTS"))
	if err != nil {
		t.Fatal(err)
	}
	languages(t, sets, n >= fullTexts)
	t.Run("time", func(t *testing.T) { indexTime(t, n) })
}

// question is a question with the gains of the texts that answer it.
type question struct {
	text  string
	gains map[int]float64
}

// cranfieldSet reads abstracts of aeronautics. Questions are numbered by their place in the
// file. Grade 1 is the best of four; -1 is one that was judged the best as well.
func cranfieldSet(t *testing.T, dir string) (c collection, questions []question) {
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Skipf("needs: figure: the set cranfield: %v", err)
		}
		return string(data)
	}
	records := func(text string) (all []map[string]string) {
		field := ""
		for line := range strings.Lines(text) {
			switch {
			case strings.HasPrefix(line, ".I "):
				all = append(all, map[string]string{})
			case strings.HasPrefix(line, ".") && len(strings.TrimSpace(line)) == 2:
				field = strings.TrimSpace(line)
			default:
				all[len(all)-1][field] += line
			}
		}
		return all
	}
	for _, r := range records(read("cran.all.1400")) {
		c = append(c, r[".T"]+"\n"+r[".W"])
	}
	for _, r := range records(read("cran.qry")) {
		questions = append(questions, question{r[".W"], map[int]float64{}})
	}
	for line := range strings.Lines(read("cranqrel")) {
		var q, doc, grade int
		if _, err := fmt.Sscan(line, &q, &doc, &grade); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if grade == -1 {
			grade = 1
		}
		questions[q-1].gains[doc-1] = float64(5 - grade)
	}
	return c, questions
}

// cranfield ranks them.
func cranfield(t *testing.T, dir string) {
	c, questions := cranfieldSet(t, dir)
	ws, _ := tooltest.Tree(t, nil)
	x := fill(t, ws, c)
	peer := fillPorter(t, ws, c)
	in := placed(t, placesOf(t, x))
	ask := func(words []string, more ...string) []int {
		return in(x.Search(t.Context(), words, everything, len(c), more...))
	}
	if left, err := x.Vectors(t.Context(), x.Hashed(), rank.Dimensions, everything, len(c), func(int, int) bool { return true }); left > 0 || err != nil {
		t.Fatal(left, err)
	}
	var own, hashed, corrected, slipped, slippedCorrected, porters score
	r := rand.New(rand.NewPCG(1, 5))
	for _, q := range questions {
		words := lexical.Tokens(q.text)
		own.add(ask(words), q.gains, len(questions))
		hashed.add(in(similar(t, x, q.text, len(c))), q.gains, len(questions))
		corrected.add(ask(words, nearest(t, x, words)...), q.gains, len(questions))
		wrong := lexical.Tokens(withSlips(r, q.text))
		slipped.add(ask(wrong), q.gains, len(questions))
		slippedCorrected.add(ask(wrong, nearest(t, x, wrong)...), q.gains, len(questions))
		words = strings.FieldsFunc(q.text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		ids, err := peer.search(t.Context(), words, len(c))
		if err != nil {
			t.Fatal(err)
		}
		porters.add(ids, q.gains, len(questions))
	}
	t.Logf("cranfield: nDCG@10 %.4f, MAP %.4f; FTS5 porter %.4f, %.4f", own.ndcg, own.ap, porters.ndcg, porters.ap)
	t.Logf("cranfield, hashed vectors: nDCG@10 %.4f, MAP %.4f", hashed.ndcg, hashed.ap)
	t.Logf("cranfield, hybrid: nDCG@10 %.4f; with 5 %% of the letters wrong: keyword %.4f, hybrid %.4f", corrected.ndcg, slipped.ndcg, slippedCorrected.ndcg)
	const leastNDCG, leastAP = 0.531, 0.431
	if own.ndcg < leastNDCG || own.ap < leastAP || corrected.ndcg < own.ndcg || slippedCorrected.ndcg <= slipped.ndcg {
		t.Error("the ranking is worse than it was")
	}
}

// placesOf returns the numbers of texts by their contents.
func placesOf(t *testing.T, x *index.Index) map[index.ID]int {
	t.Helper()
	files, err := x.Files(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	places := map[index.ID]int{}
	for path, f := range files {
		n, err := strconv.Atoi(path)
		if err != nil {
			t.Fatal(err)
		}
		places[f.Content] = n
	}
	return places
}

// placed returns a function that returns the numbers of texts that were found.
func placed(t *testing.T, places map[index.ID]int) func(hits []index.Hit, err error) []int {
	return func(hits []index.Hit, err error) (ids []int) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			ids = append(ids, places[h.Content()])
		}
		return ids
	}
}

// similar returns what the built-in vectors find.
func similar(t *testing.T, x *index.Index, text string, most int) ([]index.Hit, error) {
	m := x.Hashed()
	query, err := m.Vectors(t.Context(), []string{text})
	if err != nil {
		return nil, err
	}
	return x.Similar(t.Context(), m, query[0], everything, most)
}

// nearest returns the nearest word of each that the index lacks, as hybrid searches have them.
func nearest(t *testing.T, x *index.Index, words []string) (all []string) {
	replaced, err := x.Correct(t.Context(), words, everything)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range replaced {
		all = append(all, r.Words...)
	}
	return all
}

// withSlips changes one letter of twenty. One of a script without spaces becomes another of the
// text.
func withSlips(r *rand.Rand, text string) string {
	letters := []rune(text)
	for i, c := range letters {
		if !unicode.IsLetter(c) || r.IntN(20) > 0 {
			continue
		}
		letters[i] = rune('a' + r.IntN(26))
		if first, _ := lexical.Letters(string(c)); first != "" {
			letters[i] = []rune(text)[r.IntN(len(letters))]
		}
	}
	return string(letters)
}

// score is the mean of nDCG@10, with the gains as they are, and of the average precision.
type score struct{ ndcg, ap float64 }

func (s *score) add(ids []int, gains map[int]float64, questions int) {
	dcg, ideal, precision, found := 0.0, 0.0, 0.0, 0
	for i, id := range ids {
		if gains[id] == 0 {
			continue
		}
		found++
		precision += float64(found) / float64(i+1)
		if i < 10 {
			dcg += gains[id] / math.Log2(float64(i+2))
		}
	}
	best := slices.Sorted(maps.Values(gains))
	slices.Reverse(best)
	for i, gain := range best[:min(10, len(best))] {
		ideal += gain / math.Log2(float64(i+2))
	}
	s.ndcg += dcg / ideal / float64(questions)
	s.ap += precision / float64(len(gains)) / float64(questions)
}

// pagesInto replaces texts by pages of the manual of this machine, as many as there are.
func pagesInto(c collection) error {
	files, err := filepath.Glob("/usr/share/man/man*/*.gz")
	if err != nil {
		return err
	}
	at := 0
	for _, file := range files {
		m, err := manualOf(file)
		if err != nil {
			return err
		}
		if len(m.paragraphs) > 0 && at < len(c) {
			c[at] = m.summary + "\n" + strings.Join(m.paragraphs, "\n")
			at++
		}
	}
	return nil
}

// indexTime fills both indexes with the same texts, and asks both the same questions.
func indexTime(t *testing.T, n int) {
	c, kind := generated(n), "generated documents"
	if n >= fullTexts {
		kind = "manual pages"
		if err := pagesInto(c); err != nil {
			t.Fatal(err)
		}
	}
	var x *index.Index
	var peer porter
	var ws *workspace.Workspace
	var own, other, ownCPU, otherCPU []float64 // s
	for range 3 {                              // in pairs, since others use the machine as well
		ws, _ = tooltest.Tree(t, nil)
		clock, cpu := cost(t, func() { x = fill(t, ws, c) })
		peerClock, peerCPU := cost(t, func() { peer = fillPorter(t, ws, c) })
		own, other = append(own, clock), append(other, peerClock)
		ownCPU, otherCPU = append(ownCPU, cpu), append(otherCPU, peerCPU)
	}
	var times, peerTimes []time.Duration
	for i := range 100 {
		words := strings.FieldsFunc(c[i*7], func(r rune) bool { return !unicode.IsLetter(r) })
		words = words[:min(len(words), 6)]
		start := time.Now()
		if _, err := x.Search(t.Context(), lexical.Tokens(strings.Join(words, " ")), everything, 20); err != nil {
			t.Fatal(err)
		}
		times = append(times, time.Since(start))
		start = time.Now()
		if _, err := peer.search(t.Context(), words, 20); err != nil {
			t.Fatal(err)
		}
		peerTimes = append(peerTimes, time.Since(start))
	}
	slices.Sort(times)
	slices.Sort(peerTimes)
	dir, _ := ws.State()
	size := func(name string) (n int64) {
		for _, ext := range []string{".db", ".db-wal"} {
			if info, err := os.Stat(filepath.Join(dir.Path(), name+ext)); err == nil {
				n += info.Size()
			}
		}
		return n
	}
	for _, m := range []struct {
		what       string
		own, other []float64
	}{{"time", own, other}, {"CPU time", ownCPU, otherCPU}} {
		ours, theirs := slices.Min(m.own), slices.Min(m.other)
		t.Logf("indexed %d %s: %s %.2f s, FTS5 porter %.2f s: %.2f", len(c), kind, m.what, ours, theirs, ours/theirs)
		if ours > theirs && n >= fullTexts {
			t.Errorf("more %s than FTS5", m.what)
		}
	}
	t.Logf("indexed: query p50 %v, FTS5 porter %v; %d kB, %d kB", times[50], peerTimes[50], size("documents")>>10, size("porter")>>10)
}

// cost returns the seconds that a function takes, by the clock and of the CPU.
func cost(t *testing.T, f func()) (clock, cpu float64) {
	runtime.GC()
	used, start := tooltest.Spent(t), time.Now()
	f()
	return time.Since(start).Seconds(), (tooltest.Spent(t) - used).Seconds()
}
