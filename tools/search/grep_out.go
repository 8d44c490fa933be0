package search

import (
	"fmt"
	"strconv"
	"strings"

	"toolcrib/tools/internal/paging"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/search/internal/scan"
)

// GrepOut is a page of the matches.
type GrepOut struct {
	Path   string // as searched
	Single bool   // Path is a file
	Raw    bool   // Path is a binary file: matches have byte offsets instead of line numbers
	Mode   string
	Found  []GrepFile
	Offset int
	Shown  int  // matching lines, or files, on the page
	More   bool // others follow; the next offset is Offset + Shown
	// Total is how many there are in all, Lines how many lines match; 0 where
	// the search ended at the end of the page.
	Total, Lines int
	Context      bool // context was asked for, or few lines match

	Searched int // files, up to the end of the page
	Binary   int
	Ignored  int // entries that ignore rules left out
	Hidden   int
	Filtered int // entries that the patterns left out
	// TooLarge, Unreadable and Slow name files that were not searched, or not to
	// their end; the last ones took too long.
	TooLarge   []string
	Unreadable []paging.Unread
	Slow       []string
	Denied     int // paths, by the policy

	Sensitive, IncludeIgnored bool // as asked for
	// Dialect says which part of the pattern has a meaning in another dialect.
	Dialect string
	// Relative says that a pattern of the filters has a slash.
	Relative bool
	Read     string // how the call was read, if not as written; see reading

	Freshness, Index string // see visit
}

// GrepFile is a file with matches.
type GrepFile struct {
	Path    string
	Matches int // matching lines; in mode files a lower bound
	Lines   []scan.Match
	Left    int // matching lines after those on the page
	Capped  int // matching lines that max_per_file leaves out
}

// Text returns a status line, then the matches.
func (o GrepOut) Text() string {
	var b strings.Builder
	b.Grow(o.size())
	b.WriteString(o.Read)
	b.WriteString(o.status())
	if n := len(o.Slow); n > 0 {
		fmt.Fprintf(&b, "; not complete: %s took too long", textfile.Count(n, "file"))
	}
	b.WriteByte('\n')
	for i, f := range o.Found {
		switch o.Mode {
		case "count":
			b.WriteString(strconv.Itoa(f.Matches))
			b.WriteByte('\t')
			b.WriteString(textfile.Path(f.Path))
			b.WriteByte('\n')
		case "files":
			b.WriteString(textfile.Path(f.Path))
			b.WriteByte('\n')
		default:
			if i > 0 {
				b.WriteByte('\n')
			}
			if o.Raw {
				f.raw(&b)
			} else {
				f.write(&b, o.Context)
			}
		}
	}
	b.WriteString(paging.Named("not searched to the end, more than "+textfile.Size(scan.MaxText)+" in one piece", o.TooLarge))
	b.WriteString(paging.Named("not searched to the end for lack of time (exclude it, pass it alone as path, or a simpler pattern)", o.Slow))
	b.WriteString(paging.NotRead(o.Unreadable))
	b.WriteString(paging.Denied(o.Denied))
	return b.String()
}

// size returns roughly the bytes of the text.
func (o GrepOut) size() int {
	const status, number = 200, 8
	n := status + len(o.Read)
	for _, f := range o.Found {
		n += len(f.Path) + number
		for _, m := range f.Lines {
			n += len(m.Text) + number
		}
	}
	return n
}

func (f GrepFile) write(b *strings.Builder, context bool) {
	b.WriteString(textfile.Path(f.Path))
	b.WriteByte('\n')
	last := 0 // number of the line written last
	line := func(number int, mark, text string) {
		if context && last > 0 && number != last+1 {
			b.WriteString("--\n")
		}
		b.WriteString(strconv.Itoa(number))
		b.WriteString(mark)
		b.WriteString(text)
		b.WriteByte('\n')
		last = number
	}
	for _, m := range f.Lines {
		for i, text := range m.Before {
			line(m.Number-len(m.Before)+i, "-\t", text)
		}
		line(m.Number, "\t", m.Text)
		for i, text := range m.After {
			line(m.Number+1+i, "-\t", text)
		}
	}
	f.more(b)
}

// raw writes the byte offsets of the matches in a binary file.
func (f GrepFile) raw(b *strings.Builder) {
	b.WriteString(textfile.Path(f.Path))
	b.WriteByte('\n')
	for _, m := range f.Lines {
		fmt.Fprintf(b, "byte %d\t%s\n", m.Offset, m.Text)
	}
	f.more(b)
}

