package web

import (
	_ "embed"
	"fmt"
	"os"
	"strings"

	"golang.org/x/net/html"
)

// The sets that are no kind of the own one.
const (
	openPages  = "open"
	heldOutSet = "held-out"
	writtenSet = "held-out, written" // for the purpose, with marks as the own set has them
)

//go:embed heldout.tsv
var heldOutList string

// wanted is the part of a page that a reader wants, by its first and last words.
type wanted struct{ first, last string }

// heldOut returns the pages of the list that the machine has, by file.
func heldOut() map[string]wanted {
	found, all := map[string]wanted{}, 0
	for line := range strings.Lines(heldOutList) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			continue
		}
		all++
		if _, err := os.Stat(fields[0]); err == nil {
			found[fields[0]] = wanted{fields[1], fields[2]}
		}
	}
	fmt.Printf("held out: %d of %d pages are on this machine\n", len(found), all)
	return found
}

// of returns the text that is wanted of a page. The error is that of another version of it.
func (w wanted) of(source string) (string, error) {
	doc, err := html.Parse(strings.NewReader(source))
	if err != nil {
		return "", err
	}
	text := strings.Join(strings.Fields(textOf(doc)), " ")
	begin, end := strings.Index(text, w.first), strings.LastIndex(text, w.last)
	if begin < 0 || end < begin {
		return "", fmt.Errorf("it lacks %q or %q", w.first, w.last)
	}
	return text[begin : end+len(w.last)], nil
}
