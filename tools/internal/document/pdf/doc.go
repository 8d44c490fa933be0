// Package pdf reads PDFs into the model of package document: headings, paragraphs, lists,
// code and tables, in reading order, with a mark for each page.
//
// A PDF has characters with places, and no words, lines or tables. They are found in this
// order, a file of this package for each: words and lines (words.go, lines.go), texts that
// repeat at the edges of pages (running.go), tables of ruling lines (ruled.go), columns
// (columns.go), tables of gaps (gaps.go), and last blocks of text (blocks.go). Package pdfium
// gives the characters. The words of pages that are only images come from a recognizer
// (scan.go), and those of images that are files too.
//
// Start reading at [Reader.Read]. All measures are in points or, where they scale with the
// text, in em, the size of its font; x goes to the right and y down.
package pdf
