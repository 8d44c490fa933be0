package pdfium

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Page is what lies on a page. Places are in points, x to the right and y up.
type Page struct {
	Width, Height float64
	Chars         []Char // in the order of the content
	Lines         []Line
	Ink           []Box // of drawings that are no ruling lines
	Images        []Box
	Links         []Link
}

// Box is a rectangle, X0 <= X1 and Y0 <= Y1.
type Box struct{ X0, Y0, X1, Y1 float64 }

// Char is a character.
type Char struct {
	Rune     rune
	Box      Box     // as high as its font
	X, Y     float64 // its origin, on the baseline
	Object   uint32  // the text object that it belongs to; 0 = PDFium added it
	Text     *Text   // of its object, or of the character before
	Unmapped bool    // its font does not say which character it is
}

// Text is what the characters of a text object share.
type Text struct {
	Font      *Font
	Size      float64 // as drawn
	Direction int     // degrees: 0, 90, 180, 270; -1 = another
	Bold      bool

	turned bool
}

// Font is a font of a file.
type Font struct {
	Name                      string
	Bold, Italic, Mono, Maths bool
}

// Line is a straight ruling line along an axis, or the edge of a filled area.
type Line struct {
	Box
	Edge bool
}

// Link is a place that leads to an address.
type Link struct {
	Box
	URI string
}

const (
	mostObjects = 60_000
	mostLines   = 20_000
	mostLinks   = 2_000
	deepest     = 6 // forms in each other
)

// Page reads a page, from 0. An error of one page leaves the others alone, unless the
// instance is dead.
func (f *File) Page(n int) (*Page, error) {
	defer f.limit()()
	page := f.call("FPDF_LoadPage", f.doc, uint64(n))
	if f.err != nil {
		return nil, f.err
	}
	if page == 0 {
		return nil, fmt.Errorf("it does not load")
	}
	p := &Page{}
	p.Links = f.links(page)
	if f.int("FPDFPage_GetAnnotCount", page) > 0 && f.int("FPDFPage_Flatten", page, 0) == 1 {
		// Now values of forms and stamps are text of the page.
		f.call("FPDF_ClosePage", page)
		if page = f.call("FPDF_LoadPage", f.doc, uint64(n)); page == 0 && f.err == nil {
			return nil, fmt.Errorf("it does not load again")
		}
	}
	defer func() { f.call("FPDF_ClosePage", page) }()
	if f.call("FPDF_GetPageSizeByIndexF", f.doc, uint64(n), uint64(f.scratch)) != 0 {
		p.Width, p.Height = f.float(0), f.float(4)
	}
	w := walker{File: f, page: p}
	w.objects(page, 0, f.int("FPDFPage_CountObjects", page), identity, 0)
	text := f.call("FPDFText_LoadPage", page)
	if f.err != nil {
		return nil, f.err
	}
	if text == 0 {
		return nil, fmt.Errorf("its text does not load")
	}
	defer func() { f.call("FPDFText_ClosePage", text) }()
	f.chars(p, text)
	return p, f.err
}

// record is a record of bulk.wat.
type record []byte

func (r record) uint(at int) uint32 { return binary.LittleEndian.Uint32(r[at:]) }

func (r record) float(at int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(r[at:])))
}

func (r record) double(at int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(r[at:]))
}

