// Package storage is the category of the tool that keeps values by their keys.
//
// Start at [Category], then storage.go, which has the tool, and table.go, which has the
// values in the database. The package must not import another category.
package storage
