package search

import (
	"cmp"
	"context"
	"slices"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/paging"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/internal/unread"
	"toolcrib/tools/search/internal/index"
	"toolcrib/tools/search/internal/scan"
	"toolcrib/workspace/fileindex"
)

const (
	fewMatches = 3 // with at most so many matching lines in all, context is added unasked
	fewContext = 2 // lines of it before and after
)

// pager builds one page from the matches, file by file. It counts in units: matching lines in
// mode content, files in the other modes.
type pager struct {
	in     GrepIn
	auto   bool // context only where few lines match
	budget int  // bytes of text that are left
	dated  []datedFile
	out    GrepOut
	progress
	next progress // before the first file that has something for the next page
}

// progress is how far a search has come.
type progress struct {
	at        string // path below the start of the first file that is not counted; "" = none is
	units     int
	lines     int // matching ones
	searched  int // files
	binary    int
	selection *index.Selection // of the scope
	// Of files and directories.
	tooLarge, slow []string
	unreadable     []paging.Unread
}

// size returns roughly the bytes that the progress takes.
func (p progress) size() int {
	return len(p.at) + entryBytes*(len(p.tooLarge)+len(p.unreadable)+len(p.slow)) + p.selection.Size()
}

type datedFile struct {
	GrepFile
	at time.Time
}

// newPager begins a page where an earlier one stopped.
func newPager(in GrepIn, s *scope, from progress) *pager {
	p := &pager{in: in, progress: from, budget: tools.MaxText - headerBytes}
	p.selection = s.selection
	switch {
	case in.Before > 0 || in.After > 0:
	case in.Context >= 0:
		p.in.Before, p.in.After = in.Context, in.Context
	default:
		p.in.Before, p.in.After, p.auto = fewContext, fewContext, true
	}
	if p.in.Before == 0 && in.Context > 0 {
		p.in.Before = in.Context
	}
	if p.in.After == 0 && in.Context > 0 {
		p.in.After = in.Context
	}
	p.out = GrepOut{
		Path: s.start.String(), Single: s.single, Mode: in.Mode, Offset: in.Offset,
		Context:   p.in.Before+p.in.After > 0,
		Sensitive: in.Case == "sensitive", IncludeIgnored: in.IncludeIgnored,
	}
	return p
}

func (p *pager) options() scan.Options {
	newest := p.in.Sort == "newest"
	switch p.in.Mode {
	case "files":
		return scan.Options{First: true, ModTime: newest}
	case "count":
		return scan.Options{ModTime: newest}
	}
	opt := scan.Options{Keep: p.in.Offset - p.units + p.in.Limit + 1, Before: p.in.Before, After: p.in.After}
	if p.in.MaxPerFile > 0 {
		opt.Keep = min(opt.Keep, p.in.MaxPerFile)
	}
	if p.auto {
		opt.Few = fewMatches
	}
	return opt
}

// add takes the next file and reports whether it wants another.
func (p *pager) add(f scan.File[source]) bool {
	p.skip(f.Source.skipped)
	before := p.progress
	if p.count(f) {
		return true
	}
	p.next, p.next.at = before, f.Source.rel
	return false
}

// skip counts files that need not be searched.
func (p *pager) skip(s skipped) {
	p.searched += s.files
	p.binary += s.binary
}

func (p *pager) count(f scan.File[source]) bool {
	switch f.Skip {
	case scan.Searched:
	case scan.Gone:
		return true
	case scan.Binary:
		p.binary++
	case scan.TooLarge:
		p.tooLarge = append(p.tooLarge, f.Source.String())
	case scan.Slow:
		p.slow = append(p.slow, f.Source.String())
	case scan.Unreadable:
		if p.unreadable = append(p.unreadable, paging.Unread{Path: f.Source.String(), Why: unread.Why(f.Err)}); f.Matches == 0 {
			return true
		}
	}
	p.searched++
	p.out.Raw = f.Binary
	switch {
	case f.Matches == 0:
		return true
	case p.in.Mode == "content":
		return p.addLines(f)
	}
	file := GrepFile{Path: f.Source.String(), Matches: f.Matches}
	p.lines += f.Matches
	if p.in.Sort == "newest" {
		p.dated = append(p.dated, datedFile{file, f.ModTime})
		return true
	}
	return p.addFile(file)
}

// addFile puts a file on the page, unless it belongs to an earlier or later page.
func (p *pager) addFile(file GrepFile) bool {
	p.units++
	if p.units <= p.in.Offset {
		return true
	}
	if !p.fits(len(textfile.Path(file.Path)) + 24) {
		return false
	}
	p.out.Found = append(p.out.Found, file)
	p.out.Shown++
	return true
}

func (p *pager) addLines(f scan.File[source]) bool {
	usable := f.Matches
	if p.in.MaxPerFile > 0 {
		usable = min(usable, p.in.MaxPerFile)
	}
	p.lines += f.Matches
	first := p.units
	p.units += usable
	from := max(0, p.in.Offset-first)
	if from >= usable {
		return true
	}
	file := GrepFile{Path: f.Source.String(), Matches: f.Matches}
	p.budget -= len(textfile.Path(file.Path)) + 60 // with the lines that say how many more there are
	for i := from; i < usable; i++ {
		if !p.fits(p.cost(f.Kept[i])) {
			if file.Lines != nil {
				file.Left = usable - i
				p.out.Found = append(p.out.Found, file)
			}
			return false
		}
		file.Lines = f.Kept[from : i+1]
		p.out.Shown++
	}
	file.Capped = f.Matches - usable
	p.out.Found = append(p.out.Found, file)
	return true
}

// fits reports whether one more unit of size bytes fits on the page, and takes the room.
func (p *pager) fits(size int) bool {
	if p.out.Shown == p.in.Limit || p.out.Shown > 0 && size > p.budget {
		p.out.More = true
		return false
	}
	p.budget -= size
	return true
}

// cost returns at least the bytes that a match takes on the page. Context that is added
// unasked costs nothing: only pages with few matches have it.
func (p *pager) cost(m scan.Match) int {
	const mark = 16 // line number, tab, line feed, separator
	n := len(m.Text) + mark
	if p.auto {
		return n
	}
	for _, lines := range [][]string{m.Before, m.After} {
		for _, line := range lines {
			n += len(line) + mark
		}
	}
	return n
}

// page returns the finished page; stats are those of the walk, left is how many entries the
// patterns left out.
func (p *pager) page(ctx context.Context, stats fileindex.WalkStats, left int) GrepOut {
	slices.SortStableFunc(p.dated, func(a, b datedFile) int { return cmp.Compare(b.at.UnixNano(), a.at.UnixNano()) })
	for _, f := range p.dated {
		if !p.addFile(f.GrepFile) {
			break
		}
	}
	if p.dated != nil {
		p.units = len(p.dated)
	}
	p.unreadable = unread.Paths(ctx, p.unreadable, stats)
	p.next.unreadable = p.unreadable
	out := p.out
	out.Searched, out.Binary, out.TooLarge, out.Unreadable, out.Slow = p.searched, p.binary, p.tooLarge, p.unreadable, p.slow
	out.Ignored, out.Hidden, out.Denied, out.Filtered = stats.Ignored, stats.Hidden, stats.Denied, left
	if !out.More || p.dated != nil {
		out.Total, out.Lines = p.units, p.lines
	}
	if p.auto && (out.More || p.lines > fewMatches) {
		out.Context = false
		for _, f := range out.Found {
			for i := range f.Lines {
				f.Lines[i].Before, f.Lines[i].After = nil, nil
			}
		}
	}
	return out
}
