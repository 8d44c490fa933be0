package find

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"toolcrib/tools/internal/lexical"
)

// synonymsText maps the words of users to the words of the texts. A line is a group of words
// and phrases with the same meaning, separated by commas, or a rewrite: each entry left of =
// is read as the words on its right. An entry may be in several lines. Lines that begin with #
// are comments.
//
//go:embed synonyms.txt
var synonymsText string

// thesaurus has the synonyms of words and phrases.
type thesaurus struct {
	others  map[string][]string // of a group, by a word, or the words of a phrase with spaces
	read    map[string][]string // by the same: the words that it is read as
	singles []string            // its single words, sorted
	longest int                 // the most words of a phrase
}

func newThesaurus() *thesaurus {
	t := &thesaurus{others: map[string][]string{}, read: map[string][]string{}}
	for line := range strings.Lines(synonymsText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		left, right, rewrites := strings.Cut(line, "=")
		var entries [][]string
		for entry := range strings.SplitSeq(left, ",") {
			if stems := stemsOf(entry); len(stems) > 0 {
				entries = append(entries, stems)
				t.longest = max(t.longest, len(stems))
			}
		}
		if !rewrites {
			t.group(entries)
			continue
		}
		for _, entry := range entries {
			t.read[joined(entry)] = stemsOf(right)
		}
	}
	keys := slices.Concat(slices.Collect(maps.Keys(t.others)), slices.Collect(maps.Keys(t.read)))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if !strings.Contains(key, " ") {
			t.singles = append(t.singles, key)
		}
	}
	return t
}

// stemsOf returns the words of a text as phrases are compared.
func stemsOf(text string) []string {
	var stems []string
	for _, word := range split(text) {
		if !articles(word) {
			stems = append(stems, lexical.Stem(word))
		}
	}
	return stems
}

// group makes each entry a synonym of the single words among the entries.
func (t *thesaurus) group(entries [][]string) {
	for _, entry := range entries {
		key := joined(entry)
		for _, other := range entries {
			if len(other) == 1 && other[0] != key && !slices.Contains(t.others[key], other[0]) {
				t.others[key] = append(t.others[key], other[0])
			}
		}
	}
}

// of returns the synonyms of a word.
func (t *thesaurus) of(word string) []string { return t.others[word] }

// words returns the single words that are known.
func (t *thesaurus) words() []string { return t.singles }

// phrase returns n, how many of the first words are an entry of several words or a rewrite, 0
// if none are; then either the words of the rewrite or the synonyms.
func (t *thesaurus) phrase(stems []string) (n int, read, others []string) {
	for n := min(t.longest, len(stems)); n > 0; n-- {
		key := joined(stems[:n])
		if read, ok := t.read[key]; ok {
			return n, read, nil
		}
		if others, ok := t.others[key]; ok && n > 1 {
			return n, nil, others
		}
	}
	return 0, nil, nil
}
