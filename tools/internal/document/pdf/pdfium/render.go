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
	const (
		colours     = 4 // four bytes for a pixel, which is drawn faster than one of grey
		annotations = 1
		most        = 16_000_000
	)
	defer f.limit()()
	f.call("FPDF_GetPageSizeByIndexF", f.doc, uint64(n), uint64(f.scratch))
	width, height := f.float(0)/72, f.float(4)/72 // inches
	page := f.call("FPDF_LoadPage", f.doc, uint64(n))
	if page == 0 || !finite(width, height) {
		return nil, 0, f.undrawn()
	}
	defer func() { f.call("FPDF_ClosePage", page) }()
	dpi = min(f.resolution(page), int(math.Sqrt(most/(width*height))))
	w, h := int(width*float64(dpi)), int(height*float64(dpi))
	if w <= 0 || h <= 0 {
		return nil, 0, f.undrawn()
	}
	bitmap := f.call("FPDFBitmap_CreateEx", uint64(w), uint64(h), colours, 0, 0)
	if bitmap == 0 {
		return nil, 0, f.undrawn()
	}
	defer func() { f.call("FPDFBitmap_Destroy", bitmap) }()
	f.call("FPDFBitmap_FillRect", bitmap, 0, 0, uint64(w), uint64(h), math.MaxUint32)
	f.call("FPDF_RenderPageBitmap", bitmap, page, 0, 0, uint64(w), uint64(h), 0, annotations)
	at, stride := uint32(f.call("FPDFBitmap_GetBuffer", bitmap)), f.int("FPDFBitmap_GetStride", bitmap)
	if f.err != nil || stride < w*4 {
		return nil, 0, f.undrawn()
	}
	picture = image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		row, ok := f.memory().Read(at+uint32(y*stride), uint32(w*4))
		if !ok {
			return nil, 0, f.undrawn()
		}
		grey := picture.Pix[y*picture.Stride:][:w]
		for x := range grey {
			blue, green, red := int(row[4*x]), int(row[4*x+1]), int(row[4*x+2])
			grey[x] = uint8((blue*29 + green*150 + red*77) >> 8)
		}
	}
	return picture, dpi, nil
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
