package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/textfile"
	"toolcrib/workspace"
)

// listing is everything that a call finds, whatever page of it is asked for.
type listing struct {
	GlobOut
	text    strings.Builder   // a line for each entry, as it is shown
	ends    []int             // of the lines
	entries []workspace.Entry // that wait to be put into another order
}

// page returns the page that is asked for.
func (l *listing) page(in GlobIn) GlobOut {
	out := l.GlobOut
	out.Offset, out.Total = in.Offset, len(l.ends)
	if in.Offset >= out.Total {
		return out
	}
	from := 0
	if in.Offset > 0 {
		from = l.ends[in.Offset-1]
	}
	ends := l.ends[in.Offset:min(in.Offset+in.Limit, out.Total)]
	out.Shown, _ = slices.BinarySearch(ends, from+tools.MaxText-headerBytes)
	out.Shown = max(1, out.Shown)
	out.Paths = l.text.String()[from:ends[out.Shown-1]]
	return out
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
	if !l.known(v, in, start, f) {
		if err := l.walk(ctx, in, start, f); err != nil {
			return nil, err
		}
	}
	if in.Sort == "newest" {
		if l.entries, err = newest(ctx, l.entries); err != nil {
			return nil, err
		}
		for _, e := range l.entries {
			l.write(e)
		}
		l.entries = nil
	}
	return l, nil
}

// hidden reports whether hidden names are wanted.
func (in GlobIn) hidden(f *filter) bool { return in.Hidden || f.include.Hidden() }

// take takes an entry if it is of the kind that is wanted.
func (l *listing) take(in GlobIn, e workspace.Entry) {
	l.Looked++
	switch {
	case in.Kind != "any" && string(e.Kind) != in.Kind:
	case in.Sort == "newest":
		l.entries = append(l.entries, e)
	default:
		l.write(e)
	}
}

func (l *listing) write(e workspace.Entry) {
	name := e.Path.String()
	if e.Kind == workspace.KindDirectory {
		name += "/"
	}
	l.text.WriteString(textfile.Path(name))
	l.text.WriteByte('\n')
	l.ends = append(l.ends, l.text.Len())
}

// walk finds the entries where they are.
func (l *listing) walk(ctx context.Context, in GlobIn, start workspace.Path, f *filter) error {
	f.left.Store(0)
	runs, result := f.walk(ctx, start, workspace.WalkOptions{
		Hidden:         in.hidden(f),
		IncludeIgnored: in.IncludeIgnored,
		FollowLinks:    in.FollowLinks,
		Directories:    in.Kind != "file",
	})
	l.entries, l.ends, l.Looked = nil, nil, 0
	l.text.Reset()
	for run := range runs {
		for _, e := range run {
			l.take(in, e)
		}
	}
	stats, err := result()
	l.Looked += int(f.left.Load())
	l.Ignored, l.Hidden, l.Denied, l.Unreadable = stats.Ignored, stats.Hidden, stats.Denied, stats.Unreadable
	l.Freshness = visit{}.freshness()
	return err
}

// known takes the entries from a shelf; it reports whether there is one that knows them.
// It does not know how many hidden ones it leaves out, which matters where nothing is
// found or something is unreadable.
func (l *listing) known(v visit, in GlobIn, start workspace.Path, f *filter) bool {
	if v.table == nil {
		return false
	}
	hidden := in.hidden(f)
	known := v.entries(start, f, in.Kind != "file", func(e workspace.Entry) {
		if hidden || e.Rel[0] != '.' && !strings.Contains(e.Rel, "/.") {
			l.take(in, e)
		}
	})
	stats := v.table.Stats(start)
	l.Looked += int(f.left.Load())
	l.Ignored, l.Hidden, l.Unreadable = stats.Ignored, stats.Hidden, stats.Unreadable
	l.Freshness = v.freshness()
	return known && (hidden || len(l.ends)+len(l.entries) > 0 && len(l.Unreadable) == 0)
}

// newest orders entries by their time of change, the latest first, equal ones by
// path. What is gone meanwhile is left out.
func newest(ctx context.Context, entries []workspace.Entry) ([]workspace.Entry, error) {
	type dated struct {
		workspace.Entry
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
