package tesseract

import (
	"bytes"
	"image"
	"testing"
)

func TestTurned(t *testing.T) {
	p := image.NewGray(image.Rect(0, 0, 3, 2))
	copy(p.Pix, []byte{1, 2, 3, 4, 5, 6})
	for _, test := range []struct {
		degrees int
		width   int
		want    []byte
	}{
		{0, 3, []byte{1, 2, 3, 4, 5, 6}},
		{90, 2, []byte{4, 1, 5, 2, 6, 3}},
		{180, 3, []byte{6, 5, 4, 3, 2, 1}},
		{270, 2, []byte{3, 6, 2, 5, 1, 4}},
		{45, 3, []byte{1, 2, 3, 4, 5, 6}},
	} {
		got, by := turned(p, test.degrees)
		if !bytes.Equal(got.Pix, test.want) || got.Rect.Dx() != test.width || by != test.degrees && test.degrees != 45 {
			t.Errorf("%d degrees: %v, %d wide, by %d", test.degrees, got.Pix, got.Rect.Dx(), by)
		}
	}
}
