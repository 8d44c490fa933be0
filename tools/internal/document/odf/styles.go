package odf

import (
	"strconv"
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/markup"
)

// outline is the key of the numbers of headings among the list styles.
const outline = "\x00outline"

type style struct {
	parent, name string
	list         string
	kind         string // "code", "quote", "title" or ""
	run, set     document.Style
	hidden       bool
}

type listLevel struct {
	format, prefix, suffix string
	levels, start          int
	bullet                 bool
}

type styles struct {
	byName   map[string]style
	lists    map[string]*[10]listLevel
	counters map[string]*[10]int
}

func newStyles() styles {
	return styles{byName: map[string]style{}, lists: map[string]*[10]listLevel{}, counters: map[string]*[10]int{}}
}

func (s *styles) readStyle(d *markup.Decoder) error {
	name := d.Attr("name")
	st := style{parent: d.Attr("parent-style-name"), name: name, list: d.Attr("list-style-name")}
	put := func(bit document.Style, value string, is bool) {
		if value != "" {
			st.set |= bit
			if is {
				st.run |= bit
			}
		}
	}
	err := d.Each(func() error {
		switch d.Name() {
		case "text-properties":
			weight := d.Attr("fo:font-weight")
			put(document.Bold, weight, weight == "bold" || weight >= "600" && weight <= "900")
			slant := d.Attr("fo:font-style")
			put(document.Italic, slant, slant == "italic" || slant == "oblique")
			line := d.Attr("text-line-through-style")
			put(document.Strike, line, line != "none")
			position := d.Attr("text-position")
			put(document.Superscript, position, strings.HasPrefix(position, "super") || position != "" && position[0] >= '1' && position[0] <= '9')
			put(document.Subscript, position, strings.HasPrefix(position, "sub") || strings.HasPrefix(position, "-"))
			font := strings.ToLower(d.Attr("style:font-name"))
			put(document.Mono, font, strings.Contains(font, "mono") || strings.Contains(font, "courier") || strings.Contains(font, "consolas"))
			st.hidden = d.Attr("display") == "none"
		case "table-properties":
			st.hidden = d.Attr("display") == "false"
		case "drawing-page-properties":
			st.hidden = d.Attr("visibility") == "hidden"
		}
		return nil
	})
	s.byName[name] = st
	return err
}

// resolve returns a style with what it has from its parents.
func (s *styles) resolve(name string) style {
	st := s.byName[name]
	if st.name == "" {
		st.name = name
	}
	chain := st
	for range 20 {
		switch chain.name {
		case "Preformatted_20_Text", "Source_20_Code", "Source_Code":
			st.kind = "code"
			st.run &^= document.Mono
		case "Quotations", "Quotation":
			st.kind = "quote"
		case "Title":
			st.kind = "title"
		}
		if chain.parent == "" {
			break
		}
		parent := s.byName[chain.parent]
		parent.name = chain.parent
		st.run |= parent.run &^ st.set
		st.set |= parent.set
		if st.list == "" {
			st.list = parent.list
		}
		chain = parent
	}
	return st
}

func (s *styles) readListStyle(d *markup.Decoder, name string) error {
	levels := &[10]listLevel{}
	err := d.Each(func() error {
		n, err := strconv.Atoi(d.Attr("text:level"))
		if err != nil || n < 1 || n > 10 {
			return nil //nolint:nilerr // a level that has no number is no level
		}
		l := listLevel{
			format: d.Attr("num-format"), prefix: d.Attr("num-prefix"), suffix: d.Attr("num-suffix"), levels: 1, start: 1,
			bullet: strings.HasSuffix(d.Name(), "-bullet") || strings.HasSuffix(d.Name(), "-image"),
		}
		const longest = 64
		if len(l.prefix)+len(l.suffix) > longest {
			l.prefix, l.suffix = "", ""
		}
		if n, err := strconv.Atoi(d.Attr("display-levels")); err == nil && n > 0 {
			l.levels = n
		}
		if n, err := strconv.Atoi(d.Attr("start-value")); err == nil {
			l.start = n
		}
		levels[n-1] = l
		return nil
	})
	s.lists[name] = levels
	return err
}

// count counts an item and returns its number as shown; "" for a bullet.
func (s *styles) count(list string, level int) string {
	levels := s.lists[list]
	if levels == nil || level < 0 || level > 9 || levels[level].bullet || levels[level].format == "" {
		return ""
	}
	counters := s.counters[list]
	if counters == nil {
		counters = &[10]int{}
		s.counters[list] = counters
	}
	for i := range level + 1 {
		if i == level || counters[i] == 0 {
			if counters[i] == 0 {
				counters[i] = levels[i].start
			} else {
				counters[i]++
			}
		}
	}
	clear(counters[level+1:])
	own := levels[level]
	var parts []string
	for i := max(0, level+1-own.levels); i <= level; i++ {
		if text := number(counters[i], levels[i].format); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.TrimSpace(own.prefix + strings.Join(parts, ".") + own.suffix)
}

func number(n int, format string) string {
	switch format {
	case "":
		return ""
	case "a", "A":
		if n >= 1 && n <= 26 {
			return string(rune(format[0]) + rune(n-1))
		}
	case "i", "I":
		text := roman(n)
		if format == "i" {
			text = strings.ToLower(text)
		}
		return text
	}
	return strconv.Itoa(n)
}

func roman(n int) string {
	if n < 1 || n > 399 {
		return strconv.Itoa(n)
	}
	var b strings.Builder
	values := []int{100, 90, 50, 40, 10, 9, 5, 4, 1}
	for i, text := range []string{"C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"} {
		for ; n >= values[i]; n -= values[i] {
			b.WriteString(text)
		}
	}
	return b.String()
}
