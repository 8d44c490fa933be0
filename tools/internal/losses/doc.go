// Package losses finds what a call would delete or replace for good, because the history does not
// keep it, and asks the user about it: in the same words whichever tool or command does it.
//
// Start at [Tally]. holding.go measures files and directories, clean.go what git does not track. The
// package changes nothing. It must not import a category.
package losses
