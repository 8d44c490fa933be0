// Package textfile knows how the bytes of a file become text that can be shown:
// whether they are text at all, in which encoding, with which line endings, and
// how characters that would deceive a reader are made visible.
//
// It opens nothing: callers hand it bytes or an io.ReaderAt. It must not import
// tools or any category. Start at [Sniff], which tells text from binary, then
// [Encoding], which decodes it, [Lines], which finds lines in files of any size,
// and [Visible] and [Cut], which make a line fit to be shown.
package textfile
