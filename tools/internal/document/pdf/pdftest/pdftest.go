// Package pdftest writes small PDFs for tests: texts at places, ruling lines, images, links,
// and encryption with a password. It imports nothing of ours. Start reading at [File].
package pdftest

import (
	"bytes"
	"crypto/md5" //nolint:gosec // as PDF 1.4 encrypts
	"crypto/rc4" //nolint:gosec // as PDF 1.4 encrypts
	"encoding/binary"
	"fmt"
	"strings"
)

// Font is one of the fonts that every reader has.
type Font string

// The fonts.
const (
	Plain Font = "Helvetica"
	Bold  Font = "Helvetica-Bold"
	Mono  Font = "Courier"
)

// Width and Height are the size of a page in points.
const (
	Width  = 595
	Height = 842
)

// File is a PDF that is being written.
type File struct {
	Title    string
	Password string // "" = not encrypted
	pages    []*Page
}

// Page is a page. Places are in points, x to the right and y down.
type Page struct {
	content bytes.Buffer
	links   []string
	image   bool
}

// Page adds a page.
func (f *File) Page() *Page {
	p := &Page{}
	f.pages = append(f.pages, p)
	return p
}

// Text writes a text, of Latin letters, with its baseline at y.
func (p *Page) Text(x, y, size float64, font Font, text string) {
	fmt.Fprintf(&p.content, "BT /%s %g Tf %g %g Td (%s) Tj ET\n", font, size, x, Height-y, escaped(text))
}

// Lines writes lines with the leading that is usual for a size, and returns the y of the next.
func (p *Page) Lines(x, y, size float64, font Font, lines ...string) float64 {
	for _, l := range lines {
		p.Text(x, y, size, font, l)
		y += 1.2 * size
	}
	return y
}

// Turned writes a text that runs upwards.
func (p *Page) Turned(x, y, size float64, text string) {
	fmt.Fprintf(&p.content, "BT /%s %g Tf 0 1 -1 0 %g %g Tm (%s) Tj ET\n", Plain, size, x, Height-y, escaped(text))
}

// Rule draws a line.
func (p *Page) Rule(x0, y0, x1, y1 float64) {
	fmt.Fprintf(&p.content, "%g %g m %g %g l S\n", x0, Height-y0, x1, Height-y1)
}

// Image draws a grey image.
func (p *Page) Image(x, y, w, h float64) {
	p.image = true
	fmt.Fprintf(&p.content, "q %g 0 0 %g %g %g cm /Grey Do Q\n", w, h, x, Height-y-h)
}

// Link makes a place lead to an address.
func (p *Page) Link(x0, y0, x1, y1 float64, uri string) {
	p.links = append(p.links, fmt.Sprintf("<< /Type /Annot /Subtype /Link /Rect [%g %g %g %g] /Border [0 0 0] /A << /S /URI /URI (%s) >> >>",
		x0, Height-y1, x1, Height-y0, escaped(uri)))
}

func escaped(text string) string {
	return strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(text)
}

// Bytes returns the file.
func (f *File) Bytes() []byte {
	w := writer{}
	w.b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	const fixed = 7 // objects before the first page: catalog, pages, three fonts, image, info
	var kids []string
	for i := range f.pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", fixed+1+2*i))
	}
	crypt := f.crypt()
	w.object("<< /Type /Catalog /Pages 2 0 R >>")
	w.object(fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(f.pages)))
	for _, font := range []Font{Plain, Bold, Mono} {
		w.object(fmt.Sprintf("<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding >>", font))
	}
	w.stream("/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray", crypt.data(6, []byte{0x80}))
	w.object(fmt.Sprintf("<< /Title <%x> >>", crypt.data(7, []byte(f.Title))))
	for i, p := range f.pages {
		annots := ""
		if len(p.links) > 0 && crypt == nil {
			annots = "/Annots [" + strings.Join(p.links, " ") + "]"
		}
		w.object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R %s "+
			"/Resources << /Font << /Helvetica 3 0 R /Helvetica-Bold 4 0 R /Courier 5 0 R >> /XObject << /Grey 6 0 R >> >> >>",
			Width, Height, fixed+2+2*i, annots))
		w.stream("", crypt.data(fixed+2+2*i, p.content.Bytes()))
	}
	start := w.b.Len()
	fmt.Fprintf(&w.b, "xref\n0 %d\n0000000000 65535 f \n", len(w.offsets)+1)
	for _, o := range w.offsets {
		fmt.Fprintf(&w.b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&w.b, "trailer\n<< /Size %d /Root 1 0 R /Info 7 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(w.offsets)+1, crypt.trailer(), start)
	return w.b.Bytes()
}

type writer struct {
	b       bytes.Buffer
	offsets []int
}

func (w *writer) object(body string) {
	w.offsets = append(w.offsets, w.b.Len())
	fmt.Fprintf(&w.b, "%d 0 obj\n%s\nendobj\n", len(w.offsets), body)
}

func (w *writer) stream(fields string, data []byte) {
	w.object(fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", fields, len(data), data))
}

// crypt encrypts as the standard handler of revision 2, with keys of 40 bits.
type crypt struct{ owner, user, key []byte }

const (
	padding     = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"
	identifier  = "0123456789abcdef"
	permissions = -4
	keySize     = 5
)

func (f *File) crypt() *crypt {
	if f.Password == "" {
		return nil
	}
	padded := []byte((f.Password + padding)[:32])
	ownerKey := md5.Sum(padded)
	c := &crypt{owner: encrypted(ownerKey[:keySize], padded)}
	seed := append(bytes.Clone(padded), c.owner...)
	rights := int32(permissions)
	seed = binary.LittleEndian.AppendUint32(seed, uint32(rights))
	sum := md5.Sum(append(seed, identifier...))
	c.key = sum[:keySize]
	c.user = encrypted(c.key, []byte(padding))
	return c
}

func encrypted(key, data []byte) []byte {
	cipher, err := rc4.NewCipher(key)
	if err != nil {
		panic(err)
	}
	out := make([]byte, len(data))
	cipher.XORKeyStream(out, data)
	return out
}

// data encrypts what is in an object.
func (c *crypt) data(object int, data []byte) []byte {
	if c == nil {
		return data
	}
	key := append(bytes.Clone(c.key), byte(object), byte(object>>8), byte(object>>16), 0, 0)
	sum := md5.Sum(key)
	return encrypted(sum[:keySize+5], data)
}

func (c *crypt) trailer() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("/ID [<%x> <%x>] /Encrypt << /Filter /Standard /V 1 /R 2 /P %d /O <%x> /U <%x> >>",
		identifier, identifier, permissions, c.owner, c.user)
}
