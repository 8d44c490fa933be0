package documents_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"toolcrib/tools/documents"
	"toolcrib/tools/internal/document/tesseract"
	"toolcrib/tools/internal/services"
)

// drawn returns a picture of a page with lines of text.
func drawn(t *testing.T, lines ...string) *image.Gray {
	t.Helper()
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 11, DPI: 200})
	if err != nil {
		t.Fatal(err)
	}
	img := image.NewGray(image.Rect(0, 0, 1600, 600))
	draw.Draw(img, img.Rect, image.White, image.Point{}, draw.Src)
	d := font.Drawer{Dst: img, Src: image.NewUniform(color.Black), Face: face}
	for i, line := range lines {
		d.Dot = fixed.P(150, 120+45*i)
		d.DrawString(line)
	}
	return img
}

// scannedPDF is a PDF of pages that are pictures.
func scannedPDF(pictures ...*image.Gray) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n")
	var kids strings.Builder
	for i, img := range pictures {
		page, w, h := 3+3*i, img.Rect.Dx(), img.Rect.Dy()
		fmt.Fprintf(&kids, "%d 0 R ", page)
		draw := fmt.Sprintf("q %d 0 0 %d 0 0 cm /Im Do Q", w*72/200, h*72/200)
		fmt.Fprintf(&b, "%d 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R /Resources << /XObject << /Im %d 0 R >> >> >> endobj\n", page, w*72/200, h*72/200, page+1, page+2)
		fmt.Fprintf(&b, "%d 0 obj << /Length %d >> stream\n%s\nendstream endobj\n", page+1, len(draw), draw)
		fmt.Fprintf(&b, "%d 0 obj << /Type /XObject /Subtype /Image /Width %d /Height %d /BitsPerComponent 8 /ColorSpace /DeviceGray /Length %d >> stream\n%s\nendstream endobj\n", page+2, w, h, len(img.Pix), img.Pix)
	}
	fmt.Fprintf(&b, "2 0 obj << /Type /Pages /Kids [%s] /Count %d >> endobj\ntrailer << /Root 1 0 R >>\nstartxref\n0\n%%%%EOF\n", kids.String(), len(pictures))
	return b.Bytes()
}

// tiffOf writes pictures as the pages of an image.
func tiffOf(pictures ...*image.Gray) []byte {
	out := []byte("II*\x00\x00\x00\x00\x00")
	link := 4 // where the place of the next directory is told
	for _, img := range pictures {
		data := len(out)
		out = append(out, img.Pix...)
		out = append(out, make([]byte, len(out)%2)...)
		binary.LittleEndian.PutUint32(out[link:], uint32(len(out)))
		fields := [][2]int{{256, img.Rect.Dx()}, {257, img.Rect.Dy()}, {258, 8}, {259, 1}, {262, 1}, {273, data}, {277, 1}, {278, img.Rect.Dy()}, {279, len(img.Pix)}}
		out = binary.LittleEndian.AppendUint16(out, uint16(len(fields)))
		for _, f := range fields {
			out = binary.LittleEndian.AppendUint16(out, uint16(f[0]))
			out = binary.LittleEndian.AppendUint16(out, 4) // a number of 32 bits
			out = binary.LittleEndian.AppendUint32(out, 1)
			out = binary.LittleEndian.AppendUint32(out, uint32(f[1]))
		}
		link = len(out)
		out = binary.LittleEndian.AppendUint32(out, 0)
	}
	return out
}

func TestOCR(t *testing.T) {
	if tesseract.Find() == "" {
		t.Skip("needs: tesseract: it reads the pictures")
	}
	first := drawn(t, "The mill on the river was built of stones", "from the old hills, and its wheel turned.")
	second := drawn(t, "Nobody knew how old it was, since the books", "were lost in a fire.")
	var file bytes.Buffer
	if err := png.Encode(&file, first); err != nil {
		t.Fatal(err)
	}
	parse, _ := newParser(t, map[string]string{"scan.pdf": string(scannedPDF(first, second)), "fax": string(tiffOf(first, second)), "photo.png": file.String()})
	for _, test := range []struct {
		args map[string]any
		want []string
	}{
		{map[string]any{"path": "scan.pdf"}, []string{"scan.pdf: pdf;", "[page 1; read by OCR (eng), which makes errors]\n\nThe mill on the river was built of stones", "from the old hills, and its wheel turned.", "[page 2; read by OCR (eng)", "were lost"}},
		{map[string]any{"path": "scan.pdf", "pages": "2", "ocr": "eng"}, []string{"[page 2; read by OCR (eng)", "Nobody knew how old it was"}},
		{map[string]any{"path": "scan.pdf", "ocr": "never"}, []string{"[page 1; no text, only images: scanned?]"}},
		{map[string]any{"path": "scan.pdf", "ocr": "xyz"}, []string{`warning: pages that are only images were not read: tesseract does not have the language "xyz"`}},
		{map[string]any{"path": "fax"}, []string{"fax: tiff;", "[page 1; read by OCR (eng)", "[page 2; read by OCR (eng)", "were lost"}},
		{map[string]any{"path": "photo.png"}, []string{"photo.png: png;", "The mill on the river was built of stones"}},
		{map[string]any{"path": "photo.png", "ocr": "never"}, []string{"error: unsupported: photo.png: it is an image"}},
	} {
		got := parse(test.args)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%v: %q is not in\n%s", test.args, want, got)
			}
		}
	}
}

