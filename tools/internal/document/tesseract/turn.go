package tesseract

import (
	"bufio"
	"bytes"
	"context"
	"image"
	"strconv"
	"strings"
)

// orientation is the data file that sees how a page is turned.
const orientation = "osd"

// upright returns a picture turned so that its text is upright, and by how many degrees to the
// right that is; 0 = it is upright, or that cannot be seen. The error is that of ctx.
func (e *Engine) upright(ctx context.Context, picture *image.Gray, dpi int) (upright *image.Gray, degrees int, err error) {
	out, err := e.ask(ctx, picture, dpi, "-l", orientation, "--psm", "0", "-c", "min_characters_to_try=20")
	if err != nil {
		return picture, 0, ctx.Err() // nil: it has too few letters
	}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if name, value, _ := strings.Cut(s.Text(), ":"); name == "Rotate" {
			degrees, _ = strconv.Atoi(strings.TrimSpace(value))
			break
		}
	}
	upright, degrees = turned(picture, degrees)
	return upright, degrees, nil
}

// turned turns a picture to the right, by a multiple of 90 degrees.
func turned(p *image.Gray, degrees int) (*image.Gray, int) {
	w, h := p.Rect.Dx(), p.Rect.Dy()
	out := image.NewGray(image.Rect(0, 0, h, w))
	var from func(x, y int) int // the place of a pixel of out
	switch degrees {
	case 90:
		from = func(x, y int) int { return (h-1-x)*p.Stride + y }
	case 180:
		out = image.NewGray(image.Rect(0, 0, w, h))
		from = func(x, y int) int { return (h-1-y)*p.Stride + w - 1 - x }
	case 270:
		from = func(x, y int) int { return x*p.Stride + w - 1 - y }
	default:
		return p, 0
	}
	for y := range out.Rect.Dy() {
		row := out.Pix[y*out.Stride:][:out.Rect.Dx()]
		for x := range row {
			row[x] = p.Pix[from(x, y)]
		}
	}
	return out, degrees
}
