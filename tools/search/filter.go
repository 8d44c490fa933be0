package search

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/pathglob"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// filter selects entries of a walk by their path below its start.
type filter struct {
	include pathglob.Set // none = everything
	types   pathglob.Set // none = everything
	exclude pathglob.Set
	left    atomic.Int64 // entries that were left out; a directory that is not entered counts as one
	listed  bool         // the walk reports directories, entered or not
}

// newFilter prepares the patterns of the arguments. A pattern of include that
// starts with ! excludes.
func newFilter(name string, include, exclude, types []string) (*filter, error) {
	var f filter
	include, exclude = pathglob.Negated(include, exclude)
	var err error
	if f.include, err = compile(name, include); err != nil {
		return nil, err
	}
	if f.exclude, err = compile("exclude", exclude); err != nil {
		return nil, err
	}
	if types, err = typePatterns(types); err != nil {
		return nil, err
	}
	f.types, err = compile("type", types)
	return &f, err
}

func compile(name string, patterns []string) (pathglob.Set, error) {
	set, err := pathglob.Compile(patterns)
	if e, ok := errors.AsType[*pathglob.Error](err); ok {
		return set, tools.Errorf(tools.InvalidArgument, "%s: %s", name, e).WithHint("%s", e.Hint)
	}
	return set, err
}

// walk yields the selected entries below start, in path order, a run at a time. After the last
// run it returns the result of the walk.
func (f *filter) walk(ctx context.Context, start workspace.Path, opt fileindex.WalkOptions) (entries iter.Seq[[]fileindex.Entry], result func() (fileindex.WalkStats, error)) {
	opt.SkipDir, f.listed = f.skips, opt.Directories
	stream := fileindex.NewStream(ctx, start, opt)
	return func(yield func([]fileindex.Entry) bool) {
		for run := range stream.Runs() {
			n := len(run)
			run = slices.DeleteFunc(run, func(e fileindex.Entry) bool { return !f.wants(e.Rel, e.Kind == workspace.KindDirectory) })
			f.left.Add(int64(n - len(run)))
			if len(run) > 0 && !yield(run) {
				return
			}
		}
	}, stream.Result
}

// skips reports whether the filter selects nothing in a directory. Walks call it from several
// goroutines.
func (f *filter) skips(dir string) bool {
	skip := f.exclude.Names(dir, true) || !f.include.Empty() && !f.include.Below(dir)
	if skip && !f.listed {
		f.left.Add(1)
	}
	return skip
}

// excluding returns a function that reports whether a file is in an excluded directory. It
// must be called with files in path order.
func (f *filter) excluding() func(rel string) bool {
	if f.exclude.Empty() {
		return func(string) bool { return false }
	}
	dir, out := "", false // of the file before
	return func(rel string) bool {
		at := rel[:max(0, strings.LastIndexByte(rel, '/'))]
		if at == dir {
			return out
		}
		dir, out = at, false
		for i := range len(at) {
			if at[i] == '/' && f.exclude.Names(at[:i], true) {
				out = true
				return out
			}
		}
		out = f.exclude.Names(at, true)
		return out
	}
}

// wants reports whether the filter selects a path.
func (f *filter) wants(rel string, directory bool) bool {
	return !f.exclude.Names(rel, directory) &&
		(f.include.Empty() || f.include.Match(rel, directory)) &&
		(f.types.Empty() || f.types.Match(rel, directory))
}

// empty reports whether the filter selects everything.
func (f *filter) empty() bool { return f.exclude.Empty() && f.include.Empty() && f.types.Empty() }

// byName returns the filter as one of names alone; ok reports whether names are enough to
// decide.
func (f *filter) byName() (names fileindex.NameFilter, ok bool) {
	include, byInclude := f.include.ByName()
	types, byTypes := f.types.ByName()
	switch {
	case !f.exclude.Empty() || !byInclude || !byTypes:
		return names, false
	case f.types.Empty() && f.include.Empty():
	case f.types.Empty():
		names.Match, names.Suffixes = include, f.include.Suffixes()
	case f.include.Empty():
		names.Match, names.Suffixes = types, f.types.Suffixes()
	default:
		names.Match, names.Suffixes = func(name string) bool { return include(name) && types(name) }, f.include.Suffixes()
	}
	return names, true
}

// newest sorts entries by modification time, the latest first, equal ones by path. Entries
// that are gone meanwhile are left out.
func newest(ctx context.Context, entries []fileindex.Entry) ([]fileindex.Entry, error) {
	type dated struct {
		fileindex.Entry
		at time.Time
	}
	var list []dated
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		info, err := e.Path.Lstat() // without one the time is zero and the entry last
		if err == nil || tools.AsError(err).Code != tools.NotFound {
			list = append(list, dated{e, info.ModTime})
		}
	}
	slices.SortStableFunc(list, func(a, b dated) int { return cmp.Compare(b.at.UnixNano(), a.at.UnixNano()) })
	entries = entries[:0]
	for _, d := range list {
		entries = append(entries, d.Entry)
	}
	return entries, nil
}
