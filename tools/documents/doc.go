// Package documents is the category of tools that read and search documents: office files,
// books, web pages, mail, tables and archives.
//
// Start at [Category]. The readers and the model that they share are in
// tools/internal/document. parse_document chooses the form and the part that a call shows, and
// keeps what was read last. A search goes through these files in order: collection.go finds
// the files that a call may see, watch.go knows whether they have changed, update.go brings
// the index up to date, and search.go ranks and shows passages; the index itself is
// internal/index. The package must not import another category.
package documents
