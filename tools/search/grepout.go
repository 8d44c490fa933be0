package search

import (
	"fmt"
	"strconv"
	"strings"

	"toolcrib/tools/search/internal/scan"
)

// GrepOut is a page of what was found.
type GrepOut struct {
	Path   string // as searched
	Single bool   // Path is a file
	Mode   string
	Found  []GrepFile
	Offset int
	Shown  int  // matching lines, or files, on the page
	More   bool // others follow; the next offset is Offset + Shown
	// Total is how many there are in all, Lines how many lines match; 0 where
	// the search ended at the end of the page.
	Total, Lines int
	Context      bool // context was asked for, or few lines match

	Files    int // to be searched
	Searched int // of these, up to the end of the page
	Binary   int
	Ignored  int // entries that ignore rules left out
	Hidden   int
	Filtered int // entries that the patterns left out
	// TooLarge and Unreadable name files that were not searched, or not to
	// their end.
	TooLarge, Unreadable []string

	Sensitive, IncludeIgnored bool // as asked for
}

// GrepFile is a file with matches.
type GrepFile struct {
	Path    string
	Matches int // matching lines; in mode files at least so many
	Lines   []scan.Match
	Left    int // matching lines after those on the page
	Capped  int // matching lines that max_per_file leaves out
}

// Text is a status line, then what was found.
func (o GrepOut) Text() string {
	var b strings.Builder
	b.WriteString(o.status())
	b.WriteByte('\n')
	for i, f := range o.Found {
		switch o.Mode {
		case "count":
			fmt.Fprintf(&b, "%d\t%s\n", f.Matches, shownPath(f.Path))
		case "files":
			fmt.Fprintf(&b, "%s\n", shownPath(f.Path))
		default:
			if i > 0 {
				b.WriteByte('\n')
			}
			f.write(&b, o.Context)
		}
	}
	writeNamed(&b, fmt.Sprintf("not searched to the end, more than %d MiB in one piece", scan.MaxText>>20), o.TooLarge)
	writeNamed(&b, "could not be read", o.Unreadable)
	return b.String()
}

func (f GrepFile) write(b *strings.Builder, context bool) {
	b.WriteString(shownPath(f.Path))
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
	if f.Left > 0 {
		fmt.Fprintf(b, "… %d more in this file\n", f.Left)
	}
	if f.Capped > 0 {
		fmt.Fprintf(b, "… %d more in this file, over max_per_file\n", f.Capped)
	}
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
		return fmt.Sprintf("offset=%d is past the end: %s in all; the last is offset=%d", o.Offset, count(o.Total, o.unit()), o.Total-1)
	}
	var text string
	switch {
	case o.Offset == 0 && !o.More && o.Single:
		text = count(o.Total, o.unit())
	case o.Offset == 0 && !o.More && o.Mode == "content":
		text = fmt.Sprintf("%s in %d of %s", count(o.Total, "match"), len(o.Found), count(o.Searched, "file"))
	case o.Offset == 0 && !o.More:
		text = fmt.Sprintf("%d of %s", o.Total, count(o.Searched, "file"))
	case o.Total > 0:
		text = fmt.Sprintf("%d-%d of %s", o.Offset+1, end, count(o.Total, o.unit()))
	default:
		text = fmt.Sprintf("%s %d-%d, more follow", strings.TrimPrefix(count(2, o.unit()), "2 "), o.Offset+1, end)
	}
	if o.Mode == "count" && o.Lines > 0 {
		text += fmt.Sprintf(", %s in all", count(o.Lines, "match"))
	}
	if o.Binary > 0 {
		text += fmt.Sprintf(", %d binary skipped", o.Binary)
	}
	if o.More {
		text += fmt.Sprintf("; %d of %s searched; next: offset=%d", o.Searched, count(o.Files, "file"), end)
	}
	return text
}

// nothing tells an absent string from a wrong place.
func (o GrepOut) nothing() string {
	switch {
	case o.Single && o.Binary > 0:
		return fmt.Sprintf("%s is binary: not searched", shownPath(o.Path))
	case o.Single:
		return fmt.Sprintf("0 matches in %s", shownPath(o.Path)) + o.advice()
	}
	text := fmt.Sprintf("0 matches in %s searched below %s", count(o.Searched-o.Binary, "file"), shownPath(o.Path))
	var left []string
	for _, l := range []struct {
		n    int
		what string
	}{
		{o.Ignored, "ignored"}, {o.Hidden, "hidden"}, {o.Binary, "binary"}, {o.Filtered, "left out by glob, type or exclude"},
	} {
		if l.n > 0 {
			left = append(left, fmt.Sprintf("%d %s", l.n, l.what))
		}
	}
	if left != nil {
		text += " (" + strings.Join(left, ", ") + ")"
	}
	return text + o.advice()
}

func (o GrepOut) advice() string {
	switch {
	case o.Files == 0 && o.Filtered > 0:
		return "; no file passed the filters, whose patterns are relative to path"
	case o.Ignored > 0 && !o.IncludeIgnored:
		return "; include_ignored:true searches the ignored ones too"
	case o.Hidden > 0:
		return "; hidden:true searches the hidden ones too"
	case o.Sensitive:
		return "; case:insensitive ignores case"
	}
	return ""
}
