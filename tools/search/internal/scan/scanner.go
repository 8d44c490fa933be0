package scan

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/search/internal/match"
	"toolcrib/workspace"
)

// A line is shown in at most MaxLine characters and maxLineBytes bytes.
const (
	MaxLine      = 400
	maxLineBytes = 600
)

// firstKept is how many matches of a file there is room for at first.
const firstKept = 3

// scanner searches one file after another.
type scanner struct {
	m      *match.Matcher
	opt    Options
	found  *atomic.Int64 // matching lines of all scanners
	win    window
	opener workspace.Opener
	at     position
	// dropped is how many bytes of a binary file are before the window.
	dropped int64
	luck    int // above 0 if large files recently had their first match in soonSize
}

// position is the state of a scanner in the text of its window.
type position struct {
	pos    int // first byte that was not searched
	at     int // first byte that may still become context
	number int // of the line at at
	due    int // lines of context that the last match still wants
}

func (s *scanner) close() {
	s.opener.Close()
	s.win.back()
	s.opt.Buffers.give(s.win.buf)
}

// scan searches a file that begin has begun.
func (s *scanner) scan(ctx context.Context, f workspace.File, out *Found) error {
	binary, err := s.decode(f)
	if err != nil {
		return err
	}
	if binary && !s.opt.Binary {
		out.Skip = Binary
		return nil
	}
	out.Binary, s.dropped = binary, 0
	if s.m.Multiline() {
		if may, err := s.scout(ctx, f); !may || err != nil {
			return err
		}
		if err := s.win.fillAll(); err != nil {
			return err
		}
		s.normalize()
	}
	s.at = position{number: 1}
	p := &s.at
	for first := true; ; first = false {
		text := s.win.text()
		if !s.win.eof {
			text = text[:bytes.LastIndexByte(text, '\n')+1]
		}
		s.search(ctx, text, out)
		if err := ctx.Err(); err != nil {
			return err
		}
		if first && s.opt.First && s.win.n >= soonSize {
			s.learn(out.Matches > 0 && p.at < soonSize)
		}
		if s.win.eof || s.opt.First && out.Matches > 0 {
			return nil
		}
		s.win.drop(p.at)
		s.dropped += int64(p.at)
		p.pos, p.at = p.pos-p.at, 0
		if err := s.win.fill(); err != nil {
			return err
		}
	}
}

// learn notes whether a large file had its first match in soonSize.
func (s *scanner) learn(soon bool) {
	if soon {
		s.luck = min(s.luck+1, mostLuck)
	} else {
		s.luck = max(s.luck-1, -mostLuck)
	}
}

// begin reads the first part of a file.
func (s *scanner) begin(f workspace.File) error {
	if k, ok := f.(Kept); ok {
		s.win.lend(f, k.Rest())
		return nil
	}
	s.win.reset(f)
	first := len(s.win.buf)
	switch {
	case s.opt.First && s.luck > 0:
		first = soonSize
	case s.opt.First:
		first = firstSize
	}
	return s.win.read(first)
}

