// Package match finds the lines of a text that a pattern matches.
//
// A pattern means the same as in package regexp, applied to each line alone, without its line
// ending; all other code here only finds faster the lines that may match. A text is any bytes:
// invalid UTF-8 is searched as it is. The package does not know files and imports no other
// package of toolcrib. Start at [Compile], then [Matcher.Lines].
package match
