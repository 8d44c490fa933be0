// Package documents is the category of tools that read documents: office files, books, web
// pages, mail, tables and archives.
//
// Start at [Category]. The readers and the model that they share are in
// tools/internal/document; this package chooses the form and the part that a call shows, and
// keeps what was read last. It must not import another category.
package documents
