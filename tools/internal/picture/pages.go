package picture

import (
	"encoding/binary"
	"image"
	"image/color"
	"io"
	"slices"
)

// Pages returns what decodes the pages of an image as they are seen: upright, without colours
// and on white. Only a TIFF has more than one. An error of a page leaves the others alone.
func Pages(r *io.SectionReader, mime string) (decode []func() (*image.Gray, error)) {
	if mime != "image/tiff" {
		return append(decode, func() (*image.Gray, error) { return grey(r, mime) })
	}
	for _, head := range directories(r) {
		page := io.NewSectionReader(&headed{r, head}, 0, r.Size())
		decode = append(decode, func() (*image.Gray, error) { return grey(page, mime) })
	}
	return decode
}

// headed is a file with another head.
type headed struct {
	io.ReaderAt
	head []byte
}

func (h *headed) ReadAt(p []byte, at int64) (int, error) {
	n, err := h.ReaderAt.ReadAt(p, at)
	if at < int64(len(h.head)) {
		copy(p[:n], h.head[at:])
	}
	return n, err
}

// directories returns a head for each page of a TIFF, which says that it is the first.
func directories(r io.ReaderAt) (heads [][]byte) {
	const (
		most  = 1000
		field = 12
	)
	head := make([]byte, 8)
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if head[0] == 'M' {
		order = binary.BigEndian
	}
	var seen []uint32
	for at := order.Uint32(head[4:]); at != 0 && len(seen) < most && !slices.Contains(seen, at); {
		seen = append(seen, at)
		order.PutUint32(head[4:], at)
		heads = append(heads, slices.Clone(head))
		var number [4]byte
		if _, err := r.ReadAt(number[:2], int64(at)); err != nil {
			break
		}
		if _, err := r.ReadAt(number[:], int64(at)+2+field*int64(order.Uint16(number[:]))); err != nil {
			break
		}
		at = order.Uint32(number[:])
	}
	return heads
}

func grey(r *io.SectionReader, mime string) (*image.Gray, error) {
	c, _, facts, err := open(r, mime)
	if err != nil {
		return nil, err
	}
	img, err := c.decode(r)
	if err != nil {
		return nil, broken(err)
	}
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	shade := shades(img)
	out := image.NewGray(image.Rect(0, 0, w, h))
	if facts.orientation >= 5 && facts.orientation <= 8 {
		out = image.NewGray(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			tx, ty := turned(x, y, w, h, facts.orientation)
			out.Pix[ty*out.Stride+tx] = shade(b.Min.X+x, b.Min.Y+y)
		}
	}
	return out, nil
}

// shades returns a function for the shade of a pixel.
func shades(img image.Image) func(x, y int) uint8 {
	switch img := img.(type) {
	case *image.Gray:
		return func(x, y int) uint8 { return img.Pix[img.PixOffset(x, y)] }
	case *image.YCbCr:
		return func(x, y int) uint8 { return img.Y[img.YOffset(x, y)] }
	}
	return func(x, y int) uint8 {
		r, g, b, a := img.At(x, y).RGBA()
		rest := 0xffff - a
		return color.GrayModel.Convert(color.RGBA64{uint16(r + rest), uint16(g + rest), uint16(b + rest), 0xffff}).(color.Gray).Y
	}
}