func (f *File) chars(p *Page, page uint64) {
	const size = 88
	data := f.records(f.int("FPDFText_CountChars", page), size, "chars", page)
	p.Chars = make([]Char, 0, len(data)/size)
	text := &Text{Font: &Font{}, Size: 10}
	last := uint32(0)
	for ; len(data) >= size; data = data[size:] {
		r := record(data[:size])
		c := Char{Rune: rune(r.uint(0)), Object: r.uint(4)}
		if c.Object != 0 {
			if c.Object != last {
				last, text = c.Object, f.text(r)
			}
			c.Box = Box{
				min(r.float(8), r.float(16)), min(r.float(12), r.float(20)),
				max(r.float(8), r.float(16)), max(r.float(12), r.float(20)),
			}
			c.X, c.Y = r.double(24), r.double(32)
			c.Unmapped = r.uint(76) == 1
			if !finite(c.X, c.Y, c.Box.X0, c.Box.X1, c.Box.Y0, c.Box.Y1) {
				continue
			}
		}
		c.Text = text
		if n := len(p.Chars); n > 0 && utf16.IsSurrogate(c.Rune) {
			if both := utf16.DecodeRune(p.Chars[n-1].Rune, c.Rune); both != unicode.ReplacementChar {
				p.Chars[n-1].Rune = both
				continue
			}
		}
		p.Chars = append(p.Chars, c)
	}
	turn(p.Chars)
}

func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.Abs(v) > 1e6 {
			return false
		}
	}
	return true
}

// text makes the properties of a text object from the record of its first character.
func (f *File) text(r record) *Text {
	const heavy = 600
	t := &Text{Size: math.Abs(r.double(40)), Font: f.font(r.uint(80))}
	a, b, c, d := r.float(48), r.float(52), r.float(56), r.float(60)
	if scale := math.Hypot(c, d); scale > 0 {
		t.Size *= scale
	}
	if !finite(t.Size) || t.Size < 1 {
		t.Size = 1
	}
	degrees := math.Atan2(b, a) * 180 / math.Pi
	if turns := math.Round(degrees / 90); math.Abs(degrees-turns*90) < 5 {
		t.Direction = (int(turns)*90 + 360) % 360
	} else {
		t.Direction = -1
	}
	t.Bold = t.Font.Bold || int32(r.uint(72)) >= heavy
	return t
}

// turn corrects directions by the way from character to character. The matrix of a text says
// nothing of a form around it, of negative sizes and of vertical writing.
func turn(chars []Char) {
	const least = .3          // em from the first to the last character
	seen := map[int]*[4]int{} // directions by those of matrices
	for start := 0; start < len(chars); {
		first := &chars[start]
		end := start + 1
		for end < len(chars) && chars[end].Object == first.Object {
			end++
		}
		text, last := first.Text, &chars[end-1]
		start = end
		if first.Object == 0 || RightToLeft(first.Rune) || text.Direction < 0 {
			continue
		}
		dx, dy := last.X-first.X, last.Y-first.Y
		if max(math.Abs(dx), math.Abs(dy)) < least*text.Size || min(math.Abs(dx), math.Abs(dy)) > .1*max(math.Abs(dx), math.Abs(dy)) {
			continue
		}
		quarters := 0
		switch {
		case math.Abs(dy) > math.Abs(dx) && dy > 0:
			quarters = 1
		case math.Abs(dy) > math.Abs(dx):
			quarters = 3
		case dx < 0:
			quarters = 2
		}
		if seen[text.Direction] == nil {
			seen[text.Direction] = new([4]int)
		}
		seen[text.Direction][quarters]++
	}
	for i := range chars {
		t := chars[i].Text
		if t.turned {
			continue
		}
		t.turned = true
		if votes := seen[t.Direction]; votes != nil {
			t.Direction = 90 * slices.Index(votes[:], slices.Max(votes[:]))
		}
	}
}

// RightToLeft reports whether a character is of a script that is written from right to left.
func RightToLeft(r rune) bool {
	return r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfefc
}

// The flags of a font descriptor.
const (
	fixedPitch = 1 << 0
	italic     = 1 << 6
	forceBold  = 1 << 18
)

