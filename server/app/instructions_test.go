package app_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolcrib/server/app"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

// Every category of the catalog has its line, and a line names no tool that
// cannot be called.
func TestInstructionsOfCategories(t *testing.T) {
	categories := catalog.All(new(catalog.Services))
	all := catalog.Tools(categories)
	roots := []string{"/srv/a"}
	whole := app.Instructions(roots, categories, all, all, false)
	if len(whole) > 2000 {
		t.Errorf("%d bytes", len(whole))
	}
	for _, c := range tools.Categories(all) {
		if strings.Count(whole, "\n"+c+": ") != 1 {
			t.Errorf("no line, or several, for %s:\n%s", c, whole)
		}
	}
	for _, only := range all {
		text := app.Instructions(roots, categories, all, []tools.Tool{only}, false)
		for _, other := range all {
			named := regexp.MustCompile(`\b` + other.Name + `\b`).MatchString(text)
			if named && other.Name != only.Name && other.Name != other.Category { // whose name a list of categories has
				t.Errorf("with %s alone, %s is named:\n%s", only.Name, other.Name, text)
			}
		}
	}
	if lines := strings.Split(app.Instructions(roots, categories, nil, nil, false), "\n"); len(lines) != 2 {
		t.Errorf("without tools:\n%s", strings.Join(lines, "\n"))
	}
	// What is named exists: a name with an underscore is one of a tool.
	for _, word := range regexp.MustCompile(`\b[a-z]+_[a-z_]+\b`).FindAllString(whole, -1) {
		if !slices.ContainsFunc(all, func(t tools.Tool) bool { return t.Name == word }) {
			t.Errorf("%s is named and no tool is called so", word)
		}
	}
}

func TestInstructions(t *testing.T) {
	categories := catalog.All(new(catalog.Services))
	all := catalog.Tools(categories)
	text := app.Instructions([]string{"/srv/a", "/srv/b"}, categories, all, all, false)
	if !strings.HasPrefix(text, "The tools work inside these directories: /srv/a, /srv/b.\nRelative paths are under the first;") {
		t.Errorf("instructions:\n%s", text)
	}
	if strings.Count(text, "grep") < 2 {
		t.Errorf("a guide is not told with the whole catalog:\n%s", text)
	}
	only := slices.DeleteFunc(slices.Clone(all), func(t tools.Tool) bool { return t.Category != "files" })
	if text := app.Instructions([]string{"/srv/a"}, categories, only, only, false); strings.Contains(text, "grep") {
		t.Errorf("grep without grep:\n%s", text)
	}
}

// However many roots there are and however long, the text stays within what
// clients take, and says how many it leaves out.
func TestInstructionsFit(t *testing.T) {
	categories := catalog.All(new(catalog.Services))
	all := catalog.Tools(categories)
	var roots []string
	for i := range 60 {
		roots = append(roots, "/"+strings.Repeat("d", 20+i))
		text := app.Instructions(roots, categories, all, all, false)
		if len(text) > 2000 {
			t.Fatalf("%d roots: %d bytes", len(roots), len(text))
		}
		line, _, _ := strings.Cut(text, "\n")
		shown := strings.Count(line, "/d")
		if rest := fmt.Sprintf("and %d more.", len(roots)-shown); (shown < len(roots)) != strings.HasSuffix(line, rest) {
			t.Fatalf("%d of %d roots: %s", shown, len(roots), line)
		}
	}
	if text := app.Instructions([]string{strings.Repeat("/long", 1000)}, categories, all, all, false); len(text) > 2000 || !strings.Contains(text, "and 1 more.") {
		t.Errorf("one long root: %d bytes", len(text))
	}
}
