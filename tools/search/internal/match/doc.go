// Package match finds the lines of a text that a pattern matches.
//
// The meaning of a pattern is that of package regexp applied to each line alone,
// without its line ending; everything else here only finds sooner the lines that
// are worth applying it to. A text is any bytes: what is not UTF-8 is searched as
// it is. The package knows nothing of files and imports nothing else of the program.
// Start at [Compile], then [Matcher.Lines].
package match
