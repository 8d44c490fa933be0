// Package view shows files: windows of lines or bytes, hex dumps, images, sounds, notebooks.
// The tools that read and describe files use it.
//
// Start at [Reader] in reader.go. source.go is an open file with its form. lines.go and
// bytes.go return windows of it, and lineindex.go remembers where the lines of large files
// begin. media.go shows images and sounds, notebook.go and notebookrender.go show notebooks.
// seen.go remembers the contents that a principal was shown.
//
// The package must not import the category or the packages that change files.
package view
