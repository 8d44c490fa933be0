package search

import (
	"bytes"
	"context"
	"iter"
	"slices"

	"toolcrib/tools/search/internal/index"
	"toolcrib/tools/search/internal/match"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// scope is the files that a call searches.
type scope struct {
	start  workspace.Path
	single bool  // start is a file
	visit  visit // the zero visit if the files are read
	filter *filter
	// selection is the answer of the index at the first page. It stays true for the
	// versions of that time.
	selection *index.Selection
	runs      iter.Seq[[]source]
	tail      skipped                             // behind the last of runs
	result    func() (fileindex.WalkStats, error) // when runs has ended
}

// source is a file to be searched.
type source struct {
	workspace.Path
	rel      string // below the start
	skipped         // before it
	by       *borrower
	among    *index.Selection // knows the parts; nil = unknown
	id, file uint32           // the file and its version, if that is known
}

// skipped counts files that are known to have no match.
type skipped struct {
	files  int
	binary int // of these
}

// newScope finds the files from where an earlier page stopped.
func newScope(ctx context.Context, v visit, start workspace.Path, in GrepIn, m *match.Matcher, from progress) (*scope, error) {
	s := &scope{start: start, visit: v}
	var err error
	if s.filter, err = newFilter("glob", in.Glob, in.Exclude, in.Type); err != nil {
		return nil, err
	}
	info, err := start.Stat()
	if err != nil {
		return nil, err
	}
	if info.Kind != workspace.KindDirectory {
		s.single, s.visit = true, visit{}
		s.runs = slices.Values([][]source{{{Path: start}}})
		s.result = func() (fileindex.WalkStats, error) { return fileindex.WalkStats{}, nil }
		return s, nil
	}
	s.selection = from.selection
	if s.known(ctx, m, from.at, in.Sort == "newest") {
		return s, nil
	}
	s.walk(ctx, fileindex.WalkOptions{
		Hidden: in.Hidden, IncludeIgnored: in.IncludeIgnored, FollowLinks: in.FollowLinks, From: from.at,
	})
	return s, nil
}

// walk finds the files while they are searched.
func (s *scope) walk(ctx context.Context, opt fileindex.WalkOptions) {
	s.visit = visit{}
	entries, result := s.filter.walk(ctx, s.start, opt)
	s.result = result
	s.runs = func(yield func([]source) bool) {
		var files []source // of one run after the other
		for run := range entries {
			files = files[:0]
			for _, e := range run {
				if e.Kind == workspace.KindFile {
					files = append(files, source{Path: e.Path, rel: e.Rel})
				}
			}
			if len(files) > 0 && !yield(files) {
				return
			}
		}
	}
}

// A search of known files takes few files at first, and then more and more, up to most.
const (
	firstKnown = 64
	mostKnown  = 2048
)

// known takes the files of the shelf from the path from, without those that cannot match, and
// reports whether there is a shelf. dated says that their times are wanted too.
func (s *scope) known(ctx context.Context, m *match.Matcher, from string, dated bool) bool {
	if s.visit.table == nil {
		return false
	}
	if s.selection == nil {
		s.selection = s.visit.index.Select(m.Clauses(), m.Multiline())
	}
	by := s.visit.borrow(from == "")
	if dated {
		by = nil
	}
	excluded := s.filter.excluding()
	s.runs = func(yield func([]source) bool) {
		var run []source
		for most, at, more := firstKnown, from, true; more; most = min(2*most, mostKnown) {
			files, next, known := s.some(run[:0], excluded, by, at, most)
			run = files
			if !known { // another call has found that it changed
				s.walk(ctx, fileindex.WalkOptions{Hidden: true, From: at})
				s.runs(yield)
				return
			}
			if len(run) > 0 && !yield(run) {
				return
			}
			at, more = next, next != ""
		}
	}
	s.result = func() (fileindex.WalkStats, error) {
		s.visit.countLeft(s.start, s.filter)
		return s.visit.table.Stats(s.start), nil
	}
	return true
}

// some appends to run a number of known files to search, from a path on; next is the path
// where the others begin, "" if there are none.
func (s *scope) some(run []source, excluded func(string) bool, by *borrower, from string, most int) (found []source, next string, known bool) {
	names, byName := s.filter.byName()
	skip := func(name string, id, version uint32) bool { // asked of every file there is
		if names.Match != nil && !names.Match(name) {
			return true
		}
		class := s.selection.Class(id, version)
		if class == index.May {
			return false
		}
		s.tail.files++
		if class == index.Binary {
			s.tail.binary++
		}
		return true
	}
	first := skip
	if !byName {
		first = nil // a client asks for the path first
	}
	known = s.visit.table.Files(s.start, from, first, func(file fileindex.File) bool {
		if !byName && (excluded(file.Rel) || !s.filter.wants(file.Rel, false) || skip("", file.ID, file.Version)) {
			return true
		}
		if len(run) == most {
			next = file.Rel
			return false
		}
		run = append(run, source{file.Path, file.Rel, s.tail, by, s.selection, file.ID, file.Version})
		s.tail = skipped{}
		return true
	})
	return run, next, known
}

// OpenBy opens the file, or its cached text.
func (s source) OpenBy(o *workspace.Opener) (workspace.File, error) {
	if s.by != nil {
		if text, ok := s.by.get(s.version()); ok {
			return keptFile{bytes.NewReader(text), text}, nil
		}
	}
	return o.Open(s.Path)
}

// Whole caches the text of the file.
func (s source) Whole(text []byte) {
	if s.by == nil || len(text) > mostContent || s.by.left.Load() <= 0 || s.by.has(s.version()) ||
		s.by.left.Add(-max(int64(len(text)+entryBytes), s.by.least)) < 0 {
		return
	}
	s.by.put(s.version(), text)
}

// Parts returns the parts that may have a match.
func (s source) Parts() iter.Seq2[int64, int64] { return s.among.Parts(s.id, s.file) }

func (s source) version() version { return version{s.by.shelf, s.id, s.file} }
