package catalog

import (
	"slices"
	"strings"

	"toolcrib/tools"
)

// Guides returns the part of the instructions about tools: one line for each category with a
// Guide and a tool that can be called, in at most limit bytes. outlasts reports whether
// processes that the tools start outlast the client. If not all lines fit, one line names the
// remaining categories and says how to find their tools.
func Guides(categories []tools.Category, enabled []tools.Tool, outlasts bool, limit int) string {
	names := map[string]bool{} // every tool; true = it can be called
	for _, c := range categories {
		for _, t := range c.Tools {
			_, names[t.Name] = Find(enabled, t.Name)
		}
	}
	var ids, lines []string
	for _, c := range categories {
		if !slices.ContainsFunc(c.Tools, func(t tools.Tool) bool { return names[t.Name] }) || c.Guide == "" {
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
	text := strings.Join(lines, "\n")
	for fit := len(lines) - 1; len(text) > limit && fit >= 0; fit-- {
		text = strings.Join(append(slices.Clone(lines[:fit]), rest(ids[fit:], names["search_tools"])), "\n")
	}
	return text
}

// rest returns the line about categories that are not described.
func rest(ids []string, searchable bool) string {
	said := "more tools: " + strings.Join(ids, ", ")
	if searchable {
		said += "; search_tools finds them by what they do"
	}
	return said + "."
}

// namesMissing reports whether a text names a tool that cannot be called.
func namesMissing(text string, names map[string]bool) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' })
	return slices.ContainsFunc(words, func(word string) bool {
		can, tool := names[word]
		return tool && !can
	})
}
