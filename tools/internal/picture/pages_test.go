package picture_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/picture"
)

func pages(t *testing.T, data []byte, mime string) (all []*image.Gray, errs []error) {
	t.Helper()
	for _, decode := range picture.Pages(io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), mime) {
		img, err := decode()
		all, errs = append(all, img), append(errs, err)
	}
	return all, errs
}

// oriented is a JPEG of three quarters, clockwise from the left above: black, grey and white. The
// fourth is white. The camera was held as orientation says.
func oriented(t *testing.T, orientation uint16) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 64, 32))
	for y := range 32 {
		for x := range 64 {
			shade := color.Gray{255}
			switch {
			case y < 16 && x < 32:
				shade = color.Gray{0}
			case y < 16:
				shade = color.Gray{128}
			}
			img.SetGray(x, y, shade)
		}
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, img, &jpeg.Options{Quality: 100}); err != nil {
		t.Fatal(err)
	}
	exif := []byte("\xff\xd8\xff\xe1\x00\x22Exif\x00\x00MM\x00*")
	for _, v := range []uint16{0, 8, 1, 0x112, 3, 0, 1, orientation, 0, 0, 0} { // where the one field is, its tag, kind and number
		exif = binary.BigEndian.AppendUint16(exif, v)
	}
	return append(exif, file.Bytes()[2:]...)
}

// The corners of a page are where they are seen.
func TestUpright(t *testing.T) {
	const black, grey, white = "black", "grey", "white"
	for orientation, want := range [][4]string{ // left and right above, left and right below
		{black, grey, white, white}, {black, grey, white, white}, // unknown, and upright
		{grey, black, white, white}, {white, white, grey, black}, {white, white, black, grey},
		{black, white, grey, white}, {white, black, white, grey}, {white, grey, white, black}, {grey, white, black, white},
	} {
		all, errs := pages(t, oriented(t, uint16(orientation)), "image/jpeg")
		if len(all) != 1 || errs[0] != nil {
			t.Fatalf("orientation %d: %d pages, %v", orientation, len(all), errs)
		}
		size := all[0].Rect.Size()
		if wide := orientation < 5; wide != (size == image.Pt(64, 32)) || !wide && size != image.Pt(32, 64) {
			t.Errorf("orientation %d: %v", orientation, size)
		}
		shade := func(x, y int) string {
			switch v := all[0].GrayAt(x, y).Y; {
			case v < 64:
				return black
			case v < 192:
				return grey
			}
			return white
		}
		got := [4]string{shade(4, 4), shade(size.X-5, 4), shade(4, size.Y-5), shade(size.X-5, size.Y-5)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("orientation %d: %s", orientation, diff)
		}
	}
}

// The list of the pages of a TIFF may not end, and a broken page leaves the others alone.
func TestPages(t *testing.T) {
	const first, second, third = 16, 128, 240
	file := make([]byte, 352)
	copy(file, "MM\x00*")
	order := binary.BigEndian
	order.PutUint32(file[4:], first)
	file[8], file[9] = 10, 20 // pixels of the first page, and of the third
	for _, page := range []struct{ at, pixel, compression, next uint32 }{{first, 8, 1, second}, {second, 8, 77, third}, {third, 9, 1, second}} {
		at := page.at
		order.PutUint16(file[at:], 8)
		at += 2
		for _, f := range [][2]uint32{{256, 1}, {257, 1}, {258, 8}, {259, page.compression}, {262, 1}, {273, page.pixel}, {278, 1}, {279, 1}} {
			order.PutUint16(file[at:], uint16(f[0]))
			order.PutUint16(file[at+2:], 4)
			order.PutUint32(file[at+4:], 1)
			order.PutUint32(file[at+8:], f[1])
			at += 12
		}
		order.PutUint32(file[at:], page.next)
	}
	all, errs := pages(t, file, "image/tiff")
	if len(all) != 3 || errs[0] != nil || errs[1] == nil || errs[2] != nil {
		t.Fatalf("%d pages, errors %v", len(all), errs)
	}
	if a, b := all[0].GrayAt(0, 0).Y, all[2].GrayAt(0, 0).Y; a != 10 || b != 20 {
		t.Errorf("pages of the shades %d and %d", a, b)
	}
}
