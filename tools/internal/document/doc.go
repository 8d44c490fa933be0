// Package document is the model that every file format is read into, and its renderers.
//
// A reader (packages below this one) turns a file into a [Document], a list of blocks in
// reading order. [Document.Markdown], [Document.Text], [Document.Chunks] and
// [Document.Outline] are the same for all formats. A [Budget] bounds what a reader takes from
// a file, and an [Error] says why a file cannot be read.
//
// It imports nothing of ours and must not import a reader. Start at [Document], then [Source].
package document
