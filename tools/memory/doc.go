// Package memory is the category of tools that remember things for people and models beyond
// a session.
//
// Start at [Category]. library.go opens the notes of a call and finds them, change.go writes them,
// index.go ranks them, and each tool has a file of its own; sources.go has the resources and command.go what
// the command line offers. Where notes are kept is in internal/notes. The package must not
// import another category.
package memory
