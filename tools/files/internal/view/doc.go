// Package view shows files: windows of lines or bytes, hex dumps, images, sounds,
// notebooks. It is for the tools that read files and those that describe them.
//
// Start at [Reader] in reader.go. source.go is an open file and what is known of it.
// lines.go and bytes.go are windows of it, and lineindex.go remembers where the lines
// of large files begin. media.go shows images and sounds, notebook.go and
// notebookrender.go notebooks. seen.go remembers what a principal was shown.
//
// The package must not import the category, nor the engines that change files.
package view
