package fileindex

import (
	"cmp"
	"context"
	"slices"

	"toolcrib/workspace"
	"toolcrib/workspace/internal/fsys"
)

// WalkOptions says what a walk visits.
type WalkOptions struct {
	Hidden         bool // names that start with a dot (.git is skipped all the same)
	IncludeIgnored bool // what the ignore rules leave out, and .git
	// FollowLinks goes down into symlinked directories whose target is inside the
	// roots, and reports symlinks to files inside the roots as files. Each directory
	// is gone through once: as itself before by a link, and by few links before by
	// many. Other links to it are reported as symlinks.
	FollowLinks bool
	MaxDepth    int  // 0 = no limit; 1 = the entries of the directory itself
	Directories bool // report directories too, each before what is in it
	// SkipDir, if set, is asked for each directory by its path below the start.
	// One that it is true for is not gone down into; with Directories it is
	// reported all the same. It may be called by several goroutines.
	SkipDir func(rel string) bool
	// From leaves out the entries before it in path order; "" = none. Directories that
	// hold only such are not read, but with FollowLinks, where what they lead to
	// decides on later ones; the stats tell what was read. It is a slash-separated
	// path below the start and need not exist.
	From string
	// MaxEntries is how many entries and directories the walk may find before it
	// ends with an error; 0 = 2,000,000.
	MaxEntries int
	Workers    int // 0 = one per CPU
	// Getenv gives HOME, XDG_CONFIG_HOME and GIT_CONFIG_GLOBAL, by which the
	// user's global ignore file is found; nil = os.Getenv.
	Getenv func(key string) string

	byPath bool // tell directories apart as where there are no inodes, for tests
}

// maxEntries is the default of MaxEntries: more would take gigabytes.
const maxEntries = 2_000_000

// Entry is one thing that a walk found.
type Entry struct {
	Path workspace.Path
	Rel  string // slash-separated, relative to the start
	Kind fsys.Kind
}

// WalkStats counts what a walk left out. The entry .git and the temporary files of
// changes, which no walk shows, are not counted.
type WalkStats struct {
	Directories int // directories read
	// Hidden and Ignored count entries that are left out because they are hidden
	// and, of the others, because of ignore rules; a directory counts once.
	Hidden, Ignored int
	// Denied counts entries that the view is kept away from; a line of Unreadable says
	// so too.
	Denied int
	// Unreadable are the directories that could not be read and the ignore files
	// that had to be disregarded, sorted. They are as Path.String has them; for
	// ignore files outside the roots one line without a path stands.
	Unreadable []string
	// Starved: some of them could not be read because too many files were open.
	Starved bool
}

// Walk returns the entries below start in path order: component by component,
// bytewise. The order and the content are the same for every number of workers.
//
// Directories are opened relative to the directory that they were found in and
// links are not followed, except as FollowLinks says, so a tree that changes
// meanwhile cannot lead the walk out. A symlink is reported as one.
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
// directory before what is in it. Either both end in a slash or none.
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

// whollyBefore reports whether a directory and all that is in it come before from.
func whollyBefore(dir, from string) bool {
	inside := len(from) > len(dir) && from[len(dir)] == '/' && from[:len(dir)] == dir
	return !inside && comparePaths(dir, from) < 0
}
