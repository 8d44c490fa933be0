package page

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed words.txt
var wordsText string

// lists are the words by which boxes and lines are judged.
type lists struct {
	around        map[string]bool
	body          []string
	label         map[string]bool
	away, pointer []string
}

// words reads the lists at first use.
var words = sync.OnceValue(func() *lists {
	l := &lists{around: map[string]bool{}, label: map[string]bool{}}
	for line := range strings.Lines(wordsText) {
		kind, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		entries := strings.Split(rest, "|")
		switch kind {
		case "around":
			for w := range strings.FieldsSeq(rest) {
				l.around[w] = true
			}
		case "body":
			l.body = append(l.body, strings.Fields(rest)...)
		case "label":
			for _, e := range entries {
				l.label[e] = true
			}
		case "away":
			l.away = append(l.away, entries...)
		case "pointer":
			l.pointer = append(l.pointer, entries...)
		}
	}
	return l
})
