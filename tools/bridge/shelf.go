package bridge

import (
	"slices"
	"strings"
	"sync"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/bridge/internal/find"
)

// shelf keeps the index of the tools, also of those that are off, until the list of those that
// can be called changes. It is made when it is first needed.
type shelf struct {
	mu    sync.Mutex
	of    []tools.Tool // that can be called, as the caller gave them
	index *find.Index
}

// Bounds of what answers a request, set by the requests of testdata: those for a tool that
// there is, and those of absent.tsv for tools that nobody has.
const (
	fits      = 0.65 // at least the Fit of a tool that answers it
	resembles = 0.3  // at least the Fit of one that is named where none answers it
	related   = 0.4  // at least the share of the best Score of the others that are shown
)

// search returns the tools that answer a request, best first, as places in the list of those
// that can be called, which goes on with those that are off. If none does, it returns those that
// resemble it and false. The index is made by the first search after a change of the tools.
func (s *shelf) search(there tools.Selected, request string) (found []int, fit bool, err error) {
	index, err := s.indexOf(there)
	if err != nil {
		return nil, false, err
	}
	hits := index.Search(request)
	fit = len(hits) > 0 && hits[0].Fit >= fits
	for _, hit := range hits {
		if fit && hit.Score >= related*hits[0].Score || !fit && hit.Fit >= resembles {
			found = append(found, hit.Doc)
		}
	}
	if at := misspelt(there, request); at >= 0 {
		found = slices.Insert(slices.DeleteFunc(found, func(other int) bool { return other == at }), 0, at)
		fit = true
	}
	return found, fit, nil
}

// misspelt returns the place of the tool whose name a request is with a slip, -1 if it is none.
func misspelt(there tools.Selected, request string) int {
	names := make([]string, len(there.Enabled))
	for i, t := range there.Enabled {
		names[i] = t.Name
	}
	return slices.Index(names, schema.Misspelt(request, names))
}

func (s *shelf) indexOf(there tools.Selected) (*find.Index, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index != nil && same(s.of, there.Enabled) {
		return s.index, nil
	}
	all := slices.Clone(there.Enabled)
	for _, o := range there.Omitted {
		all = append(all, o.Tool)
	}
	docs := make([]find.Doc, len(all))
	for i, t := range all {
		doc, err := document(t)
		if err != nil {
			return nil, err
		}
		docs[i] = doc
	}
	s.of, s.index = there.Enabled, find.New(docs)
	return s.index, nil
}

// same reports whether two lists are the same slice: lists of tools are never changed in
// place.
func same(a, b []tools.Tool) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// document returns the searchable text of a tool. The first sentence of a description is a
// field of its own: it says what the tool does, the rest when to use it.
func document(t tools.Tool) (find.Doc, error) {
	description, err := t.Description()
	if err != nil {
		return find.Doc{}, err
	}
	does, rest := firstSentence(description)
	params, err := parametersOf(t)
	if err != nil {
		return find.Doc{}, err
	}
	var names, meanings strings.Builder
	for _, p := range params {
		names.WriteString(p.name + " " + strings.Join(p.values, " ") + " ")
		meanings.WriteString(p.Description + "\n")
	}
	return find.Doc{Name: t.Name, Fields: []find.Field{
		{Weight: 4, Text: t.Name + " " + strings.Join(t.Aliases, " ")},
		{Weight: 4, Text: t.Title},
		{Weight: 2, Text: strings.Join(t.Tags, " ")},
		{Weight: 1, Text: t.Category},
		{Weight: 2.5, Text: does},
		{Weight: 0.4, Text: rest},
		{Weight: 1, Text: names.String()},
		{Weight: 0.5, Text: meanings.String()},
	}}, nil
}

// firstSentence cuts a description after its first sentence.
func firstSentence(text string) (first, rest string) {
	first, rest, cut := strings.Cut(text, ". ")
	if !cut {
		return text, ""
	}
	return first + ".", rest
}
