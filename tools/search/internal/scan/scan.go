// Package scan applies a matcher to files, several at a time, and gives back
// what it found in the order of the files.
//
// Files are opened by whoever hands them over; the package must not import tools
// or any category. Start at [Files].
package scan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"toolcrib/tools/search/internal/match"
	"toolcrib/workspace"
)

// Source is a file to search; a workspace.Path is one.
type Source interface {
	Open() (workspace.File, error)
	String() string
}

// Options says what is worth finding.
type Options struct {
	// First: one matching line a file is enough, the rest is not even counted.
	First bool
	// Keep is how many matching lines of a file are given back with their text;
	// the others are counted.
	Keep int
	// Before and After are the lines of context around each of these.
	Before, After int
	// Few, if not 0, ends the collecting of context once more lines than that
	// have matched in all files together. How much context is left is then not
	// defined.
	Few int
}

// File is what was found in one file.
type File struct {
	Path    string
	Skip    Skip  // why the file was not searched, or not to its end
	Err     error // with Skip Gone and Unreadable
	ModTime time.Time
	Matches int // matching lines; with Options.First at most 1
	Kept    []Match
}

// Match is one matching line with its context. A line of context belongs to one
// match only: to the one before it, where the context of two overlaps.
type Match struct {
	Number int    // of the matching line, from 1
	Text   string // of the matching line, fit to be shown
	Before []string
	After  []string
}

// Skip says why a file was not searched.
type Skip uint8

// The reasons.
const (
	Searched   Skip = iota
	Binary          // a NUL in its first 8 KiB, and no byte order mark
	TooLarge        // a line, or with a multiline matcher the file, over MaxText
	Gone            // removed since it was listed
	Unreadable      // see File.Err
)

// MaxText is the most bytes that are held of one file.
const MaxText = 64 << 20

const (
	batchSize = 16 // files that a worker takes at once
	ahead     = 64 // batches that may be ready before the first is wanted
)

type batch struct {
	first int // index of its first source
	files []File
	panic string // of a worker, with its stack
}

// Files searches sources with several workers and yields a File for each, in the
// order of sources. It ends early, without a word, when ctx does. Workers have
// ended when the iteration has.
func Files[S Source](ctx context.Context, sources []S, m *match.Matcher, opt Options) iter.Seq[File] {
	return func(yield func(File) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var workers sync.WaitGroup
		defer workers.Wait()
		defer cancel()

		var next, found atomic.Int64
		results := make(chan batch)
		room := make(chan struct{}, ahead)
		for range min(runtime.GOMAXPROCS(0), (len(sources)+batchSize-1)/batchSize) {
			workers.Go(func() {
				s := scanner{m: m, opt: opt, found: &found}
				for {
					select {
					case room <- struct{}{}:
					case <-ctx.Done():
						return
					}
					first := int(next.Add(batchSize)) - batchSize
					if first >= len(sources) {
						return
					}
					b := run(ctx, &s, sources[first:min(first+batchSize, len(sources))])
					b.first = first
					select {
					case results <- b:
					case <-ctx.Done():
						return
					}
				}
			})
		}
		ready := map[int]batch{}
		for want := 0; want < len(sources); want += batchSize {
			for {
				if _, ok := ready[want]; ok {
					break
				}
				select {
				case b := <-results:
					ready[b.first] = b
				case <-ctx.Done():
					return
				}
			}
			b := ready[want]
			delete(ready, want)
			<-room
			if b.panic != "" {
				panic(b.panic)
			}
			for _, f := range b.files {
				if ctx.Err() != nil || !yield(f) {
					return
				}
			}
		}
	}
}

// run searches a batch. A panic is carried to the goroutine of the caller.
func run[S Source](ctx context.Context, s *scanner, sources []S) (b batch) {
	defer func() {
		if v := recover(); v != nil {
			b.panic = fmt.Sprintf("%v\n%s", v, debug.Stack())
		}
	}()
	for _, source := range sources {
		if ctx.Err() != nil {
			return b
		}
		b.files = append(b.files, open(ctx, s, source))
	}
	return b
}

func open(ctx context.Context, s *scanner, source Source) File {
	out := File{Path: source.String()}
	f, err := source.Open()
	if err == nil {
		out.ModTime = f.Info().ModTime
		err = errors.Join(s.scan(ctx, f, &out), f.Close())
	}
	switch e, _ := errors.AsType[*workspace.Error](err); {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist), e != nil && e.Rule == workspace.RuleNotFound:
		out.Skip, out.Err = Gone, err
	case errors.Is(err, errTooLarge):
		out.Skip = TooLarge
	default:
		out.Skip, out.Err = Unreadable, err
	}
	return out
}
