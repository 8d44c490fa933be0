// Package code is the category of tools that run code in an interpreter: scripts of
// Python, cells of one that keeps its state, JavaScript. Interpreters of the system are
// contained by the sandbox and not by workspace.
//
// Start reading at [Tools]. The package must not import other categories.
package code