// scout reports whether a text that must be held as a whole may match, before it is read
// whole: a large one is read part by part, and then from the start again.
func (s *scanner) scout(ctx context.Context, f workspace.File) (may bool, err error) {
	if s.win.eof || s.win.r != io.Reader(f) {
		return true, nil
	}
	for {
		s.normalize()
		if s.m.May(s.win.text()) {
			break
		}
		if s.win.eof || ctx.Err() != nil {
			return false, ctx.Err()
		}
		s.win.drop(max(0, s.win.n-match.Reach))
		if err := s.win.fill(); err != nil {
			return false, err
		}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	if err := s.begin(f); err != nil {
		return false, err
	}
	_, err = s.decode(f)
	return true, err
}

// normalize prepares the window for a search across lines.
func (s *scanner) normalize() {
	if !s.m.IsNormal(s.win.text()) {
		s.win.own()
		s.win.n = len(s.m.Normal(s.win.text()))
	}
}

// decode converts the window to UTF-8 without a byte order mark; it reports whether the file
// is binary.
func (s *scanner) decode(f io.Reader) (binary bool, err error) {
	head := s.win.text()
	encoding, mark := textfile.BOM(head)
	switch {
	case mark == 0:
		return bytes.IndexByte(head[:min(len(head), textfile.SniffLen)], 0) >= 0, nil
	case encoding.UTF8():
		s.win.drop(mark)
		return false, nil
	}
	rest := io.MultiReader(bytes.NewReader(slices.Clone(head[mark:])), f)
	s.win.reset(encoding.Reader(rest))
	return false, s.win.fill()
}

// search searches the lines of text that were not searched yet.
func (s *scanner) search(ctx context.Context, text []byte, out *Found) {
	p := &s.at
	base := p.pos
	p.pos = len(text)
	if p.due == 0 && s.win.eof && !s.m.May(text[base:]) {
		return
	}
	rest := len(text) // from here on lines are only counted
	for l := range s.m.Lines(ctx, text[base:]) {
		out.Matches++
		found := s.found.Add(1)
		start := base + l.Start
		if s.opt.First {
			p.at = start
			return
		}
		s.trail(ctx, text, start, out)
		if len(out.Kept) == s.opt.Keep {
			p.due = 0 // the next line is not context but a match
			if s.m.Multiline() {
				continue
			}
			rest = base + l.Next
			break
		}
		before := s.opt.Before
		if s.opt.Few > 0 && found > int64(s.opt.Few) {
			s.opt.Before, s.opt.After, before = 0, 0, 0
		}
		p.skip(text, back(text, p.at, start, before))
		var lead []string
		for p.at < start {
			lead = append(lead, s.show(ctx, p.line(text), false))
		}
		number := p.number
		if out.Kept == nil {
			out.Kept = make([]Match, 0, min(s.opt.Keep, firstKept))
		}
		offset := int64(0)
		if out.Binary {
			from, _ := s.m.Find(ctx, text[start:base+l.End])
			offset = s.dropped + int64(start+from)
		}
		out.Kept = append(out.Kept, Match{Number: number, Offset: offset, Text: s.show(ctx, p.line(text), true), Before: lead})
		p.due = s.opt.After
	}
	if rest < len(text) {
		n := s.m.Count(ctx, text[rest:])
		out.Matches += n
		s.found.Add(int64(n))
	}
	if p.due == 0 && (s.win.eof || len(out.Kept) == s.opt.Keep) {
		p.at = len(text)
		return
	}
	s.trail(ctx, text, len(text), out)
	p.skip(text, back(text, p.at, len(text), s.opt.Before))
}

// trail adds to the last match the lines of context before end that it still lacks.
func (s *scanner) trail(ctx context.Context, text []byte, end int, out *Found) {
	p := &s.at
	for ; p.due > 0 && p.at < end; p.due-- {
		last := &out.Kept[len(out.Kept)-1]
		last.After = append(last.After, s.show(ctx, p.line(text), false))
	}
}

// line returns the line at p.at and moves behind it.
func (p *position) line(text []byte) []byte {
	l := match.LineAt(text, p.at, p.at)
	p.at = l.Next
	p.number++
	return text[l.Start:l.End]
}

// skip moves to offset to, the start of a line.
func (p *position) skip(text []byte, to int) {
	p.number += bytes.Count(text[p.at:to], []byte{'\n'})
	p.at = to
}

// back returns the start of the n-th line before the line that starts at to, or
// from if that is later.
func back(text []byte, from, to, n int) int {
	for ; n > 0 && to > from; n-- {
		to = from + bytes.LastIndexByte(text[from:to-1], '\n') + 1
	}
	return to
}

// show returns a copy of a line to show: cut if long, a matching line around the match, with
// invisible characters escaped.
func (s *scanner) show(ctx context.Context, line []byte, matched bool) string {
	from, to := 0, 0
	if matched && len(line) > MaxLine {
		from, to = s.m.Find(ctx, line)
		to = min(to, from+MaxLine) // of a longer match its start
	}
	text := string(line)
	for limit := MaxLine; ; limit /= 2 {
		shown := textfile.Visible(textfile.Cut(text, from, to, limit))
		if len(shown) <= maxLineBytes {
			if len(shown) == len(line) {
				return shown
			}
			return strings.Clone(shown)
		}
	}
}
