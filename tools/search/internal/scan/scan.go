// Package scan applies a matcher to files, several at a time, and returns the matches in the
// order of the files.
//
// The caller provides the way to open a file. The package must not import tools or any
// category. Start at [Files].
package scan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"toolcrib/tools/search/internal/match"
	"toolcrib/workspace"
)

// Source is a file to search. It may be opened through an opener, which is closed after the
// search.
type Source interface {
	OpenBy(*workspace.Opener) (workspace.File, error)
	// Whole receives the bytes of a file that was read at once. They are valid during the
	// call.
	Whole(text []byte)
	// Parts returns the parts of a UTF-8 file outside which no line matches: begin and end of
	// each, both at the start of a line or past the end of the file. nil = not known.
	Parts() iter.Seq2[int64, int64]
}

// Kept is a file that is in memory.
type Kept interface {
	workspace.File
	// Rest returns the bytes that were not read yet. They must not be changed.
	Rest() []byte
}

// Options says which matches and how much context to return.
type Options struct {
	// First: one matching line a file is enough, the rest is not even counted.
	First bool
	// Keep is how many matching lines of a file are returned with their text; the others are
	// counted.
	Keep int
	// Before and After are the lines of context around each of these.
	Before, After int
	// Few, if not 0, ends the collection of context once more than Few lines have matched in
	// all files together. Which matches then have context is not defined.
	Few int
	// Binary: search binary files too, see File.Binary.
	Binary bool
	// ModTime: report when each file was modified.
	ModTime bool
	// Part is the share of the remaining time until the deadline of the context that one file
	// may take; 0 = all of it.
	Part    float64
	Buffers *Buffers // nil = of this search alone
}

// File has the matches of one file.
type File[S Source] struct {
	Source S
	Found
}

// Found is the result of searching one file.
type Found struct {
	Skip    Skip      // why the file was not searched, or not to its end
	Err     error     // with Skip Gone and Unreadable
	ModTime time.Time // with Options.ModTime, where a line matches
	Binary  bool      // it is binary but was searched: its line numbers mean little
	Matches int       // matching lines; with Options.First at most 1
	Kept    []Match
}

// Match is one matching line with its context. A line of context belongs to one
// match only: to the one before it, where the context of two overlaps.
type Match struct {
	Number int    // of the matching line, from 1
	Offset int64  // of the first match in the line, in a file that is binary
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
	Slow            // it took more than its part of the time; earlier matches count
)

// MaxText is the most bytes that are held of one file.
const MaxText = 64 << 20

// Files that a worker takes at once: few at first, since the first ones may be enough, and
// later a share of the files searched so far.
const (
	firstBatch = 8
	mostBatch  = 64
	batchShare = 128
	ahead      = 4 // batches that may be in work or ready before the first is wanted
)

// batch is a few consecutive sources and later their results. It is reused when the results
// have been taken.
type batch[S Source] struct {
	sources []S
	done    chan struct{} // holds a value when files and panic are set
	files   []File[S]
	panic   string // of a worker or of the sources, with its stack
}

// Files searches sources with several workers and yields a File for each, in the order of the
// sources. Another goroutine iterates over runs; it does not keep a run beyond its step of the
// iteration. If ctx ends, Files ends early and reports nothing. When Files returns, the
// workers and the iteration of runs have ended; a panic in one of them continues in the
// caller.
func Files[S Source](ctx context.Context, runs iter.Seq[[]S], m *match.Matcher, opt Options) iter.Seq[File[S]] {
	return func(yield func(File[S]) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()

		queue, used := make(chan *batch[S], ahead), make(chan *batch[S], ahead+1)
		running.Go(func() {
			defer close(queue)
			share(ctx, runs, queue, used, m, opt)
		})
		for b := range queue {
			select {
			case <-b.done:
			case <-ctx.Done():
				return
			}
			if b.panic != "" {
				panic(b.panic)
			}
			for _, f := range b.files {
				if ctx.Err() != nil || !yield(f) {
					return
				}
			}
			select {
			case used <- b:
			default:
			}
		}
	}
}

