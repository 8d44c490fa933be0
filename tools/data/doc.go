// Package data is the category of tools that work on values that a call brings along:
// numbers, texts and JSON.
//
// Start at [Category]. The files of a tool are NAME.go, NAME_*.go and NAME.md. Below,
// internal/calc evaluates expressions, internal/wording changes texts and internal/jq runs filters;
// the packages jsondoc and conform of tools/internal have the documents and schemas of JSON. The
// package must not import another category, server or mcp-go.
package data
