// Package index tells which files may hold the literals that a search asks for.
//
// It is an inverted index of grams: three symbols of a text and half a symbol of what
// follows, in small immutable segments outside of the garbage collector's heap. It
// never says of a file that holds the literals that it does not; of one that has changed
// since it was read it says nothing. Files come from a table that somebody else keeps up
// to date. Start at [New], then [Index.Run] in the background and [Index.Select].
package index
