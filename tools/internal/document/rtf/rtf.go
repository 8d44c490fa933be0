// Package rtf reads the Rich Text Format.
//
// It reads a file as a stream. It imports the model and must not import another reader. Start
// at [Read].
package rtf

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/text/textfile"
)

// destination is what the text of a group is for.
type destination uint8

const (
	body destination = iota
	skipped
	fonts
	sheet // of styles
	title
	author
	instruction // of a field
	label       // the number of an item, as shown
	note
	comment
	commenter
)

// state is what a group has.
type state struct {
	to     destination
	style  document.Style
	hidden bool
	unicode,
	font int
	link string
}

// scanner reads tokens and makes blocks.
type scanner struct {
	r      *bufio.Reader
	budget *document.Budget
	doc    *document.Document
	state
	stack   []state
	skip    int // characters that stand for the last one in Unicode
	ignored bool

	codepage string
	charsets map[int]string // of fonts
	headings map[int]int    // levels of styles
	pending  []byte         // bytes in the encoding of the font
	high     rune           // the first half of a character

	spans     []document.Span
	outside   []document.Span // of the paragraph in which a note is
	text      strings.Builder // of a destination that is not the body
	marker    string
	level     int
	heading   int
	styleNow  int
	name      strings.Builder
	inTable   bool
	row       []document.Cell
	cell      []document.Block
	grid      *document.Grid
	merged    []bool // cells of the row that continue another
	covered   bool   // the next one does
	notes     []document.Block
	by        string
	instrText strings.Builder
}

// Read reads a file.
func Read(src document.Source, budget *document.Budget) (*document.Document, error) {
	if err := budget.CheckFile(src.Size); err != nil {
		return nil, err
	}
	s := &scanner{
		r: bufio.NewReaderSize(io.NewSectionReader(src, 0, src.Size), 64<<10), budget: budget,
		doc: &document.Document{Format: "rtf"}, codepage: "windows-1252", charsets: map[int]string{}, headings: map[int]int{},
	}
	s.unicode = 1
	err := s.run()
	s.flushBytes()
	s.paragraph()
	s.endTable()
	if err != nil {
		return nil, err
	}
	if len(s.stack) > 0 {
		s.doc.Warn("the file ends early: groups are open at its end")
	}
	s.doc.Add(s.notes...)
	return s.doc, nil
}

func (s *scanner) run() error {
	for {
		c, err := s.r.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch c {
		case '{':
			s.flushBytes()
			s.stack = append(s.stack, s.state)
			s.ignored = false
			if err := s.budget.CheckDepth(len(s.stack)); err != nil {
				return err
			}
			if err := s.budget.TakeText(0); err != nil {
				return err
			}
		case '}':
			s.flushBytes()
			if n := len(s.stack); n > 0 {
				s.close(s.stack[n-1])
				s.stack = s.stack[:n-1]
			}
			if len(s.stack) == 0 {
				return nil // what follows is no part of the text
			}
		case '\\':
			if err := s.control(); err != nil && !errors.Is(err, io.EOF) {
				return err
			}
		case '\r', '\n', 0:
		default:
			if s.skip > 0 {
				s.skip--
				continue
			}
			if c < 0x80 && len(s.pending) == 0 {
				if err := s.letters(c); err != nil {
					return err
				}
				continue
			}
			s.pending = append(s.pending, c)
		}
	}
}

// letters adds a character and those of ASCII that follow it.
func (s *scanner) letters(first byte) error {
	next, _ := s.r.Peek(s.r.Buffered()) // what is there
	n := 0
	for n < len(next) && next[n] >= ' ' && next[n] < 0x80 && next[n] != '{' && next[n] != '}' && next[n] != '\\' {
		n++
	}
	text := string(next[:n])
	if first >= ' ' || first == '\t' {
		text = string(first) + text
	}
	_, _ = s.r.Discard(n) // they are there
	return s.add(text)
}

// control reads what follows a backslash.
func (s *scanner) control() error {
	c, err := s.r.ReadByte()
	if err != nil {
		return err
	}
	if c|0x20 >= 'a' && c|0x20 <= 'z' {
		return s.word(c)
	}
	if c != '\'' {
		s.flushBytes()
	}
	switch c {
	case '\'':
		var hex [2]byte
		if _, err := io.ReadFull(s.r, hex[:]); err != nil {
			return io.EOF
		}
		n, err := strconv.ParseUint(string(hex[:]), 16, 8)
		if s.skip > 0 {
			s.skip--
		} else if err == nil {
			s.pending = append(s.pending, byte(n))
		}
	case '*':
		s.ignored = true
	case '~':
		return s.literal('\u00a0')
	case '_':
		return s.literal('\u2011')
	case '\\', '{', '}':
		if s.skip > 0 {
			s.skip--
			return nil
		}
		return s.literal(rune(c))
	case '\n', '\r':
		s.paragraph()
	}
	return nil
}

