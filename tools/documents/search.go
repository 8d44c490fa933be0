package documents

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools/documents/internal/index"
	"toolcrib/tools/documents/internal/passage"
	"toolcrib/tools/internal/lexical"
	"toolcrib/tools/internal/text/textfile"
)

// request is what to look for in a collection.
type request struct {
	query                    string
	keywords                 []string
	mode                     string
	maxTokens, limit, offset int
	byFile                   bool
}

// result is the passages that were found.
type result struct {
	status string
	notes  string // lines
	shown  []shown
	next   int // the offset of the next page; 0 = there is none
}

// shown is a passage of a result.
type shown struct {
	id     int64
	files  []string // that have it
	scores string
	passage.Passage
}

func (r *result) text() string {
	var b strings.Builder
	b.WriteString(r.status + "\n" + r.notes)
	for i := range r.shown {
		s := &r.shown[i]
		b.WriteString("\n[" + textfile.Path(withoutSecrets(s.files[0])))
		switch {
		case s.Place == "":
		case s.Place[0] >= '0' && s.Place[0] <= '9':
			b.WriteString(":" + s.Place)
		default:
			b.WriteString(", " + s.Place)
		}
		if n := len(s.files) - 1; n > 0 {
			b.WriteString(", same in " + textfile.Count(n, "other file"))
		}
		if s.Headings != "" {
			b.WriteString("; " + s.Headings)
		}
		if s.scores != "" {
			b.WriteString("; " + s.scores)
		}
		b.WriteString("]\n" + s.Text + "\n")
	}
	return b.String()
}

// unasked is how many tokens a result has of passages without a word of the query.
const unasked = 400

// search is one call.
type search struct {
	*index.Index
	request
	all      *contents
	settings *Settings
	model    index.Model       // that the user has configured; nil = none
	scores   map[int64][]score // by passage
	result
}

func (s *search) run(ctx context.Context) error {
	if s.mode != "front_page" && s.all.tokens <= s.maxTokens && s.all.passages <= s.limit {
		return s.whole(ctx)
	}
	lists := lists(s.request)
	switch {
	case s.mode == "front_page":
		return s.fronts(ctx, "first passages")
	case len(lists) == 0:
		return s.fronts(ctx, "no words to look for: first passages")
	}
	hits, err := s.find(ctx, lists)
	if err != nil {
		return err
	}
	if len(hits) == 0 {
		s.maxTokens = min(s.maxTokens, unasked)
		return s.fronts(ctx, fmt.Sprintf("no passage has a word of the query: at most %d tokens of the first passages", s.maxTokens))
	}
	if err := s.take(ctx, hits); err != nil {
		return err
	}
	s.say("best passages")
	return nil
}

// list is words to look for.
type list struct {
	text   string
	tokens []string
}

// lists returns the query and each list of keywords. A query may be an object that has them.
func lists(in request) (all []list) {
	texts := append([]string{in.query}, in.keywords...)
	var object map[string]any
	if strings.HasPrefix(strings.TrimSpace(in.query), "{") && json.Unmarshal([]byte(in.query), &object) == nil {
		texts = slices.Clone(in.keywords)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			words, ok := schema.Strings(object[name])
			if !ok {
				words = []string{fmt.Sprint(object[name])}
			}
			texts = append(texts, strings.Join(words, " "))
		}
	}
	for _, text := range texts {
		if tokens := lexical.Tokens(text); len(tokens) > 0 {
			all = append(all, list{text, tokens})
		}
	}
	return all
}

// most is how many hits the call needs, and one more to know whether there are any.
func (s *search) most() int { return s.offset + s.limit + 1 }