func (f *File) font(handle uint32) *Font {
	if font := f.fonts[handle]; font != nil {
		return font
	}
	font := &Font{}
	f.fonts[handle] = font
	if handle == 0 {
		return font
	}
	const most = 256
	f.memory().Write(f.scratch, make([]byte, most))
	f.call("FPDFFont_GetBaseFontName", uint64(handle), uint64(f.scratch), most)
	name, _ := f.memory().Read(f.scratch, most)
	font.Name, _, _ = strings.Cut(string(name), "\x00")
	flags := f.call("FPDFFont_GetFlags", uint64(handle))
	lower := strings.ToLower(font.Name)
	font.Bold = flags&forceBold != 0 || containsAny(lower, "bold", "black", "heavy", "demi", "cmbx", "sfbx", "-bd", "bdmt")
	font.Italic = flags&italic != 0 || containsAny(lower, "ital", "obli", "cmti", "sfti")
	font.Mono = flags&fixedPitch != 0 || containsAny(lower, "mono", "courier", "consol", "typewriter", "cmtt", "sftt", "menlo")
	font.Maths = containsAny(lower, "cmmi", "cmsy", "cmex", "msam", "msbm", "math", "lmsy", "lmex", "lmmi", "stix", "symbol")
	return font
}

func containsAny(text string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// links returns the places of a page that lead to an address outside of the file.
func (f *File) links(page uint64) []Link {
	const toURI = 3
	var all []Link
	// The position in the list and the link are the first two words of the scratch memory.
	f.memory().Write(f.scratch, make([]byte, 8))
	for len(all) < mostLinks && f.int("FPDFLink_Enumerate", page, uint64(f.scratch), uint64(f.scratch)+4) == 1 {
		link := uint64(f.uint(4))
		action := f.call("FPDFLink_GetAction", link)
		if action == 0 || f.call("FPDFAction_GetType", action) != toURI {
			continue
		}
		const at, most = 64, 1024
		size := f.call("FPDFAction_GetURIPath", f.doc, action, uint64(f.scratch)+at, most)
		if size < 2 || size > most || f.int("FPDFLink_GetAnnotRect", link, uint64(f.scratch)+16) != 1 {
			continue
		}
		uri, _ := f.memory().Read(f.scratch+at, uint32(size)-1)
		l := Link{URI: strings.ToValidUTF8(string(uri), "")}
		l.Box = Box{min(f.float(16), f.float(24)), min(f.float(20), f.float(28)), max(f.float(16), f.float(24)), max(f.float(20), f.float(28))}
		if finite(l.X0, l.X1, l.Y0, l.Y1) {
			all = append(all, l)
		}
	}
	return all
}

// matrix is a transformation as PDF writes it.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// then returns the transformation m followed by n.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

func (m matrix) apply(x, y float64) point {
	return point{x*m[0] + y*m[2] + m[4], x*m[1] + y*m[3] + m[5]}
}

type point struct{ x, y float64 }

// walker finds lines, drawings and images among the objects of a page.
type walker struct {
	*File
	page *Page
	seen int
}

// The types of page objects.
const (
	typePath  = 2
	typeImage = 3
	typeForm  = 5
)

func (w *walker) objects(of, form uint64, n int, m matrix, depth int) {
	n = min(n, mostObjects-w.seen)
	w.seen += max(n, 0)
	data := w.records(n, 8, "objects", of, form)
	for ; len(data) >= 8 && w.err == nil; data = data[8:] {
		r := record(data[:8])
		object := uint64(r.uint(0))
		switch r.uint(4) {
		case typePath:
			w.path(object, m)
		case typeImage:
			a, b := w.place(object, m).apply(0, 0), w.place(object, m).apply(1, 1)
			if box := boxOf([]point{a, b}); finite(box.X0, box.X1, box.Y0, box.Y1) {
				w.page.Images = append(w.page.Images, box)
			}
		case typeForm:
			if depth < deepest {
				w.objects(object, 1, w.int("FPDFFormObj_CountObjects", object), w.place(object, m), depth+1)
			}
		}
	}
}

// place returns the transformation of an object into the page.
func (w *walker) place(object uint64, m matrix) matrix {
	if w.int("FPDFPageObj_GetMatrix", object, uint64(w.scratch)) == 0 {
		return m
	}
	return matrix{w.float(0), w.float(4), w.float(8), w.float(12), w.float(16), w.float(20)}.then(m)
}

// The types of path segments.
const (
	lineTo = iota
	bezierTo
	moveTo
)

func (w *walker) path(object uint64, m matrix) {
	const most = 400
	n := w.int("FPDFPath_CountSegments", object)
	if n < 2 || n > most || len(w.page.Lines) > mostLines {
		return
	}
	w.memory().Write(w.scratch, make([]byte, 8))
	w.call("FPDFPath_GetDrawMode", object, uint64(w.scratch), uint64(w.scratch)+4)
	filled, stroked := w.uint(0) != 0, w.uint(4) != 0
	if !filled && !stroked {
		return
	}
	place := w.place(object, m)
	data := w.records(n, 16, "segments", object)
	var all, part []point
	curved, slanted := false, false
	for ; len(data) >= 16; data = data[16:] {
		r := record(data[:16])
		p := place.apply(r.float(8), r.float(12))
		if !finite(p.x, p.y) {
			return
		}
		switch r.uint(0) {
		case moveTo:
			if !curved {
				w.lines(part, stroked, false)
			}
			part, curved = nil, false
		case bezierTo:
			curved, slanted = true, true
		case lineTo:
			if last := len(all) - 1; last >= 0 && math.Abs(p.x-all[last].x) > 2 && math.Abs(p.y-all[last].y) > 2 {
				slanted = true
			}
		}
		all, part = append(all, p), append(part, p)
		if r.uint(4) == 1 {
			if !curved {
				w.lines(part, stroked, true)
			}
			part, curved = nil, false
		}
	}
	if !curved {
		w.lines(part, stroked, false)
	}
	if slanted {
		w.page.Ink = append(w.page.Ink, boxOf(all))
	}
}

func boxOf(points []point) Box {
	b := Box{points[0].x, points[0].y, points[0].x, points[0].y}
	for _, p := range points[1:] {
		b = Box{min(b.X0, p.x), min(b.Y0, p.y), max(b.X1, p.x), max(b.Y1, p.y)}
	}
	return b
}

// lines adds the ruling lines of a part of a path: its strokes along an axis, a thin filled
// box, or the edges of a filled one.
func (w *walker) lines(part []point, stroked, closed bool) {
	const (
		thin   = 3  // the most that a filled line is wide
		least  = 3  // points that a line is long
		crooks = .7 // how far its ends may be apart across
	)
	if len(part) < 2 {
		return
	}
	add := func(edge bool, x0, y0, x1, y1 float64) {
		w.page.Lines = append(w.page.Lines, Line{Box{x0, y0, x1, y1}, edge})
	}
	box := boxOf(part)
	width, height := box.X1-box.X0, box.Y1-box.Y0
	switch {
	case stroked:
		if closed {
			part = append(part, part[0])
		}
		for i := 1; i < len(part); i++ {
			b := boxOf(part[i-1 : i+1])
			across, along := min(b.X1-b.X0, b.Y1-b.Y0), max(b.X1-b.X0, b.Y1-b.Y0)
			if across < crooks && along > least {
				add(false, b.X0, b.Y0, b.X1, b.Y1)
			}
		}
	case len(part) < 4:
	case min(width, height) <= thin && max(width, height) > least:
		if x, y := (box.X0+box.X1)/2, (box.Y0+box.Y1)/2; width <= height {
			add(false, x, box.Y0, x, box.Y1)
		} else {
			add(false, box.X0, y, box.X1, y)
		}
	case len(part) <= 5:
		add(true, box.X0, box.Y0, box.X1, box.Y0)
		add(true, box.X0, box.Y1, box.X1, box.Y1)
		add(true, box.X0, box.Y0, box.X0, box.Y1)
		add(true, box.X1, box.Y0, box.X1, box.Y1)
	}
}
