// Package code is the category of tools that run code: Python scripts, Python cells in an
// interpreter that keeps its state, and JavaScript. The sandbox contains interpreters of the
// system; workspace does not.
//
// Start reading at [Tools]. The package must not import other categories.
package code