// whole takes all passages.
func (s *search) whole(ctx context.Context) error {
	var ids []int64
	for _, f := range s.all.files {
		for i := range f.Passages {
			ids = append(ids, f.Content.First()+int64(i))
		}
	}
	if err := s.take(ctx, ids); err != nil {
		return err
	}
	switch {
	case len(ids) == 0:
		s.status = fmt.Sprintf("no text in %s", s.all.count())
	case s.offset == 0 && s.next == 0:
		s.status = fmt.Sprintf("all %s of %s, since they fit", textfile.Count(len(s.shown), "passage"), s.all.count())
	default:
		s.say("all passages")
	}
	return nil
}

// fronts takes the first passages of all documents, in turn.
func (s *search) fronts(ctx context.Context, why string) error {
	var ids []int64
	for depth, more := 0, true; more && len(ids) < s.most(); depth++ {
		more = false
		for _, f := range s.all.files {
			if depth < f.Passages && len(ids) < s.most() {
				ids = append(ids, f.Content.First()+int64(depth))
				more = true
			}
		}
	}
	s.byFile = true
	if err := s.take(ctx, ids); err != nil {
		return err
	}
	s.say(why)
	return nil
}

// say makes the status of a page.
func (s *search) say(what string) {
	s.status = fmt.Sprintf("%s of %s", what, s.all.count())
	if s.offset > 0 {
		s.status += fmt.Sprintf(" from %d on", s.offset+1)
	}
	switch {
	case s.next > 0:
		s.status += fmt.Sprintf("; next: offset=%d", s.next)
	case len(s.shown) == 0:
		s.status = fmt.Sprintf("no more passages at offset=%d", s.offset)
	}
}

// A result has so many bytes of passages, and a passage so many of scores and marks.
const (
	mostText   = 40_000
	aboutBytes = 100
)

// take shows passages of a list from the offset on, as far as the limits allow; at least one.
func (s *search) take(ctx context.Context, ids []int64) error {
	left, room := s.maxTokens, mostText
	at := s.offset
	seen := map[string]int{} // place in the result, by headings and text
	for ; at < len(ids) && len(s.shown) < s.limit; at++ {
		id := ids[at]
		p, ok, err := s.Passage(ctx, id)
		if err != nil {
			return err
		}
		files := s.all.by[index.Hit{Passage: id}.Content()]
		if !ok || len(files) == 0 {
			continue
		}
		if first, ok := seen[p.Headings+"\n"+p.Text]; ok {
			s.shown[first].files = union(s.shown[first].files, files)
			continue
		}
		seen[p.Headings+"\n"+p.Text] = len(s.shown)
		if p.Tokens > left {
			if len(s.shown) > 0 {
				break
			}
			p.Text = passage.Start(p.Text, left)
		}
		p = visible(p)
		size := len(p.Place) + len(p.Headings) + len(p.Text) + len(files[0]) + aboutBytes
		if size > room && len(s.shown) > 0 {
			break
		}
		left -= p.Tokens
		room -= size
		s.shown = append(s.shown, shown{id: id, files: files, scores: shownScores(s.scores[id]), Passage: p})
	}
	if at < len(ids) {
		s.next = at
	}
	if s.byFile {
		s.group()
	}
	return nil
}

// union returns the names of both lists, each once.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(a, name) {
			all = append(all, name)
		}
	}
	return all
}

// clip returns a text as it is shown, of at most so many bytes.
func clip(text string, most int) string {
	if text = textfile.Visible(text); len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// visible returns a passage as it is shown.
func visible(p passage.Passage) passage.Passage {
	const line, text = 300, 30_000
	return passage.Passage{Place: clip(p.Place, line), Headings: clip(p.Headings, line), Text: clip(p.Text, text), Tokens: p.Tokens}
}

// group puts passages of a file together, in their order; the file with the best one first.
func (s *search) group() {
	first := map[string]int{}
	for i, p := range s.shown {
		if _, known := first[p.files[0]]; !known {
			first[p.files[0]] = i
		}
	}
	slices.SortFunc(s.shown, func(a, b shown) int {
		if d := first[a.files[0]] - first[b.files[0]]; d != 0 {
			return d
		}
		return int(a.id - b.id)
	})
}
