package ooxml

import (
	"strconv"
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/markup"
)

// style is what a style says of paragraphs and runs.
type style struct {
	name, based string
	outline     int // 1 to 9; 0 = body
	numID       string
	level       int
	run         runProps
}

// level is a level of a list.
type level struct {
	format, text string
	start        int
	legal        bool
}

// list is a list with its counters. Lists of one definition share them.
type list struct {
	levels   [9]level
	counters *[9]int
}

type styles struct {
	byID  map[string]style
	lists map[string]list
}

// readStyles reads the part of the styles.
func (s *styles) readStyles(d *markup.Decoder, budget *document.Budget) error {
	return d.Elements(func() error {
		if d.Name() != "style" {
			return nil
		}
		id := d.Attr("styleId")
		var st style
		err := d.Each(func() error {
			switch d.Name() {
			case "name":
				st.name = strings.ToLower(d.Attr("val"))
			case "basedOn":
				st.based = d.Attr("val")
			case "pPr":
				return d.Each(func() error {
					switch d.Name() {
					case "outlineLvl":
						if n, err := strconv.Atoi(d.Attr("val")); err == nil && n >= 0 && n < 9 {
							st.outline = n + 1
						}
					case "numPr":
						return d.Each(func() error {
							switch d.Name() {
							case "numId":
								st.numID = d.Attr("val")
							case "ilvl":
								st.level, _ = strconv.Atoi(d.Attr("val")) // 0 if it is none
							}
							return nil
						})
					}
					return nil
				})
			case "rPr":
				return st.run.read(d)
			}
			return nil
		})
		s.byID[id] = st
		if err == nil {
			err = budget.TakeBlock()
		}
		return err
	})
}

// resolve returns a style with what it has from those that it is based on.
func (s *styles) resolve(id string) style {
	st, ok := s.byID[id]
	if !ok {
		return style{name: strings.ToLower(id)}
	}
	base := st.based
	for range 20 {
		parent, ok := s.byID[base]
		if !ok {
			break
		}
		if st.outline == 0 {
			st.outline = parent.outline
		}
		if st.numID == "" {
			st.numID, st.level = parent.numID, max(st.level, parent.level)
		}
		st.run = parent.run.with(st.run)
		base = parent.based
	}
	return st
}

// heading returns the level of the heading that a style makes; 0 = none.
func (st style) heading() int {
	if rest, ok := strings.CutPrefix(st.name, "heading "); ok {
		if n, err := strconv.Atoi(rest); err == nil && n > 0 {
			return min(n, 6)
		}
	}
	switch {
	case st.name == "title":
		return 1
	case strings.HasPrefix(st.name, "toc"):
		return 0
	}
	return min(st.outline, 6)
}

// readNumbering reads the part of the lists.
func (s *styles) readNumbering(d *markup.Decoder, budget *document.Budget) error {
	abstract := map[string]list{}
	return d.Elements(func() error {
		switch d.Name() {
		case "abstractNum":
			id := d.Attr("abstractNumId")
			l := list{counters: new([9]int)}
			err := d.Each(func() error {
				if d.Name() != "lvl" {
					return nil
				}
				return readLevel(d, &l)
			})
			abstract[id] = l
			if err == nil {
				err = budget.TakeText(512)
			}
			return err
		case "num":
			id := d.Attr("numId")
			var l list
			err := d.Each(func() error {
				switch d.Name() {
				case "abstractNumId":
					l = abstract[d.Attr("val")]
				case "lvlOverride":
					n, err := strconv.Atoi(d.Attr("ilvl"))
					if err != nil || n < 0 || n > 8 {
						return nil
					}
					return d.Each(func() error {
						switch d.Name() {
						case "startOverride":
							l.counters = new([9]int)
							l.levels[n].start, _ = strconv.Atoi(d.Attr("val")) // 0 if it is none
						case "lvl":
							return readLevel(d, &l)
						}
						return nil
					})
				}
				return nil
			})
			if l.counters == nil {
				l.counters = new([9]int)
			}
			s.lists[id] = l
			if err == nil {
				err = budget.TakeText(512)
			}
			return err
		}
		return nil
	})
}

func readLevel(d *markup.Decoder, l *list) error {
	n, err := strconv.Atoi(d.Attr("ilvl"))
	if err != nil || n < 0 || n > 8 {
		return nil //nolint:nilerr // a level that has no number is no level
	}
	lvl := level{start: 1}
	err = d.Each(func() error {
		switch d.Name() {
		case "numFmt":
			lvl.format = d.Attr("val")
		case "lvlText":
			const longest = 64
			if lvl.text = d.Attr("val"); len(lvl.text) > longest {
				lvl.text = ""
			}
		case "start":
			lvl.start, _ = strconv.Atoi(d.Attr("val")) // 0 if it is none
		case "isLgl":
			lvl.legal = true
		}
		return nil
	})
	l.levels[n] = lvl
	return err
}

// label counts an item and returns its number as shown; "" for a bullet. list reports whether
// there is such a list at all.
func (s *styles) label(id string, n int) (label string, isList bool) {
	l, ok := s.lists[id]
	if !ok || id == "0" || n < 0 || n > 8 {
		return "", false
	}
	for i := range n + 1 {
		if i == n || l.counters[i] == 0 {
			if l.counters[i] == 0 {
				l.counters[i] = l.levels[i].start
			} else {
				l.counters[i]++
			}
		}
	}
	clear(l.counters[n+1:])
	lvl := l.levels[n]
	if lvl.format == "bullet" || lvl.format == "" {
		return "", true
	}
	if lvl.format == "none" {
		return strings.TrimSpace(lvl.text), true
	}
	text := lvl.text
	for i := range n + 1 {
		format := l.levels[i].format
		if lvl.legal {
			format = "decimal"
		}
		text = strings.ReplaceAll(text, "%"+strconv.Itoa(i+1), counter(l.counters[i], format))
	}
	return strings.TrimSpace(text), true
}

// counter formats a number as a list does.
func counter(n int, format string) string {
	switch format {
	case "lowerLetter":
		return letters(n, 'a')
	case "upperLetter":
		return letters(n, 'A')
	case "lowerRoman":
		return strings.ToLower(roman(n))
	case "upperRoman":
		return roman(n)
	case "decimalZero":
		if n < 10 {
			return "0" + strconv.Itoa(n)
		}
	case "bullet", "none":
		return ""
	}
	return strconv.Itoa(n)
}

// letters is a, b ... z, aa, bb.
func letters(n int, first byte) string {
	if n < 1 || n > 26*20 {
		return strconv.Itoa(n)
	}
	return strings.Repeat(string(rune(first)+rune((n-1)%26)), (n-1)/26+1)
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	var b strings.Builder
	for _, r := range []struct {
		value int
		text  string
	}{
		{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"},
	} {
		for ; n >= r.value; n -= r.value {
			b.WriteString(r.text)
		}
	}
	return b.String()
}