// word reads a control word with its number.
func (s *scanner) word(first byte) error {
	name := []byte{first}
	var digits []byte
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			break
		}
		if len(digits) == 0 && c|0x20 >= 'a' && c|0x20 <= 'z' && len(name) < 40 {
			name = append(name, c)
			continue
		}
		if (c == '-' && len(digits) == 0 || c >= '0' && c <= '9') && len(digits) < 12 {
			digits = append(digits, c)
			continue
		}
		if c != ' ' {
			_ = s.r.UnreadByte() // a byte was just read
		}
		break
	}
	number, err := strconv.Atoi(string(digits))
	given := err == nil
	if string(name) == "bin" && given && number > 0 {
		_, err := s.r.Discard(number)
		return err
	}
	if string(name) == "u" && given {
		s.flushBytes()
		return s.unicodeChar(number)
	}
	s.flushBytes()
	return s.apply(string(name), number, given)
}

// unicodeChar adds a character that is given by number. What stands for it is skipped.
func (s *scanner) unicodeChar(n int) error {
	if n < 0 {
		n += 1 << 16
	}
	s.skip = s.unicode
	r := rune(n)
	switch {
	case s.high != 0:
		r = utf16.DecodeRune(s.high, r)
		s.high = 0
	case utf16.IsSurrogate(r):
		s.high = r
		return nil
	}
	return s.literal(r)
}

// flushBytes decodes bytes in the encoding of the font.
func (s *scanner) flushBytes() {
	if len(s.pending) == 0 {
		return
	}
	name := s.charsets[s.font]
	if name == "" {
		name = s.codepage
	}
	enc, ok := textfile.Lookup(name)
	if !ok {
		enc, _ = textfile.Lookup("windows-1252")
	}
	text := strings.ToValidUTF8(string(enc.Decode(s.pending)), "\uFFFD")
	s.pending = s.pending[:0]
	_ = s.add(text) // the next character finds the same limit
}

func (s *scanner) literal(r rune) error {
	if r < ' ' && r != '\t' && r != '\n' {
		return nil
	}
	return s.add(string(r))
}

// add adds text to what the group is for.
func (s *scanner) add(text string) error {
	if err := s.budget.TakeSpan(len(text)); err != nil {
		return err
	}
	switch s.to {
	case body, note, comment:
		if !s.hidden {
			s.spans = document.Append(s.spans, document.Span{Text: text, Style: s.style, Link: s.link})
		}
	case skipped, fonts:
	case sheet:
		if s.name.Len() < 256 {
			s.name.WriteString(text)
		}
	case instruction:
		if s.instrText.Len() < 4096 {
			s.instrText.WriteString(text)
		}
	default:
		if s.text.Len() < 4096 {
			s.text.WriteString(text)
		}
	}
	return nil
}

// close ends a group.
func (s *scanner) close(outer state) {
	text := strings.TrimSpace(s.text.String())
	if s.to != outer.to {
		switch s.to {
		case title:
			s.doc.Title = text
		case author:
			s.doc.Field("author", text)
		case label:
			s.marker = strings.TrimSpace(text)
			if s.marker == "" || len(s.marker) <= 3 && !strings.ContainsAny(s.marker, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
				s.marker = "•"
			}
		case commenter:
			s.by = text
		case note:
			number := strconv.Itoa(len(s.notes) + 1)
			s.notes = append(s.notes, document.Block{Kind: document.Note, Label: number, Spans: document.Trim(s.spans)})
			s.spans = s.outside
			s.spans = append(s.spans, document.Span{Text: number, Style: document.Ref})
		case comment:
			spans := document.Trim(s.spans)
			s.spans = s.outside
			s.cell = append(s.cell, document.Block{Kind: document.Comment, Label: s.by, Spans: spans})
		}
		s.text.Reset()
	} else if s.to == sheet {
		s.defineStyle()
	}
	link := s.link
	s.state = outer
	if words := strings.Fields(s.instrText.String()); outer.to != instruction && len(words) > 1 {
		if words[0] == "HYPERLINK" && !strings.HasPrefix(words[1], `\`) {
			s.link = strings.Trim(words[1], `"`)
		}
		s.instrText.Reset()
	} else if link != "" && outer.link == "" {
		s.link = ""
	}
}

// defineStyle ends the definition of a style.
func (s *scanner) defineStyle() {
	name, _, _ := strings.Cut(strings.ToLower(s.name.String()), ";")
	if rest, ok := strings.CutPrefix(strings.TrimSpace(name), "heading "); ok {
		if n, err := strconv.Atoi(rest); err == nil && n > 0 && len(s.headings) < 4096 {
			s.headings[s.styleNow] = min(n, 6)
		}
	} else if strings.TrimSpace(name) == "title" {
		s.headings[s.styleNow] = 1
	}
	s.name.Reset()
}
