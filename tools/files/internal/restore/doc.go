// Package restore reads the history of changes and reverts changes. The tools that list and
// restore use it.
//
// Start at [Historian] in historian.go, which describes changes with summary.go. findchange.go
// finds the change that a call means. restoration.go plans how to restore a former state, with
// takeback.go for moves and copies, obstacle.go for what stands where a directory was,
// pathstate.go for the present state of a path, loss.go for contents that cannot be restored, and
// rest.go for what undos of some paths have left. restoring.go carries the plan out.
//
// The package imports change, to write. It must not import the category.
package restore
