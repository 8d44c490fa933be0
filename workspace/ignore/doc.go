// Package ignore decides which entries of a tree git's ignore rules leave out.
//
// It compiles the text of ignore files and matches names against them. It opens
// no files and imports the standard library only; package workspace reads the
// files and walks the tree.
//
// Start with [Level]: the rules in force in one directory. [Parse] compiles one
// file, [Level.Enter] enters a directory, [Level.Ignored] asks about an entry of it.
//
// # Order of precedence
//
// The first group that has a matching line decides, and within one file the last
// matching line:
//
//  1. .ignore files, the deepest directory first;
//  2. .gitignore files, the deepest directory first, up to the top of the
//     repository that the entry is in;
//  3. info/exclude of that repository;
//  4. the global file (core.excludesFile) of that repository, or else the user's.
//
// Groups 2 to 4 apply only inside a repository, that is at and below a directory
// with an entry .git. A repository inside another starts anew: for its entries only its
// own files of groups 2 and 3 count, but its directory itself is still an entry of the
// outer one. Group 1 knows no repositories: a .ignore above
// applies everywhere below, and beats any .gitignore. This is what git does
// (groups 2 to 4) and what ripgrep adds to it (group 1).
//
// An entry of an ignored directory cannot be included again, because a walk does not
// enter the directory.
//
// Case is significant, even with core.ignoreCase.
package ignore
