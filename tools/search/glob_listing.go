package search

import (
	"context"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/internal/unread"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// listing is everything that a call finds, on all pages.
type listing struct {
	GlobOut
	total   int               // entries
	sheets  []sheet           // each of sheetLines lines but the last
	entries []fileindex.Entry // to be sorted
}

// sheet is a part of a listing. A long listing has many, so that it is not copied again and
// again while it grows.
type sheet struct {
	text []byte   // a line for each entry, as it is shown
	ends []uint32 // of the lines
}

const sheetLines = 1024

// page returns the page that is asked for.
func (l *listing) page(in GlobIn) GlobOut {
	out := l.GlobOut
	out.Offset, out.Total = in.Offset, l.total
	var parts [][]byte
	size := 0
	room := tools.MaxText - headerBytes
	for at, full := in.Offset, false; !full && at < min(in.Offset+in.Limit, l.total); at = in.Offset + out.Shown {
		var part []byte
		var n int
		part, n, full = l.sheets[at/sheetLines].cut(at%sheetLines, in.Limit-out.Shown, room, out.Shown == 0)
		parts = append(parts, part)
		size += len(part)
		out.Shown += n
		room -= len(part)
	}
	var paths strings.Builder
	paths.Grow(size)
	for _, part := range parts {
		paths.Write(part)
	}
	out.Paths = paths.String()
	return out
}

// cut returns the lines of a sheet from line, at most most of them and fewer than room bytes
// in all, but at least one if some is set. full reports whether no room is left.
func (s *sheet) cut(line, most, room int, some bool) (text []byte, lines int, full bool) {
	from := uint32(0)
	if line > 0 {
		from = s.ends[line-1]
	}
	ends := s.ends[line:min(line+most, len(s.ends))]
	lines, _ = slices.BinarySearch(ends, from+uint32(room))
	full = lines < len(ends)
	if some {
		lines = max(1, lines)
	}
	if lines == 0 {
		return nil, 0, true
	}
	return s.text[from:ends[lines-1]], lines, full
}

// size returns roughly the bytes that the listing takes.
func (l *listing) size() (n int) {
	for i := range l.sheets {
		n += cap(l.sheets[i].text) + 4*cap(l.sheets[i].ends)
	}
	return n
}

func list(ctx context.Context, v visit, start workspace.Path, in GlobIn) (*listing, error) {
	f, err := newFilter("pattern", in.Pattern, in.Exclude, nil)
	if err != nil {
		return nil, err
	}
	l := &listing{GlobOut: GlobOut{Path: start.String(), What: in.Kind}}
	if in.Kind == "any" {
		l.What = "entry"
	}
	if !l.known(ctx, v, in, start, f) {
		if err := l.walk(ctx, in, start, f); err != nil {
			return nil, err
		}
		if err := unread.Starved(l.Looked, l.Unreadable); err != nil {
			return nil, err
		}
	}
	if in.Sort == "newest" {
		if l.entries, err = newest(ctx, l.entries); err != nil {
			return nil, err
		}
		for i := range l.entries {
			l.write(&l.entries[i])
		}
		l.entries = nil
	}
	return l, nil
}

// hidden reports whether hidden names are wanted.
func (in GlobIn) hidden(f *filter) bool { return in.Hidden || f.include.Hidden() }

// take adds an entry if it is of the wanted kind.
func (l *listing) take(in *GlobIn, e *fileindex.Entry) {
	l.Looked++
	switch {
	case in.Kind != "any" && string(e.Kind) != in.Kind:
	case in.Sort == "newest":
		l.entries = append(l.entries, *e)
	default:
		l.write(e)
	}
}

func (l *listing) write(e *fileindex.Entry) {
	name := e.Path.String()
	if e.Kind == workspace.KindDirectory {
		name += "/"
	}
	s := l.sheet()
	s.text = append(append(s.text, textfile.Path(name)...), '\n')
	s.ends = append(s.ends, uint32(len(s.text)))
	l.total++
}

// sheet returns the sheet for the next line.
func (l *listing) sheet() *sheet {
	n := len(l.sheets)
	if n > 0 && len(l.sheets[n-1].ends) < sheetLines {
		return &l.sheets[n-1]
	}
	var next sheet
	if n > 0 { // as long as the one before, more or less
		next = sheet{make([]byte, 0, len(l.sheets[n-1].text)*9/8), make([]uint32, 0, sheetLines)}
	}
	l.sheets = append(l.sheets, next)
	return &l.sheets[n]
}

// walk finds the entries where they are.
func (l *listing) walk(ctx context.Context, in GlobIn, start workspace.Path, f *filter) error {
	f.left.Store(0)
	runs, result := f.walk(ctx, start, fileindex.WalkOptions{
		Hidden:         in.hidden(f),
		IncludeIgnored: in.IncludeIgnored,
		FollowLinks:    in.FollowLinks,
		Directories:    in.Kind != "file",
	})
	l.entries, l.sheets, l.total, l.Looked = nil, nil, 0, 0
	for run := range runs {
		for i := range run {
			l.take(&in, &run[i])
		}
	}
	stats, err := result()
	l.Looked += int(f.left.Load())
	l.Ignored, l.Hidden, l.Denied = stats.Ignored, stats.Hidden, stats.Denied
	l.Unreadable = unread.Paths(ctx, nil, stats)
	l.Freshness = visit{}.freshness()
	return err
}

// known takes the entries from a shelf, and reports whether a shelf has them. It does not
// count the hidden entries that it leaves out; the count is needed if nothing is found or
// something is unreadable.
func (l *listing) known(ctx context.Context, v visit, in GlobIn, start workspace.Path, f *filter) bool {
	if v.table == nil {
		return false
	}
	hidden := in.hidden(f)
	known := v.entries(start, f, in.Kind != "file", func(e *fileindex.Entry) {
		if hidden || e.Rel[0] != '.' && !strings.Contains(e.Rel, "/.") {
			l.take(&in, e)
		}
	})
	stats := v.table.Stats(start)
	l.Looked += int(f.left.Load())
	l.Ignored, l.Hidden = stats.Ignored, stats.Hidden
	l.Unreadable = unread.Paths(ctx, nil, stats)
	l.Freshness = v.freshness()
	return known && (hidden || l.total+len(l.entries) > 0 && len(l.Unreadable) == 0)
}
