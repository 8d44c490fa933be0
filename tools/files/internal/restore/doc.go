// Package restore reads the history of changes, and takes changes back. It is for the
// tools that list and restore.
//
// Start at [Historian] in historian.go, which words changes with summary.go.
// findchange.go finds the change that a call means. restoration.go plans what brings
// back a former state, with takeback.go for moves and copies, standing.go for what
// stands at a path now, and loss.go for what cannot come back. restoring.go carries
// the plan out.
//
// The package imports change, to write. It must not import the category.
package restore
