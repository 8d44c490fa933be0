package rtf

import (
	"strconv"
	"strings"

	"toolcrib/tools/internal/document"
)

// apply does what a control word says.
func (s *scanner) apply(name string, number int, given bool) error {
	if to, ok := opens(name); ok && (s.to != skipped) {
		if to == note || to == comment {
			s.outside, s.spans = s.spans, nil
		}
		s.to = to
		s.ignored = false
		return nil
	}
	if s.ignored { // a group for readers that know it
		s.to = skipped
		s.ignored = false
		return nil
	}
	on := !given || number != 0
	switch name {
	case "ansicpg":
		s.codepage = codepage(number)
	case "mac":
		s.codepage = "macintosh"
	case "uc":
		s.unicode = max(number, 0)
	case "f":
		s.font = number
	case "fcharset":
		if s.to == fonts && len(s.charsets) < 4096 {
			s.charsets[s.font] = charset(number)
		}
	case "s":
		s.styleNow = number
		if s.to == body {
			s.heading = s.headings[number]
		}
	case "outlinelevel":
		if s.to == body && number >= 0 && number < 6 {
			s.heading = number + 1
		}
	case "ilvl":
		s.level = min(max(number, 0), 8)
	case "b":
		s.set(document.Bold, on)
	case "i":
		s.set(document.Italic, on)
	case "strike":
		s.set(document.Strike, on)
	case "super":
		s.set(document.Superscript, on)
	case "sub":
		s.set(document.Subscript, on)
	case "nosupersub":
		s.set(document.Superscript|document.Subscript, false)
	case "plain":
		s.style, s.hidden = 0, false
	case "v", "deleted":
		s.hidden = on
	case "pard":
		s.inTable, s.level, s.heading, s.marker = false, 0, 0, ""
	case "intbl":
		s.inTable = true
	case "trowd":
		s.merged = s.merged[:0]
	case "clmrg", "clvmrg":
		s.covered = true
	case "cellx":
		s.merged = append(s.merged, s.covered)
		s.covered = false
	default:
		return s.char(name)
	}
	return nil
}

// char does what a control word that stands for text says.
func (s *scanner) char(name string) error {
	switch name {
	case "par", "sect", "page":
		if s.to == note || s.to == comment {
			return s.add("\n")
		}
		if s.to == body {
			s.paragraph()
			return s.budget.TakeBlock()
		}
	case "line":
		return s.add("\n")
	case "tab":
		return s.add("\t")
	case "cell", "nestcell":
		if s.to == body {
			return s.endCell()
		}
	case "row", "nestrow":
		if s.to == body {
			s.endRow()
		}
	case "emdash":
		return s.add("—")
	case "endash":
		return s.add("–")
	case "bullet":
		return s.add("•")
	case "lquote":
		return s.add("‘")
	case "rquote":
		return s.add("’")
	case "ldblquote":
		return s.add("“")
	case "rdblquote":
		return s.add("”")
	case "emspace", "enspace", "qmspace":
		return s.add(" ")
	}
	return nil
}

func (s *scanner) set(style document.Style, on bool) {
	s.style &^= style
	if on {
		s.style |= style
	}
}

// opens returns what the group that a control word begins is for.
func opens(name string) (destination, bool) {
	switch name {
	case "fonttbl":
		return fonts, true
	case "stylesheet":
		return sheet, true
	case "title":
		return title, true
	case "author":
		return author, true
	case "fldinst":
		return instruction, true
	case "listtext", "pntext":
		return label, true
	case "footnote":
		return note, true
	case "annotation":
		return comment, true
	case "atnauthor":
		return commenter, true
	case "colortbl", "pict", "object", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf", "info",
		"listtable", "listoverridetable", "themedata", "datastore", "generator", "xmlnstbl", "rsidtbl", "latentstyles", "nonesttables",
		"subject", "operator", "keywords", "doccomm", "company", "atnid", "atnref", "atndate", "bkmkstart", "bkmkend", "filetbl", "revtbl":
		if name == "info" {
			return body, false // its groups are looked at
		}
		return skipped, true
	}
	return 0, false
}

// paragraph ends a paragraph.
func (s *scanner) paragraph() {
	spans := document.Trim(s.spans)
	s.spans = nil
	comments := s.cell
	if s.inTable {
		comments = nil
	} else {
		s.endTable()
		s.cell = nil
	}
	if len(spans) > 0 {
		block := document.Block{Spans: spans}
		switch {
		case s.heading > 0:
			block.Kind, block.Level = document.Heading, s.heading
			if s.marker != "" && s.marker != "•" {
				block.Spans = append(document.Text(s.marker+" "), spans...)
			}
		case s.marker != "":
			block.Kind, block.Level, block.Label = document.Item, s.level, strings.TrimPrefix(s.marker, "•")
		}
		if s.inTable {
			s.cell = append(s.cell, block)
		} else {
			s.doc.Add(block)
		}
	}
	s.doc.Add(comments...)
	s.marker = ""
}

func (s *scanner) endCell() error {
	s.inTable = true
	s.paragraph()
	s.row = append(s.row, document.CellOf(document.Flatten(s.cell)))
	s.cell = nil
	return s.budget.TakeCells(1)
}

func (s *scanner) endRow() {
	if len(s.row) == 0 {
		return
	}
	for i := range s.row {
		if i < len(s.merged) && s.merged[i] {
			s.row[i] = document.Cell{}
		}
	}
	if s.grid == nil {
		s.grid = &document.Grid{}
	}
	s.grid.Rows = append(s.grid.Rows, s.row)
	s.row = nil
}

func (s *scanner) endTable() {
	s.endRow()
	if s.grid != nil {
		s.doc.Add(document.Block{Kind: document.Table, Grid: s.grid})
		s.grid = nil
	}
}

// codepage returns the name of an encoding of Windows.
func codepage(n int) string {
	switch n {
	case 932:
		return "shift_jis"
	case 936:
		return "gb18030"
	case 949:
		return "euc-kr"
	case 950:
		return "big5"
	case 10000:
		return "macintosh"
	case 65001:
		return "utf-8"
	case 437, 850, 852, 855, 866:
		return "ibm" + strconv.Itoa(n)
	}
	return "windows-" + strconv.Itoa(n)
}

// charset returns the name of the encoding of a font.
func charset(n int) string {
	switch n {
	case 77:
		return "macintosh"
	case 128:
		return "shift_jis"
	case 129:
		return "euc-kr"
	case 134:
		return "gb18030"
	case 136:
		return "big5"
	case 161:
		return "windows-1253"
	case 162:
		return "windows-1254"
	case 163:
		return "windows-1258"
	case 177:
		return "windows-1255"
	case 178:
		return "windows-1256"
	case 186:
		return "windows-1257"
	case 204:
		return "windows-1251"
	case 222:
		return "windows-874"
	case 238:
		return "windows-1250"
	}
	return ""
}
