package picture

import (
	"context"
	"image"
	"image/draw"
)

// stripRows is how many rows of an image are converted at once.
const stripRows = 16

// shrink returns an image scaled to w times h pixels, at most its own size: each pixel is
// the mean of its area of the source. It needs the memory of the result and a few rows.
func shrink(ctx context.Context, src image.Image, w, h int) (*image.RGBA, error) {
	from := src.Bounds()
	sw, sh := from.Dx(), from.Dy()
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	strip := image.NewRGBA(image.Rect(0, 0, sw, min(stripRows, sh)))
	row := make([]uint64, 4*w)   // of the source, scaled in width
	above := make([]uint64, 4*w) // the current row of the result
	below := make([]uint64, 4*w) // the row after it
	y := 0
	for top := 0; top < sh; top += stripRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows := min(stripRows, sh-top)
		draw.Draw(strip, image.Rect(0, 0, sw, rows), src, from.Min.Add(image.Pt(0, top)), draw.Src)
		for i := range rows {
			squeeze(row, strip.Pix[i*strip.Stride:][:4*sw], w)
			// Row sy of the source is the range sy*h to (sy+1)*h, row y of the result the
			// range y*sh to (y+1)*sh.
			sy := top + i
			inside := min((sy+1)*h, (y+1)*sh) - sy*h
			weigh(above, row, uint64(inside))
			if (sy+1)*h < (y+1)*sh {
				continue
			}
			weigh(below, row, uint64(h-inside))
			settle(dst.Pix[y*dst.Stride:][:4*w], above, uint64(sw)*uint64(sh))
			above, below = below, above
			clear(below)
			y++
		}
	}
	return dst, nil
}

// squeeze sums up a row of pixels to w pixels, weighted so that each has the weight of the
// whole row.
func squeeze(row []uint64, pix []byte, w int) {
	clear(row)
	sw := len(pix) / 4
	x, at := 0, 0 // pixel of the result, position of the source in units of 1/w pixel
	for ; len(pix) >= 4; pix = pix[4:] {
		end := at + w
		inside := uint64(min(end, (x+1)*sw) - at)
		r, g, b, a := uint64(pix[0]), uint64(pix[1]), uint64(pix[2]), uint64(pix[3])
		to := row[4*x : 4*x+4]
		to[0] += r * inside
		to[1] += g * inside
		to[2] += b * inside
		to[3] += a * inside
		if end >= (x+1)*sw {
			x++
			if rest := uint64(end - x*sw); rest > 0 {
				to := row[4*x : 4*x+4]
				to[0] += r * rest
				to[1] += g * rest
				to[2] += b * rest
				to[3] += a * rest
			}
		}
		at = end
	}
}

func weigh(sum, row []uint64, weight uint64) {
	for i, v := range row {
		sum[i] += v * weight
	}
}

func settle(pix []byte, sum []uint64, total uint64) {
	for i, v := range sum {
		pix[i] = byte((v + total/2) / total)
	}
}

// upright turns and mirrors an image by the camera's orientation, 1 to 8 as in EXIF; 0 is
// unknown.
func upright(img *image.RGBA, orientation int) *image.RGBA {
	if orientation <= 1 || orientation > 8 {
		return img
	}
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	if orientation >= 5 {
		out = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			tx, ty := turned(x, y, w, h, orientation)
			copy(out.Pix[out.PixOffset(tx, ty):][:4], img.Pix[img.PixOffset(x, y):][:4])
		}
	}
	return out
}

// turned returns where a pixel of an image of a size comes to lie.
func turned(x, y, w, h, orientation int) (tx, ty int) {
	switch orientation {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return h - 1 - y, x
	case 7:
		return h - 1 - y, w - 1 - x
	case 8:
		return y, w - 1 - x
	}
	return x, y
}

// whiten puts an image on white ground.
func whiten(img *image.RGBA) {
	for i := 0; i+3 < len(img.Pix); i += 4 {
		rest := 255 - img.Pix[i+3]
		for c := range 3 {
			img.Pix[i+c] += rest
		}
		img.Pix[i+3] = 255
	}
}
