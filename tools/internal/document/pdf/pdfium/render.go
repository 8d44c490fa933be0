package pdfium

import (
	"errors"
	"image"
	"math"
)

// Render draws a page, from 0, in grey on white, so that its letters can be recognized. The
// resolution is that of its largest image, since scaling takes longer than all else, but is less
// if the page is large.
func (f *File) Render(n int) (picture *image.Gray, dpi int, err error) {
	drawn, err := f.draw(n)
	if err != nil {
		return nil, 0, err
	}
	defer func() { f.call("FPDFBitmap_Destroy", drawn.bitmap) }()
	picture = image.NewGray(image.Rect(0, 0, drawn.width, drawn.height))
	for y := range drawn.height {
		row, ok := f.memory().Read(drawn.at+uint32(y*drawn.stride), uint32(drawn.width*pixel))
		if !ok {
			return nil, 0, f.undrawn()
		}
		grey := picture.Pix[y*picture.Stride:][:drawn.width]
		for x := range grey {
			colour := row[pixel*x:][:3]
			blue, green, red := int(colour[0]), int(colour[1]), int(colour[2])
			grey[x] = uint8((blue*29 + green*150 + red*77) >> 8)
		}
	}
	return picture, drawn.dpi, nil
}

// pixel is how many bytes a pixel has that PDFium draws: four are drawn faster than one of grey.
const pixel = 4

// drawing is a picture in the memory of PDFium.
type drawing struct {
	bitmap        uint64 // to be destroyed
	at            uint32
	stride        int // bytes of a line
	width, height int
	dpi           int
}

// draw has PDFium draw a page, within the time of a page.
func (f *File) draw(n int) (d drawing, err error) {
	const (
		colours     = 4 // the format
		annotations = 1
		most        = 16_000_000
	)
	defer f.limit()()
	f.call("FPDF_GetPageSizeByIndexF", f.doc, uint64(n), uint64(f.scratch))
	width, height := f.float(0)/72, f.float(4)/72 // inches
	page := f.call("FPDF_LoadPage", f.doc, uint64(n))
	if page == 0 || !finite(width, height) {
		return d, f.undrawn()
	}
	defer func() { f.call("FPDF_ClosePage", page) }()
	d.dpi = min(f.resolution(page), int(math.Sqrt(most/(width*height))))
	d.width, d.height = int(width*float64(d.dpi)), int(height*float64(d.dpi))
	if d.width <= 0 || d.height <= 0 {
		return d, f.undrawn()
	}
	w, h := uint64(d.width), uint64(d.height)
	if d.bitmap = f.call("FPDFBitmap_CreateEx", w, h, colours, 0, 0); d.bitmap == 0 {
		return d, f.undrawn()
	}
	f.call("FPDFBitmap_FillRect", d.bitmap, 0, 0, w, h, math.MaxUint32)
	f.call("FPDF_RenderPageBitmap", d.bitmap, page, 0, 0, w, h, 0, annotations)
	d.at, d.stride = uint32(f.call("FPDFBitmap_GetBuffer", d.bitmap)), f.int("FPDFBitmap_GetStride", d.bitmap)
	if f.err != nil || d.stride < d.width*pixel {
		f.call("FPDFBitmap_Destroy", d.bitmap)
		return d, f.undrawn()
	}
	return d, nil
}

// resolution returns the dots per inch of the largest image of a page, within what is of use.
func (f *File) resolution(page uint64) int {
	const most, low, high = 50, 200, 300
	best, largest := 0.0, 0.0
	for i := range min(f.int("FPDFPage_CountObjects", page), most) {
		object := f.call("FPDFPage_GetObject", page, uint64(i))
		at := uint64(f.scratch)
		if f.int("FPDFPageObj_GetType", object) != typeImage || f.int("FPDFPageObj_GetBounds", object, at, at+4, at+8, at+12) == 0 {
			continue
		}
		width, height := f.float(8)-f.float(0), f.float(12)-f.float(4)
		if f.int("FPDFImageObj_GetImagePixelSize", object, at, at+4) != 0 && width*height > largest {
			largest, best = width*height, 72*float64(max(f.uint(0), f.uint(4)))/max(width, height)
		}
	}
	return int(min(max(best, low), high))
}

// undrawn is the error of a page that cannot be drawn.
func (f *File) undrawn() error {
	if f.err != nil {
		return f.err
	}
	return errors.New("it cannot be drawn")
}
