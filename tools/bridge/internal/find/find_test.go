package find_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/bridge/internal/find"
)

// shop is a few documents of two fields: a title that counts more, and a text.
func shop() *find.Index {
	var docs []find.Doc
	for _, d := range [][3]string{
		{"write_file", "Write a file", "Makes or replaces a text file."},
		{"delete_path", "Delete", "Deletes a file or a directory with all that is in it."},
		{"grep", "Search in files", "Finds lines by a regular expression."},
		{"weather", "Weather", "Tells the weather forecast of a place."},
		{"set_config", "Configuration", "Changes the configuration of the server."},
	} {
		docs = append(docs, find.Doc{Name: d[0], Fields: []find.Field{{Weight: 3, Text: d[0] + " " + d[1]}, {Weight: 1, Text: d[2]}}})
	}
	return find.New(docs)
}

func TestSearch(t *testing.T) {
	names := []string{"write_file", "delete_path", "grep", "weather", "set_config"}
	for _, tc := range []struct{ why, request, want string }{
		{"the name", "delete_path", "delete_path"},
		{"the name among others", "is weather or write_file what I want", "write_file"},
		{"the name in other letters", "Delete-Path", "delete_path"},
		{"a word", "forecast", "weather"},
		{"another ending", "deleting directories", "delete_path"},
		{"a synonym", "remove a folder", "delete_path"},
		{"a slip", "wether forcast", "weather"},
		{"the beginning of a word", "config", "set_config"},
		{"a phrase", "put down", "write_file"},
		{"nothing", "zzzzzz", ""},
		{"only words that say nothing", "can you do it for me", ""},
		{"no words", " ?! ", ""},
	} {
		hits := shop().Search(tc.request)
		got := ""
		if len(hits) > 0 {
			got = names[hits[0].Doc]
		}
		if got != tc.want {
			t.Errorf("%s: %q finds %q, want %q", tc.why, tc.request, got, tc.want)
		}
	}
}

// The scores fall, equal ones keep the order of the documents, and nothing depends on
// the order of a map.
func TestSearchIsTheSameEveryTime(t *testing.T) {
	var docs []find.Doc
	for i := range 20 {
		docs = append(docs, find.Doc{Name: fmt.Sprintf("tool%d", i), Fields: []find.Field{{Weight: 1, Text: "reads the weather of a place and writes files"}}})
	}
	for _, request := range []string{"weather", "wether in places", "read and write several files at once"} {
		first := find.New(docs).Search(request)
		if len(first) != len(docs) {
			t.Fatalf("%q: %d hits", request, len(first))
		}
		for i, hit := range first {
			if hit.Doc != i {
				t.Errorf("%q: hit %d is document %d, though all are alike", request, i, hit.Doc)
			}
		}
		for range 20 {
			if diff := cmp.Diff(shop().Search(request), shop().Search(request)); diff != "" {
				t.Fatalf("%q:\n%s", request, diff)
			}
		}
	}
}

func TestEmptyIndex(t *testing.T) {
	if hits := find.New(nil).Search("weather"); hits != nil {
		t.Errorf("found %v", hits)
	}
}

// BenchmarkNew makes the index of 64 documents as long as those of tools.
func BenchmarkNew(b *testing.B) {
	var docs []find.Doc
	for i := range 64 {
		var text strings.Builder
		for j := range 150 {
			fmt.Fprintf(&text, "word%d ", (i*31+j*j)%900)
		}
		docs = append(docs, find.Doc{Name: fmt.Sprintf("tool_%d", i), Fields: []find.Field{{Weight: 4, Text: fmt.Sprintf("tool_%d", i)}, {Weight: 1, Text: text.String()}}})
	}
	b.ReportAllocs()
	for b.Loop() {
		find.New(docs)
	}
}
