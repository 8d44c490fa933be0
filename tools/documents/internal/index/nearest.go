package index

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"toolcrib/tools/documents/internal/rank"
	"toolcrib/tools/internal/lexical"
)

// A word of fewer letters is too short to be told from others; one of many letters may have
// two slips.
const (
	leastLetters = 5
	manyLetters  = 9
)

// mostNear is how many of the nearest words are looked up: those that other calls may see come
// first as well.
const mostNear = 20

// near is a word of the index that is like another.
type near struct {
	word         string
	slips, count int
}

// Near is a word that no passage has, and the nearest one that a passage has. Of scripts without
// spaces it is three letters.
type Near struct {
	Word, Nearest string
	Words         []string // of the index: Nearest
	Passage       int64
}

// Correct returns which words no passage of the kept contents has, with the nearest one of
// each, if any is near. The words are in the order of the query.
func (x *Index) Correct(ctx context.Context, words []string, keep func(ID) bool) (replaced []Near, err error) {
	const most = 10 // looking for them takes the time of all other searches
	looked := 0
	last := "" // the run of two letters before, if no passage has it
	for _, word := range words[:min(len(words), mostTokens)] {
		if lexical.Weight(word) < 1 {
			continue
		}
		before := last
		last = ""
		hits, err := x.Search(ctx, []string{word}, keep, 1)
		if err != nil {
			return nil, err
		}
		if len(hits) > 0 || slices.ContainsFunc(replaced, func(n Near) bool { return n.Word == word }) {
			continue
		}
		var n Near
		switch {
		case lexical.Whole(word):
			n, err = x.nearest(ctx, word, keep)
		case before == "":
			last = word
			continue
		default:
			last = word
			n, err = x.between(ctx, before, word, keep)
		}
		if err != nil {
			return nil, err
		}
		if n.Nearest != "" {
			replaced = append(replaced, n)
		}
		if looked++; looked == most {
			break
		}
	}
	return replaced, nil
}

// between finds the letter that two runs in a row of a script without spaces have in common, which
// no passage has: it returns another one that a passage has between the same two letters. Of several
// that is the rarest: those that are everywhere say little, and are where they are not meant.
func (x *Index) between(ctx context.Context, before, after string, keep func(ID) bool) (n Near, err error) {
	const most = 1000
	first, wrong := lexical.Letters(before)
	same, last := lexical.Letters(after)
	if wrong == "" || wrong != same || last == "" {
		return n, nil
	}
	end := []byte(first)
	end[len(end)-1]++
	counts := map[string]int{} // by the letter behind first
	err = x.words(ctx, first, string(end), func(e entry) {
		if head, tail := lexical.Letters(string(e.word)); head == first && tail != "" {
			counts[tail] += e.count
		}
	})
	if err != nil || len(counts) == 0 {
		return n, err
	}
	letters := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(a, b)) })
	letters = letters[:min(len(letters), most)]
	var behind []string
	for _, letter := range letters {
		behind = append(behind, letter+last)
	}
	m, err := x.match(ctx, behind)
	if err != nil {
		return n, err
	}
	var all []near
	for i, letter := range letters {
		if m.df[i] > 0 {
			all = append(all, near{word: letter, count: min(counts[letter], m.df[i])})
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(a.count, b.count) })
	for _, other := range all[:min(len(all), mostNear)] {
		n = Near{Word: first + wrong + last, Nearest: first + other.word + last, Words: []string{first + other.word, other.word + last}}
		hits, err := x.Search(ctx, n.Words, keep, 1)
		if err != nil {
			return Near{}, err
		}
		if len(hits) == 0 {
			continue
		}
		n.Passage = hits[0].Passage
		if p, _, err := x.Passage(ctx, n.Passage); err != nil || strings.Contains(p.Headings+"\n"+p.Text, n.Nearest) {
			return n, err
		}
	}
	return Near{}, nil
}