// share cuts the sources into batches for workers, and puts each into the queue. It
// returns when all are searched or ctx has ended.
func share[S Source](ctx context.Context, runs iter.Seq[[]S], queue chan<- *batch[S], used <-chan *batch[S], m *match.Matcher, opt Options) {
	var workers sync.WaitGroup
	defer workers.Wait()
	jobs := make(chan *batch[S])
	defer close(jobs)
	var found atomic.Int64
	started := 0
	send := func(b *batch[S]) bool {
		select {
		case queue <- b:
		case <-ctx.Done():
			return false
		}
		if started < runtime.GOMAXPROCS(0) {
			started++
			workers.Go(func() {
				s := scanner{m: m, opt: opt, found: &found, win: window{buf: opt.Buffers.take()}}
				defer s.close()
				limited := patience{Context: ctx, part: opt.Part}
				for b := range jobs {
					b.run(&limited, &s)
				}
			})
		}
		select {
		case jobs <- b:
			return true
		case <-ctx.Done():
			return false
		}
	}
	failed := caught(func() {
		b := empty(used)
		sent := 0
		for run := range runs {
			for len(run) > 0 {
				size := min(max(firstBatch, sent/batchShare), mostBatch)
				n := min(len(run), size-len(b.sources))
				b.sources, run = append(b.sources, run[:n]...), run[n:]
				if len(b.sources) < size {
					break
				}
				if !send(b) {
					return
				}
				sent += size
				b = empty(used)
			}
		}
		if len(b.sources) > 0 {
			send(b)
		}
	})
	if failed != "" {
		b := &batch[S]{done: make(chan struct{}, 1), panic: failed}
		b.done <- struct{}{}
		select {
		case queue <- b:
		case <-ctx.Done():
		}
	}
}

// empty returns a batch without sources, if there is one that has been used.
func empty[S Source](used <-chan *batch[S]) *batch[S] {
	select {
	case b := <-used:
		clear(b.files)
		b.sources, b.files = b.sources[:0], b.files[:0]
		return b
	default:
		return &batch[S]{done: make(chan struct{}, 1)}
	}
}

// run searches a batch.
func (b *batch[S]) run(ctx *patience, s *scanner) {
	defer func() { b.done <- struct{}{} }()
	b.panic = caught(func() {
		b.files = slices.Grow(b.files, len(b.sources))
		for _, source := range b.sources {
			if ctx.next(); ctx.Err() != nil {
				return
			}
			b.files = append(b.files, File[S]{Source: source})
			open(ctx, s, source, &b.files[len(b.files)-1].Found)
		}
	})
}

// caught calls f and returns its panic with the stack, "" if there was none.
func caught(f func()) (failed string) {
	defer func() {
		if v := recover(); v != nil {
			failed = fmt.Sprintf("%v\n%s", v, debug.Stack())
		}
	}()
	f()
	return ""
}

func open[S Source](ctx *patience, s *scanner, source S, out *Found) {
	f, err := source.OpenBy(&s.opener)
	if err == nil {
		if parts := source.Parts(); parts == nil || s.promising(ctx, f, parts) {
			if err = s.begin(f); err == nil {
				if s.win.eof && !s.win.lent {
					source.Whole(s.win.text())
				}
				err = s.scan(ctx, f, out)
			}
		}
		if s.opt.ModTime && out.Matches > 0 {
			out.ModTime = f.Info().ModTime
		}
		if closed := f.Close(); err == nil {
			err = closed
		}
	}
	if ctx.slow {
		out.Skip = Slow
		return
	}
	if err == nil {
		return
	}
	switch e, _ := errors.AsType[*workspace.Error](err); {
	case errors.Is(err, fs.ErrNotExist), e != nil && e.Rule == workspace.RuleNotFound:
		out.Skip, out.Err = Gone, err
	case errors.Is(err, errTooLarge):
		out.Skip = TooLarge
	default:
		out.Skip, out.Err = Unreadable, err
	}
}