func (f GrepFile) more(b *strings.Builder) {
	if f.Left > 0 {
		fmt.Fprintf(b, "… %d more in this file\n", f.Left)
	}
	if f.Capped > 0 {
		fmt.Fprintf(b, "… %d more in this file, over max_per_file\n", f.Capped)
	}
}

// Cacheable implements [tools.Cacheable].
func (o GrepOut) Cacheable() bool { return o.Freshness == watched && o.Slow == nil }

// Meta tells programs of the next page, and how the answer is known.
func (o GrepOut) Meta() map[string]any {
	next := 0
	if o.More {
		next = o.Offset + o.Shown
	}
	return meta(next, o.Freshness, o.Index)
}

func (o GrepOut) unit() string {
	if o.Mode == "content" {
		return "match"
	}
	return "file"
}

func (o GrepOut) status() string {
	end := o.Offset + o.Shown
	switch {
	case !o.More && o.Total == 0:
		return o.nothing()
	case o.Shown == 0:
		return paging.PastEnd("offset", int64(o.Offset), textfile.Count(o.Total, o.unit()), int64(o.Total-1))
	}
	var text string
	switch {
	case o.Offset == 0 && !o.More && o.Single:
		text = textfile.Count(o.Total, o.unit())
	case o.Offset == 0 && !o.More && o.Mode == "content":
		text = fmt.Sprintf("%s in %d of %s", textfile.Count(o.Total, "match"), len(o.Found), textfile.Count(o.Searched, "file"))
	case o.Offset == 0 && !o.More:
		text = fmt.Sprintf("%d of %s", o.Total, textfile.Count(o.Searched, "file"))
	case o.Total > 0:
		text = fmt.Sprintf("%d-%d of %s", o.Offset+1, end, textfile.Count(o.Total, o.unit()))
	default:
		text = fmt.Sprintf("%s %d-%d, more follow", strings.TrimPrefix(textfile.Count(2, o.unit()), "2 "), o.Offset+1, end)
	}
	if o.Mode == "count" && o.Lines > 0 {
		text += fmt.Sprintf(", %s in all", textfile.Count(o.Lines, "match"))
	}
	capped := 0
	for _, f := range o.Found {
		capped += f.Capped
	}
	if capped > 0 {
		text += fmt.Sprintf(", %d more over max_per_file", capped)
	}
	if o.Binary > 0 {
		text += fmt.Sprintf(", %d binary skipped", o.Binary)
	}
	if o.Raw {
		text += "; the file is binary"
	}
	if o.More {
		text += fmt.Sprintf("; %s searched; next: offset=%d", textfile.Count(o.Searched, "file"), end)
	}
	return text
}

// found reports whether the search has matches, on any page.
func (o GrepOut) found() bool { return o.More || o.Total > 0 }

// unfiltered reports whether no file passed the filters.
func (o GrepOut) unfiltered() bool {
	return !o.found() && o.Searched == 0 && o.Filtered > 0 && len(o.Unreadable) == 0
}

// nothing explains an empty result: an absent text, or a wrong path or filter.
func (o GrepOut) nothing() string {
	switch {
	case o.Raw:
		return fmt.Sprintf("0 matches in %s, which is binary", textfile.Path(o.Path)) + o.advice()
	case o.Single:
		return fmt.Sprintf("0 matches in %s", textfile.Path(o.Path)) + o.advice()
	}
	text := fmt.Sprintf("0 matches in %s searched below %s", textfile.Count(o.Searched-o.Binary, "file"), textfile.Path(o.Path))
	return text + paging.LeftOut(
		paging.Left{N: o.Hidden, Why: "hidden"},
		paging.Left{N: o.Ignored, Why: "ignored"},
		paging.Left{N: o.Binary, Why: "binary"},
		paging.Left{N: o.Filtered, Why: "by glob, type or exclude"},
	) + o.advice()
}

func (o GrepOut) advice() string {
	switch {
	case o.unfiltered() && o.Relative:
		return "; no file passed the filters, whose patterns are relative to path"
	case o.unfiltered():
		return "; no file passed the filters"
	case o.Dialect != "":
		return "; " + o.Dialect
	case o.Ignored > 0 && !o.IncludeIgnored:
		return "; include_ignored:true searches the ignored ones too"
	case o.Hidden > 0:
		return "; hidden:true searches the hidden ones too"
	case o.Sensitive:
		return "; case:insensitive ignores case"
	}
	return ""
}
