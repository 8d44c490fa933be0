// Command goreadability extracts the pages of a JSON file with go-readability, and prints
// what it finds. It is a module of its own, so that toolcrib does not depend on it.
package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	readability "codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
)

type result struct {
	HTML    string
	Seconds float64 // after parsing, the best of three
}

func main() {
	if err := extract(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func extract(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var pages []struct{ Name, HTML string }
	if err := json.Unmarshal(data, &pages); err != nil {
		return err
	}
	address := &url.URL{Scheme: "https", Host: "example.com", Path: "/"}
	results := map[string]result{}
	for _, p := range pages {
		r := result{Seconds: time.Hour.Seconds()}
		for range 3 {
			doc, err := html.Parse(strings.NewReader(p.HTML))
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			parser := readability.NewParser()
			begin := time.Now()
			article, err := parser.ParseAndMutate(doc, address)
			r.Seconds = min(r.Seconds, time.Since(begin).Seconds())
			if err != nil || article.Node == nil { // there is no text
				r.HTML = ""
				continue
			}
			var b strings.Builder
			if err := html.Render(&b, article.Node); err != nil {
				return err
			}
			r.HTML = b.String()
		}
		results[p.Name] = r
	}
	return json.NewEncoder(os.Stdout).Encode(results)
}
