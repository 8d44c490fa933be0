package documents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/documents/internal/index"
	"toolcrib/tools/documents/internal/rank"
	"toolcrib/tools/internal/lexical"
	"toolcrib/tools/internal/text/textfile"
)

// How much the ranks of a searcher count in a fusion.
const (
	keywordWeight = 2
	vectorWeight  = 1
)

// fusedHits is how far down ranks count that are fused.
const fusedHits = 1000

// searcher finds passages by one list of words.
type searcher struct {
	name   string // as results have it
	weight float64
	find   func(ctx context.Context, l list, most int) ([]index.Hit, error)
}

// score is that of a passage by one searcher.
type score struct {
	by    string
	value float64
}

// shownScores are scores as results have them.
func shownScores(all []score) string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = fmt.Sprintf("%s %.2f", s.by, s.value)
	}
	return strings.Join(texts, ", ")
}

// find searches each list by itself with each searcher, and fuses the results.
func (s *search) find(ctx context.Context, lists []list) ([]int64, error) {
	s.scores = map[int64][]score{}
	all, err := s.searchers(ctx, lists)
	if err != nil {
		return nil, err
	}
	most := s.most()
	if len(lists)*len(all) > 1 {
		most = max(most, fusedHits) // ranks further down count too, and must be the same on each page
	}
	var found []rank.List
	for _, by := range all {
		best := make([]float64, len(lists))
		first := len(found)
		for i, l := range lists {
			hits, err := by.find(ctx, l, most)
			if err != nil {
				return nil, err
			}
			ranked := rank.List{Weight: by.weight}
			for _, h := range hits {
				best[i] = max(best[i], h.Score)
				ranked.IDs = append(ranked.IDs, h.Passage)
				if !slices.ContainsFunc(s.scores[h.Passage], func(one score) bool { return one.by == by.name }) {
					s.scores[h.Passage] = append(s.scores[h.Passage], score{by.name, h.Score})
				}
			}
			found = append(found, ranked)
		}
		for i, w := range rank.Weights(best...) {
			found[first+i].Weight *= w
		}
	}
	ids := rank.Fuse(found...)
	if s.mode != "hybrid" || !slices.Contains(s.settings.searchers(), "front_page") {
		return ids, nil
	}
	first, err := s.firstOfOne(ctx)
	return slices.Concat(first, slices.DeleteFunc(ids, func(id int64) bool { return slices.Contains(first, id) })), err
}

// searchers returns what finds passages in the mode of the call.
func (s *search) searchers(ctx context.Context, lists []list) ([]searcher, error) {
	wanted := []string{s.mode}
	if s.mode == "hybrid" {
		wanted = s.settings.searchers()
		if s.model == nil { // how words are spelt would only make the order of the words worse
			wanted = slices.DeleteFunc(wanted, func(name string) bool { return name == "vector" })
		}
		if !slices.Contains(wanted, "keyword") && !slices.Contains(wanted, "vector") {
			wanted = append(wanted, "keyword")
		}
	}
	var all []searcher
	if slices.Contains(wanted, "keyword") {
		all = append(all, searcher{"keyword", keywordWeight, s.byKeyword})
	}
	if !slices.Contains(wanted, "vector") {
		return all, nil
	}
	by, err := s.byVector(ctx, lists)
	switch {
	case err == nil:
		all = append(all, by)
	case len(all) == 0 || ctx.Err() != nil:
		return nil, err
	default:
		s.notes += fmt.Sprintf("ranked by words alone: %s\n", clip(tools.AsError(err).Msg, 500))
	}
	return all, nil
}

// keep chooses the contents that the call searches.
func (s *search) keep(id index.ID) bool { return s.all.by[id] != nil }

// byKeyword finds passages by their words; in mode hybrid, one that no passage has by the
// words most like it.
func (s *search) byKeyword(ctx context.Context, l list, most int) ([]index.Hit, error) {
	const longestWord = 100
	var instead []string
	if s.mode == "hybrid" {
		replaced, err := s.Correct(ctx, l.tokens, s.keep)
		if err != nil {
			return nil, err
		}
		for _, r := range replaced {
			p, _, err := s.Passage(ctx, r.Passage)
			if err != nil {
				return nil, err
			}
			instead = append(instead, r.Words...)
			s.notes += fmt.Sprintf("no passage has %q: %q is searched instead\n",
				clip(lexical.Written(l.text, r.Word), longestWord), clip(lexical.Written(p.Headings+" "+p.Text, r.Nearest), longestWord))
		}
	}
	tokens, err := s.Spread(ctx, l.tokens)
	if err != nil {
		return nil, err
	}
	return s.Search(ctx, tokens, s.keep, most, instead...)
}

// byVector makes the vectors of the lists and those that passages lack.
func (s *search) byVector(ctx context.Context, lists []list) (searcher, error) {
	m, name := s.model, "vector"
	if m == nil {
		m, name = s.Hashed(), "hashed vector"
	}
	var texts []string
	for _, l := range lists {
		texts = append(texts, l.text)
	}
	queries, err := m.Vectors(ctx, texts)
	if err == nil && (len(queries) < len(lists) || len(queries[0]) == 0) {
		err = tools.Errorf(tools.Unavailable, "the query has no vector")
	}
	if err != nil {
		return searcher{}, err
	}
	until, report := time.Now().Add(patience), tools.Progress(ctx)
	left, err := s.Vectors(ctx, m, len(queries[0]), s.keep, s.all.passages, func(done, all int) bool {
		report(tools.ProgressEvent{Done: float64(done), Total: float64(all), Message: fmt.Sprintf("%d of %d passages have vectors", done, all)})
		return time.Now().Before(until)
	})
	switch {
	case ctx.Err() != nil:
		return searcher{}, ctx.Err()
	case err != nil && left >= s.all.passages:
		return searcher{}, err
	case err != nil:
		s.notes += fmt.Sprintf("not searched by vectors: %s: %s\n", textfile.Count(left, "passage"), clip(tools.AsError(err).Msg, 500))
	case left > 0:
		s.notes += fmt.Sprintf("not yet searched: %s without vectors; call again to have the index go on\n", textfile.Count(left, "passage"))
	}
	return searcher{name, vectorWeight, func(ctx context.Context, l list, most int) ([]index.Hit, error) {
		at := slices.IndexFunc(lists, func(other list) bool { return other.text == l.text })
		return s.Similar(ctx, m, queries[at], s.keep, most)
	}}, nil
}

// firstOfOne returns the first two passages of a single document, if each takes at most a
// quarter of the tokens.
func (s *search) firstOfOne(ctx context.Context) (ids []int64, err error) {
	if len(s.all.files) != 1 {
		return nil, nil
	}
	for i := range min(s.all.files[0].Passages, 2) {
		id := s.all.files[0].Content.First() + int64(i)
		p, ok, err := s.Passage(ctx, id)
		if err != nil {
			return nil, err
		}
		if ok && p.Tokens <= s.maxTokens/4 {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
