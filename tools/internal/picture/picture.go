// Package picture prepares images for a model: it checks that they can be decoded, scales
// large ones down, and turns them upright.
//
// Start at [Converter.Show]. jpeg.go reads the head of JPEG files, scale.go scales. The
// package opens no files.
package picture

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
)

const (
	// MaxSide is the longest side, in pixels, of a returned image: models scale larger ones
	// down.
	MaxSide = 1568
	// maxPicture is the most bytes of a returned image.
	maxPicture = 1_500_000
	// maxPixels, maxLength of a side and maxDecoded, in bytes of memory, bound the images
	// that are decoded.
	maxPixels  = 64_000_000
	maxLength  = 65_535
	maxDecoded = 256 << 20
	// pictureSize is the largest file that is decoded.
	pictureSize = 64 << 20
)

// codec reads one kind of image; shared says that every client accepts the kind.
type codec struct {
	config func(*io.SectionReader) (image.Config, error)
	decode func(*io.SectionReader) (image.Image, error)
	shared bool
}

func codecOf(mime string) (codec, bool) {
	switch mime {
	case "image/png":
		return codec{buffered(png.DecodeConfig), buffered(png.Decode), true}, true
	case "image/jpeg":
		return codec{buffered(jpeg.DecodeConfig), buffered(jpeg.Decode), true}, true
	case "image/gif":
		return codec{buffered(gif.DecodeConfig), buffered(gif.Decode), true}, true
	case "image/webp":
		return codec{buffered(webp.DecodeConfig), buffered(webp.Decode), true}, true
	case "image/bmp":
		return codec{buffered(bmp.DecodeConfig), buffered(bmp.Decode), false}, true
	case "image/tiff": // reads at any position
		return codec{
			func(r *io.SectionReader) (image.Config, error) { return tiff.DecodeConfig(r) },
			func(r *io.SectionReader) (image.Image, error) { return tiff.Decode(r) },
			false,
		}, true
	}
	return codec{}, false
}

// buffered makes a decoder that reads from the start, in blocks.
func buffered[T any](f func(io.Reader) (T, error)) func(*io.SectionReader) (T, error) {
	return func(r *io.SectionReader) (T, error) {
		return f(bufio.NewReaderSize(io.NewSectionReader(r, 0, r.Size()), 64<<10))
	}
}

// Supported reports whether images of a media type can be shown.
func Supported(mime string) bool {
	_, ok := codecOf(mime)
	return ok
}

// Converter prepares images, one large image at a time.
type Converter struct{ turn chan struct{} }

// NewConverter returns a converter; a process needs one.
func NewConverter() *Converter { return &Converter{turn: make(chan struct{}, 1)} }

// Picture is a prepared image.
type Picture struct {
	Block         tools.Block
	Width, Height int    // of the original
	How           string // how it was changed; "" = not at all
}

// Error says why an image cannot be shown.
type Error struct{ msg string }

func (e *Error) Error() string { return e.msg }

// Errorf returns an [*Error].
func Errorf(format string, args ...any) error {
	return &Error{fmt.Sprintf(format, args...)}
}

// Show decodes an image, so that no broken one is returned, and scales it if it is too
// large. The error of an image that cannot be shown is an [*Error].
func (p *Converter) Show(ctx context.Context, r *io.SectionReader, mime string) (Picture, error) {
	c, cfg, facts, err := open(r, mime)
	if err != nil {
		return Picture{}, err
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return Picture{}, ctx.Err()
	}
	img, err := c.decode(r)
	if err != nil {
		return Picture{}, broken(err)
	}
	if err := ctx.Err(); err != nil {
		return Picture{}, err
	}
	pic := Picture{Width: cfg.Width, Height: cfg.Height}
	if c.shared && max(cfg.Width, cfg.Height) <= MaxSide && r.Size() <= maxPicture && facts.orientation <= 1 {
		data := make([]byte, r.Size())
		if _, err := io.ReadFull(io.NewSectionReader(r, 0, r.Size()), data); err != nil {
			return Picture{}, err
		}
		pic.Block = tools.Block{Kind: tools.ImageBlock, Data: data, MIME: mime}
		return pic, nil
	}
	return pic, pic.convert(ctx, img, facts.orientation)
}

