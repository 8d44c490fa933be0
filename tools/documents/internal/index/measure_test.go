package index_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/documents/internal/index"
	"toolcrib/tools/documents/internal/passage"
	"toolcrib/tools/internal/lexical"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

// collection is texts by number, as one passage each.
type collection []string

func (c collection) readings(from, to int) []index.Reading {
	var all []index.Reading
	for i := from; i < to; i++ {
		p := passage.Passage{Place: "1", Text: c[i], Tokens: len(c[i]) / 4}
		all = append(all, index.Reading{
			Path: fmt.Sprint(i), Key: index.Key(fmt.Append(nil, i), ""), Parsed: true,
			Passages: []passage.Passage{p}, Words: [][]index.Count{index.Words(&p)},
		})
	}
	return all
}

const step = 500

func fill(t testing.TB, ws *workspace.Workspace, c collection) *index.Index {
	t.Helper()
	x, err := index.Open(t.Context(), ws, &index.Cache{})
	if err != nil {
		t.Fatal(err)
	}
	for from := 0; from < len(c); from += step {
		if err := x.Put(t.Context(), c.readings(from, min(from+step, len(c)))); err != nil {
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
		for i := from; i < min(from+step, len(c)); i++ {
			for _, insert := range []string{"INSERT INTO texts (id, text) VALUES (?, ?)", "INSERT INTO words (rowid, text) VALUES (?, ?)"} {
				if _, err := tx.Exec(insert, i, c[i]); err != nil {
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

func TestIndexTime(t *testing.T) {
	if testing.Short() {
		t.Skip()
	}
	c := generated(5000)
	ws, _ := tooltest.Tree(t, nil)
	start := time.Now()
	x := fill(t, ws, c)
	own := time.Since(start)
	start = time.Now()
	peer := fillPorter(t, ws, c)
	other := time.Since(start)
	var times, peerTimes []time.Duration
	for i := range 100 {
		words := strings.Fields(c[i*7])[:6]
		start := time.Now()
		if _, err := x.Search(t.Context(), lexical.Tokens(strings.Join(words, " ")), func(index.ID) bool { return true }, 20); err != nil {
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
	t.Logf("indexed %d documents in %v, FTS5 porter in %v: %.2f; query p50 %v, %v; %d kB, %d kB", len(c), own, other, own.Seconds()/other.Seconds(), times[50], peerTimes[50], size("documents")>>10, size("porter")>>10)
}