// nearest returns the word of the kept contents that differs least from one that they lack,
// of those the most frequent, and a passage that has it. One that begins
// with the same letter comes first; one of few letters must.
func (x *Index) nearest(ctx context.Context, word string, keep func(ID) bool) (Near, error) {
	type look struct {
		most       int
		first, end string
	}
	letters := []rune(word)
	if len(letters) < leastLetters {
		return Near{}, nil
	}
	looks := []look{{1, string(letters[:1]), string(letters[0] + 1)}}
	if len(letters) >= manyLetters {
		looks[0].most = 2
	}
	if len(letters) > leastLetters {
		looks = append(looks, look{most: 1})
	}
	for _, l := range looks {
		all, err := x.among(ctx, letters, l.most, l.first, l.end)
		if err != nil {
			return Near{}, err
		}
		for _, n := range all[:min(len(all), mostNear)] {
			hits, err := x.Search(ctx, []string{n.word}, keep, 1)
			if err != nil {
				return Near{}, err
			}
			if len(hits) > 0 {
				return Near{word, n.word, []string{n.word}, hits[0].Passage}, nil
			}
		}
	}
	return Near{}, nil
}

// among returns the words that differ by at most so many slips, the nearest first, of those
// that begin with first and come before end; "" = all.
func (x *Index) among(ctx context.Context, letters []rune, most int, first, end string) ([]near, error) {
	found := map[string]*near{}
	err := x.words(ctx, first, end, func(e entry) {
		if !bytes.HasPrefix(e.word, []byte(first)) || len(e.word) > utf8.UTFMax*(len(letters)+most) {
			return
		}
		if n := found[string(e.word)]; n != nil {
			n.count += e.count
		} else if slips := rank.Slips(letters, []rune(string(e.word)), most); slips <= most {
			found[string(e.word)] = &near{string(e.word), slips, e.count}
		}
	})
	if err != nil {
		return nil, err
	}
	var all []near
	for _, n := range found {
		all = append(all, *n)
	}
	slices.SortFunc(all, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.slips, b.slips), cmp.Compare(b.count, a.count), cmp.Compare(a.word, b.word))
	})
	return all, nil
}

// words calls f with each word that begins with first and comes before end, and others; end "" =
// all.
func (x *Index) words(ctx context.Context, first, end string, f func(entry)) error {
	query, args := "SELECT data FROM blocks", []any{}
	if end != "" {
		query += ` WHERE first < ?2 AND first >= coalesce((SELECT max(first) FROM blocks AS b WHERE b.segment = blocks.segment AND b.first <= ?1), '')`
		args = []any{first, end}
	}
	return x.vocabulary(ctx, query, args, f)
}

// vocabulary calls f with each word of the blocks that a query selects.
func (x *Index) vocabulary(ctx context.Context, query string, args []any, f func(entry)) error {
	rows, err := x.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var data sql.RawBytes
		if err := rows.Scan(&data); err != nil {
			return err
		}
		for rest := []byte(data); len(rest) > 0; {
			var e entry
			if e, rest, err = next(rest); err != nil {
				return err
			}
			f(e)
		}
	}
	return rows.Err()
}

// Spread is [lexical.Spread] with the words of the index; if they are too many for a query,
// the most frequent ones.
func (x *Index) Spread(ctx context.Context, words []string) ([]string, error) {
	const wide = 0xe0 // the least first byte of a character of such a script
	counts := map[string]int{}
	var err error
	spread := lexical.Spread(words, func(yield func(string) bool) {
		err = x.words(ctx, "", "", func(e entry) {
			if len(e.word) > 0 && e.word[0] >= wide {
				counts[string(e.word)] += e.count
			}
		})
		maps.Keys(counts)(yield)
	})
	if len(counts) == 0 || err != nil {
		return words, err
	}
	for _, word := range words {
		counts[word] = math.MaxInt
	}
	slices.SortFunc(spread, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	return spread[:min(len(spread), mostTokens)], nil
}