// open returns what an image of a type takes to decode, which is not too much.
func open(r *io.SectionReader, mime string) (c codec, cfg image.Config, facts jpegFacts, err error) {
	c, ok := codecOf(mime)
	if !ok {
		return c, cfg, facts, Errorf("%s is not an image type that can be shown", mime)
	}
	if r.Size() > pictureSize {
		return c, cfg, facts, Errorf("larger than %s", textfile.Size(pictureSize))
	}
	if cfg, err = c.config(r); err != nil {
		return c, cfg, facts, broken(err)
	}
	if mime == "image/jpeg" {
		facts = jpegHead(r)
	}
	return c, cfg, facts, affordable(cfg, facts)
}

func broken(err error) error {
	return Errorf("it cannot be decoded: %s", textfile.Visible(err.Error()))
}

// affordable refuses images that take too much memory to decode.
func affordable(cfg image.Config, facts jpegFacts) error {
	pixels := int64(cfg.Width) * int64(cfg.Height)
	if cfg.Width <= 0 || cfg.Height <= 0 {
		return Errorf("it has no pixels")
	}
	if pixels > maxPixels || max(cfg.Width, cfg.Height) > maxLength {
		return Errorf("%dx%d is more than %d million pixels or %d on a side", cfg.Width, cfg.Height, maxPixels/1_000_000, maxLength)
	}
	each := 4.0 // bytes
	switch cfg.ColorModel {
	case color.GrayModel:
		each = 1
	case color.Gray16Model:
		each = 2
	case color.RGBA64Model, color.NRGBA64Model:
		each = 8
	}
	each = max(each, facts.bytesPerPixel)
	if need := int64(each * float64(pixels)); need > maxDecoded {
		return Errorf("%dx%d would take %s of memory to decode", cfg.Width, cfg.Height, textfile.Size(need))
	}
	return nil
}

// convert scales an image to the returned size, turns it upright and encodes it.
func (pic *Picture) convert(ctx context.Context, img image.Image, orientation int) error {
	size := img.Bounds().Size()
	if size.X <= 0 || size.Y <= 0 {
		return Errorf("it has no pixels")
	}
	w, h := fit(size.X, size.Y)
	small, err := shrink(ctx, img, w, h)
	if err != nil {
		return err
	}
	small = upright(small, orientation)
	_, photo := img.(*image.YCbCr) // already encoded with loss
	data, mime, err := encodePicture(small, photo)
	if err != nil {
		return err
	}
	if len(data) > maxPicture {
		return Errorf("it takes more than %s in every encoding", textfile.Size(maxPicture))
	}
	pic.Block = tools.Block{Kind: tools.ImageBlock, Data: data, MIME: mime}
	pic.How = "shown as " + mime
	if out := small.Bounds().Size(); w != size.X || h != size.Y {
		pic.How = fmt.Sprintf("shown scaled to %dx%d, %s", out.X, out.Y, mime)
	}
	if orientation > 1 {
		pic.How += ", turned upright"
	}
	return nil
}

// fit returns the size with the same proportions whose long side is at most
// maxSide.
func fit(w, h int) (int, int) {
	long := max(w, h)
	if long <= MaxSide {
		return w, h
	}
	return max(1, (w*MaxSide+long/2)/long), max(1, (h*MaxSide+long/2)/long)
}

// smallPNG is the most bytes of a PNG that is kept though a JPEG would be smaller: it shows
// text and lines exactly.
const smallPNG = 500_000

func encodePicture(img *image.RGBA, photo bool) (data []byte, mime string, err error) {
	var exact bytes.Buffer
	opaque := img.Opaque()
	if !photo || !opaque {
		if err := png.Encode(&exact, img); err != nil {
			return nil, "", err
		}
		if n := exact.Len(); n <= smallPNG || !opaque && n <= maxPicture {
			return exact.Bytes(), "image/png", nil
		}
	}
	whiten(img)
	for _, quality := range []int{85, 70, 50} {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
			return nil, "", err
		}
		if data = b.Bytes(); len(data) <= maxPicture {
			break
		}
	}
	if exact.Len() > 0 && exact.Len() <= len(data) {
		return exact.Bytes(), "image/png", nil
	}
	return data, "image/jpeg", nil
}
