package fileindex

import (
	"cmp"
	"context"
	"slices"

	"toolcrib/workspace"
	"toolcrib/workspace/internal/fsys"
)

// WalkOptions says which entries a walk visits.
type WalkOptions struct {
	Hidden         bool // names that start with a dot (.git is skipped all the same)
	IncludeIgnored bool // entries that the ignore rules name, and .git
	// FollowLinks enters symlinked directories whose target is inside the roots, and
	// reports symlinks to files inside the roots as files. The walk enters each directory
	// once: by its own path if it can, else by the path with the fewest links. Other links
	// to it are reported as symlinks.
	FollowLinks bool
	MaxDepth    int  // 0 = no limit; 1 = the entries of the directory itself
	Directories bool // report directories too, each before its entries
	// SkipDir, if set, is called for each directory with its path below the start. The walk
	// does not enter one for which it returns true; with Directories it reports it all the
	// same. Several goroutines may call it.
	SkipDir func(rel string) bool
	// From leaves out the entries before it in path order; "" = none. Directories with only
	// such entries are not read, except with FollowLinks, where their links decide on later
	// entries; the stats count the directories read. From is a slash-separated path below
	// the start and need not exist.
	From string
	// MaxEntries is how many entries and directories the walk may find before it
	// ends with an error; 0 = 2,000,000.
	MaxEntries int
	Workers    int // 0 = one per CPU
	// Getenv returns HOME, XDG_CONFIG_HOME and GIT_CONFIG_GLOBAL, which lead to the user's
	// global ignore file; nil = os.Getenv.
	Getenv func(key string) string

	byPath bool // identify directories by path, as if there were no inodes, for tests
}

// maxEntries is the default of MaxEntries: more would take gigabytes.
const maxEntries = 2_000_000

// Entry is an entry that a walk found.
type Entry struct {
	Path workspace.Path
	Rel  string // slash-separated, relative to the start
	Kind fsys.Kind
}

// WalkStats counts the entries that a walk left out, without .git and the temporary files
// of changes, which no walk shows.
type WalkStats struct {
	Directories int // directories read
	// Hidden and Ignored count entries that are left out because they are hidden and, of
	// the others, because of ignore rules; a directory counts once.
	Hidden, Ignored int
	// Denied counts entries that deny rules of the view name; a line of Unreadable says so
	// too.
	Denied int
	// Unreadable are the directories that could not be read and the ignore files that could
	// not be applied, sorted. They are as Path.String has them; ignore files outside the
	// roots are one line without a path.
	Unreadable []string
	// Starved says that some of them could not be read because too many files were open.
	Starved bool
}

// Walk returns the entries below start in path order: component by component,
// bytewise. The order and the content are the same for every number of workers.
//
// Directories are opened relative to the directory that they were found in and
// links are not followed, except as FollowLinks says, so a tree that changes
// meanwhile cannot lead the walk out. A symlink is reported as a symlink.
//
// The ignore rules are git's, with .ignore files on top; package ignore has their
// order and walk_rules.go says which files are read. They do not apply to the
// start itself: one that is ignored or hidden is walked.
//
// A directory that cannot be read is named in the stats and is no error. Walk fails
// if the start itself cannot be read or holds more than MaxEntries, with an *[Error], and when ctx ends, at once with its
// cause and without entries.
//
// A panic of SkipDir or Getenv, or of the walk itself, ends the walk and continues
// in the goroutine that called Walk, with the first one's value and stack.
func Walk(ctx context.Context, start workspace.Path, opt WalkOptions) ([]Entry, WalkStats, error) {
	s := NewStream(ctx, start, opt)
	var runs [][]Entry
	for run := range s.Runs() {
		runs = append(runs, run)
	}
	stats, err := s.Result()
	if err != nil {
		return nil, WalkStats{}, err
	}
	return slices.Concat(runs...), stats, nil
}

// comparePaths orders slash-separated paths component by component, bytewise, and a
// directory before its entries. Either both end in a slash or none.
func comparePaths(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		if a[i] == '/' {
			return -1
		}
		if b[i] == '/' {
			return +1
		}
		return cmp.Compare(a[i], b[i])
	}
	return cmp.Compare(len(a), len(b))
}

// whollyBefore reports whether a directory and all its entries come before from.
func whollyBefore(dir, from string) bool {
	inside := len(from) > len(dir) && from[len(dir)] == '/' && from[:len(dir)] == dir
	return !inside && comparePaths(dir, from) < 0
}
