package catalog

import (
	"slices"
	"strings"

	"toolcrib/tools"
)

// Guides returns the part of the instructions about tools: one line for each category with a
// Guide and a tool that the client is shown, in at most limit bytes. It names no other tool.
// outlasts reports whether processes that the tools start outlast the client. A last line
// names the categories that do not fit, and those whose tools can be called but are not shown,
// and says how to find them.
func Guides(categories []tools.Category, enabled, listed []tools.Tool, outlasts bool, limit int) string {
	names := map[string]bool{} // every tool; true = it is shown
	for _, c := range categories {
		for _, t := range c.Tools {
			_, names[t.Name] = Find(listed, t.Name)
		}
	}
	var ids, lines, hidden []string
	for _, c := range categories {
		can := func(t tools.Tool) bool { _, ok := Find(enabled, t.Name); return ok }
		if c.Guide == "" || !slices.ContainsFunc(c.Tools, can) {
			continue
		}
		if !slices.ContainsFunc(c.Tools, func(t tools.Tool) bool { return names[t.Name] }) {
			hidden = append(hidden, c.ID)
			continue
		}
		clauses := strings.Split(c.Guide, "; ")
		if outlasts && c.Outlasting != "" {
			clauses = append(clauses, c.Outlasting)
		}
		clauses = slices.DeleteFunc(clauses, func(clause string) bool { return namesMissing(clause, names) })
		if len(clauses) > 0 {
			ids, lines = append(ids, c.ID), append(lines, c.ID+": "+strings.Join(clauses, "; ")+".")
		}
	}
	for fit := len(lines); ; fit-- {
		said := slices.Clone(lines[:fit])
		if others := slices.Concat(ids[fit:], hidden); len(others) > 0 {
			said = append(said, rest(others, names["search_tools"]))
		}
		if text := strings.Join(said, "\n"); len(text) <= limit || fit == 0 {
			return text
		}
	}
}

// rest returns the line about categories that are not described.
func rest(ids []string, searchable bool) string {
	said := "more tools: " + strings.Join(ids, ", ")
	if searchable {
		said += "; search_tools finds them by what they do"
	}
	return said + "."
}

// namesMissing reports whether a text names a tool that is not shown.
func namesMissing(text string, names map[string]bool) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' })
	return slices.ContainsFunc(words, func(word string) bool {
		is, tool := names[word]
		return tool && !is
	})
}
