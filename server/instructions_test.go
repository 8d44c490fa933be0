package server_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolcrib/server"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

// Every category of the catalog has its line, and a line names no tool that
// cannot be called.
func TestInstructionsOfCategories(t *testing.T) {
	all := catalog.All(catalog.Deps{})
	roots := []string{"/srv/a"}
	whole := server.Instructions(roots, all)
	if len(whole) > 2000 {
		t.Errorf("%d bytes", len(whole))
	}
	for _, c := range tools.Categories(all) {
		if strings.Count(whole, "\n"+c+": ") != 1 {
			t.Errorf("no line, or several, for %s:\n%s", c, whole)
		}
	}
	for _, only := range all {
		text := server.Instructions(roots, []tools.Tool{only})
		for _, other := range all {
			named := regexp.MustCompile(`\b` + other.Name + `\b`).MatchString(text)
			if named && other.Name != only.Name {
				t.Errorf("with %s alone, %s is named:\n%s", only.Name, other.Name, text)
			}
		}
	}
	if lines := strings.Split(server.Instructions(roots, nil), "\n"); len(lines) != 2 {
		t.Errorf("without tools:\n%s", strings.Join(lines, "\n"))
	}
	// What is named exists: a name with an underscore is one of a tool.
	for _, word := range regexp.MustCompile(`\b[a-z]+_[a-z_]+\b`).FindAllString(whole, -1) {
		if !slices.ContainsFunc(all, func(t tools.Tool) bool { return t.Name == word }) {
			t.Errorf("%s is named and no tool is called so", word)
		}
	}
}