// fakeTesseract puts a script in the place of tesseract, which finds one word in each picture, and
// none while there is a file named fails. While there is one named slow, it takes a minute.
func fakeTesseract(t *testing.T, dir string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs: unix: a script in the place of tesseract")
	}
	const script = `#!/bin/sh
if [ "$1" = --list-langs ]; then
	echo eng
	exit
fi
cat >/dev/null
if [ -e %[1]s/fails ]; then
	echo reading >&2
	echo "no memory" >&2
	exit 1
fi
if [ -e %[1]s/slow ]; then
	exec sleep 60
fi
cat %[1]s/found
`
	const found = `<html><body><span class='ocr_line' title="bbox 9 9 99 30; x_size 20"><span class='ocrx_word' title='bbox 9 9 99 30; x_wconf 90'>mill</span></span></body></html>`
	if err := os.WriteFile(filepath.Join(dir, "tesseract"), fmt.Appendf(nil, script, dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "found"), []byte(found), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// A page that is turned is read upright.
func TestTurned(t *testing.T) {
	if tesseract.Find() == "" {
		t.Skip("needs: tesseract: it reads the pictures")
	}
	page := drawn(t, "The mill on the river was built of stones", "from the old hills, and its wheel turned", "slowly in summer and fast in winter, when",
		"the water was high. Nobody knew how old it", "was, since all the books of the village", "were lost in a fire long before our time,", "and whoever had read them was dead too.")
	w, h := page.Rect.Dx(), page.Rect.Dy()
	right, over := image.NewGray(image.Rect(0, 0, h, w)), image.NewGray(page.Rect)
	for y := range h {
		for x := range w {
			right.SetGray(h-1-y, x, page.GrayAt(x, y))
			over.SetGray(w-1-x, h-1-y, page.GrayAt(x, y))
		}
	}
	parse, _ := newParser(t, map[string]string{"fax": string(tiffOf(right, over))})
	args := map[string]any{"path": "fax", "ocr": "eng"}
	got := parse(args)
	for range 5 {
		if !strings.Contains(got, "call again, which goes on from here") {
			break
		}
		got = parse(args)
	}
	for _, want := range []string{
		"[page 1; turned by 270 degrees and read by OCR (eng), which makes errors]\n\nThe mill on the river was built of stones",
		"[page 2; turned by 180 degrees and read by OCR (eng), which makes errors]\n\nThe mill on the river was built of stones",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// What could not be read is tried again by the next call, and what was read is kept.
func TestOCRGoesOn(t *testing.T) {
	parse, dir := newParser(t, map[string]string{"scan.pdf": string(scannedPDF(drawn(t))), "fails": ""})
	fakeTesseract(t, dir)
	for _, step := range []struct {
		change func() error
		want   string
	}{
		{func() error { return nil }, "[page 1; only images, which OCR did not read: tesseract ended with exit code 1: no memory]"},
		{func() error { return os.Remove(filepath.Join(dir, "fails")) }, "[page 1; read by OCR (eng), which makes errors]\n\nmill"},
		{func() error { return os.WriteFile(filepath.Join(dir, "fails"), nil, 0o600) }, "[page 1; read by OCR (eng), which makes errors]\n\nmill"},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		if got := parse(map[string]any{"path": "scan.pdf", "ocr": "eng"}); !strings.Contains(got, step.want) {
			t.Errorf("%q is not in\n%s", step.want, got)
		}
	}
}

// Without the program, its absence is told with what helps.
func TestNoOCR(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	picture := image.NewGray(image.Rect(0, 0, 200, 100))
	parse, _ := newParser(t, map[string]string{"scan.pdf": string(scannedPDF(picture)), "fax.tif": string(tiffOf(picture))})
	for file, want := range map[string]string{
		"scan.pdf": "warning: pages that are only images were not read: " + tesseract.Missing + "\n\n[page 1; no text, only images: scanned?]",
		"fax.tif":  "error: unsupported: fax.tif: it is an image, whose text cannot be read: " + tesseract.Missing,
	} {
		if got := parse(map[string]any{"path": file}); !strings.Contains(got, want) {
			t.Errorf("%s: %q is not in\n%s", file, want, got)
		}
	}
	category := documents.Category(&services.Services{})
	if found := category.Doctor(t.Context()); len(found) != 1 || found[0].What != "ocr" || !strings.Contains(found[0].Say, "apt install tesseract-ocr") {
		t.Errorf("the doctor says %v", found)
	}
}
