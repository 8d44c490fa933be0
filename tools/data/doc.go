// Package data is the category of tools that work on values that a call brings along:
// numbers, texts and JSON.
//
// Start at [Category]. The files of a tool are NAME.go, NAME_*.go and NAME.md. Below,
// internal/calc evaluates expressions, internal/wording changes texts, internal/jsondoc reads,
// writes and compares JSON, and internal/conform holds it to a JSON Schema. The package must
// not import another category, server or mcp-go.
package data
