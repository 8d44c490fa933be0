package search

import (
	"cmp"
	"slices"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/textfile"
	"toolcrib/tools/search/internal/scan"
)

const (
	fewMatches  = 3 // with so many matching lines in all, context is added unasked
	fewContext  = 2 // lines of it before and after
	headerBytes = 4_000
)

// pager puts together one page from what was found file by file. It counts in
// units: matching lines in mode content, files in the other modes.
type pager struct {
	in     GrepIn
	scope  scope
	auto   bool // context only where few lines match
	units  int  // so far, in path order
	lines  int  // matching lines so far
	budget int  // bytes of text that are left
	dated  []datedFile
	out    GrepOut
}

type datedFile struct {
	GrepFile
	at time.Time
}

func newPager(in GrepIn, s scope) *pager {
	p := &pager{in: in, scope: s, budget: tools.MaxText - headerBytes}
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
		Path: s.start.String(), Single: s.single, Mode: in.Mode, Offset: in.Offset, Files: len(s.files),
		Context: p.in.Before+p.in.After > 0,
		Ignored: s.stats.Ignored, Hidden: s.stats.Hidden, Filtered: s.filtered, Unreadable: slices.Clone(s.stats.Unreadable),
		Sensitive: in.Case == "sensitive", IncludeIgnored: in.IncludeIgnored,
	}
	return p
}

func (p *pager) options() scan.Options {
	switch p.in.Mode {
	case "files":
		return scan.Options{First: true}
	case "count":
		return scan.Options{}
	}
	opt := scan.Options{Keep: p.in.Offset + p.in.Limit + 1, Before: p.in.Before, After: p.in.After}
	if p.in.MaxPerFile > 0 {
		opt.Keep = min(opt.Keep, p.in.MaxPerFile)
	}
	if p.auto {
		opt.Few = fewMatches
	}
	return opt
}

// add takes the next file; it reports whether another is wanted.
func (p *pager) add(f scan.File) bool {
	p.out.Searched++
	switch f.Skip {
	case scan.Binary:
		p.out.Binary++
	case scan.Gone:
		p.out.Searched--
	case scan.TooLarge:
		p.out.TooLarge = append(p.out.TooLarge, f.Path)
	case scan.Unreadable:
		p.out.Unreadable = append(p.out.Unreadable, f.Path)
	}
	switch {
	case f.Matches == 0:
		return true
	case p.in.Mode == "content":
		return p.addLines(f)
	}
	file := GrepFile{Path: f.Path, Matches: f.Matches}
	p.lines += f.Matches
	if p.in.Sort == "newest" {
		p.dated = append(p.dated, datedFile{file, f.ModTime})
		return true
	}
	return p.addFile(file)
}

// addFile puts a file on the page, unless it is before or behind it.
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

func (p *pager) addLines(f scan.File) bool {
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
	file := GrepFile{Path: f.Path, Matches: f.Matches}
	p.budget -= len(textfile.Path(f.Path)) + 60 // with the lines that say how many more there are
	for i := from; i < usable; i++ {
		if !p.fits(p.cost(f.Kept[i])) {
			if file.Lines != nil {
				file.Left = usable - i
				p.out.Found = append(p.out.Found, file)
			}
			return false
		}
		file.Lines = append(file.Lines, f.Kept[i])
		p.out.Shown++
	}
	file.Capped = f.Matches - usable
	p.out.Found = append(p.out.Found, file)
	return true
}

// fits reports whether one more unit of so many bytes has room on the page, and
// takes the room.
func (p *pager) fits(size int) bool {
	if p.out.Shown == p.in.Limit || p.out.Shown > 0 && size > p.budget {
		p.out.More = true
		return false
	}
	p.budget -= size
	return true
}

// cost is at least the bytes that a match takes on the page. Context that is
// added unasked costs nothing: it comes with a few matches only.
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

// page returns what was put together.
func (p *pager) page() GrepOut {
	slices.SortStableFunc(p.dated, func(a, b datedFile) int { return cmp.Compare(b.at.UnixNano(), a.at.UnixNano()) })
	for _, f := range p.dated {
		if !p.addFile(f.GrepFile) {
			break
		}
	}
	if p.dated != nil {
		p.units = len(p.dated)
	}
	if !p.out.More || p.dated != nil {
		p.out.Total, p.out.Lines = p.units, p.lines
	}
	if p.auto && (p.out.More || p.lines > fewMatches) {
		p.out.Context = false
		for _, f := range p.out.Found {
			for i := range f.Lines {
				f.Lines[i].Before, f.Lines[i].After = nil, nil
			}
		}
	}
	return p.out
}
