// Package index finds the files that may contain the literals of a search.
//
// It is an inverted index of grams (three symbols of a text and half of the next one), in
// small immutable segments outside the garbage collector's heap. It never excludes a file that
// contains the literals, and never excludes one that has changed since it was read. The list
// of files comes from a [Table] that its owner keeps up to date. Start at [New], then
// [Index.Run] in the background and [Index.Select].
package index
