// Package textfile turns the bytes of a file into text that can be shown: it finds out
// whether they are text, in which encoding and with which line endings, and makes
// characters visible that would deceive a reader.
//
// It opens nothing: callers pass bytes or an io.ReaderAt. It must not import tools or any
// category. Start at [Sniff], which separates text from binary, then [Encoding], which
// decodes it, [Lines], which finds lines in files of any size, and [Visible] and [Cut],
// which prepare a line to be shown.
package textfile
