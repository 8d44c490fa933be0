package files_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
)

// blocks calls the tool and returns the text and the other blocks.
func (c caller) blocks(args map[string]any) (string, []tools.Block) {
	c.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		c.Fatal(err)
	}
	result, err := tooltest.Call(c.Context(), c.ws, c.tool, raw)
	if err != nil {
		c.Fatal(err)
	}
	if len(result.Content) == 0 || result.Content[0].Kind != tools.TextBlock {
		c.Fatalf("%s: the first block is no text", raw)
	}
	return result.Content[0].Text, result.Content[1:]
}

// noise is an image that nothing compresses.
func noise(w, h int, alpha uint8) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(r.UintN(256))
		if i%4 == 3 && alpha > 0 {
			img.Pix[i] = alpha
		}
	}
	return img
}

// webpPixel is an image of one pixel.
func webpPixel(t *testing.T) string {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// oriented puts an Exif segment into a JPEG.
func oriented(data string, orientation byte, order binary.ByteOrder) string {
	var b bytes.Buffer
	b.WriteString("\xff\xd8\xff\xe1\x00\x22Exif\x00\x00")
	if order == binary.BigEndian {
		b.WriteString("MM\x00*")
	} else {
		b.WriteString("II*\x00")
	}
	field := make([]byte, 22)
	order.PutUint32(field, 8)
	order.PutUint16(field[4:], 1)
	order.PutUint16(field[6:], 0x112)
	order.PutUint16(field[8:], 3)
	order.PutUint32(field[10:], 1)
	order.PutUint16(field[14:], uint16(orientation))
	b.Write(field)
	return b.String() + data[2:]
}

// header is the start of a PNG of any size, without pixels.
func header(w, h uint32) string {
	chunk := binary.BigEndian.AppendUint32([]byte("IHDR"), w)
	chunk = binary.BigEndian.AppendUint32(chunk, h)
	chunk = append(chunk, 8, 6, 0, 0, 0)
	return "\x89PNG\r\n\x1a\n\x00\x00\x00\x0d" + string(binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk)))
}

func TestReadFileImages(t *testing.T) {
	tooltest.Unraced(t)
	small, large := quarters(64, 32), quarters(2000, 1000)
	tree := map[string]string{
		"small.png": encoded(t, "png", small), "small.jpg": encoded(t, "jpeg", small), "small.gif": encoded(t, "gif", small),
		"pixel.webp": webpPixel(t), "small.bmp": encoded(t, "bmp", small), "small.tif": encoded(t, "tiff", small),
		"large.png": encoded(t, "png", large), "large.jpg": encoded(t, "jpeg", large), "large.bmp": encoded(t, "bmp", quarters(2000, 1500)),
		"long.png": encoded(t, "png", quarters(2, 4000)), "noise.png": encoded(t, "png", noise(800, 800, 255)),
		"veil.png": encoded(t, "png", noise(800, 800, 0)), "name.txt": encoded(t, "png", small),
		"cut.png": encoded(t, "png", small)[:80], "bomb.png": header(60_000, 60_000), "wide.png": header(1_000_000, 1),
		"deep.png": header(9000, 7000), "drawing.svg": "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n", "text.png": "no image\n", "bm.txt": "BM is how it begins\n",
	}
	r := newCaller(t, "read_file", tree)
	for _, c := range []struct {
		path, want string
		mime       string // "" = no image
		w, h       int    // 0 = as it is in the file
	}{
		{"small.png", "small.png: image, 64x32; image/png, … B, hash …", "image/png", 0, 0},
		{"small.jpg", "small.jpg: image, 64x32; image/jpeg, …, hash …", "image/jpeg", 0, 0},
		{"small.gif", "small.gif: image, 64x32; image/gif, …", "image/gif", 0, 0},
		{"pixel.webp", "pixel.webp: image, 1x1; image/webp, 34 B, hash …", "image/webp", 0, 0},
		{"small.bmp", "small.bmp: image, 64x32; image/bmp, …; shown as image/png", "image/png", 64, 32},
		{"small.tif", "small.tif: image, 64x32; image/tiff, …; shown as image/png", "image/png", 64, 32},
		{"large.png", "large.png: image, 2000x1000; image/png, …; shown scaled to 1568x784, image/png", "image/png", 1568, 784},
		{"large.jpg", "large.jpg: image, 2000x1000; image/jpeg, …; shown scaled to 1568x784, image/jpeg", "image/jpeg", 1568, 784},
		{"large.bmp", "large.bmp: image, 2000x1500; image/bmp, 9.0 MB, version v:…; shown scaled to 1568x1176, image/png", "image/png", 1568, 1176},
		{"long.png", "long.png: image, 2x4000; …; shown scaled to 1x1568, image/png", "image/png", 1, 1568},
		{"noise.png", "noise.png: image, 800x800; image/png, 1.9 MB, hash …; shown as image/jpeg", "image/jpeg", 800, 800},
		{"veil.png", "veil.png: image, 800x800; image/png, 2.6 MB, hash …; shown as image/jpeg", "image/jpeg", 800, 800},
		{"name.txt", "name.txt: image, 64x32; image/png, …", "image/png", 0, 0},
		{"cut.png", "cut.png: image, not shown: it cannot be decoded: …; image/png, 80 B, hash …; next: byte_offset=0 for a hex dump, or file_info", "", 0, 0},
		{"bomb.png", "bomb.png: image, not shown: 60000x60000 is more than 64 million pixels or 65535 on a side; image/png, 33 B, …", "", 0, 0},
		{"wide.png", "wide.png: image, not shown: 1000000x1 is more than …", "", 0, 0},
		{"deep.png", "deep.png: image, not shown: it cannot be decoded: …", "", 0, 0},
		{"drawing.svg", "drawing.svg: line 1 of 1; utf-8, LF, 42 B, hash …\n1\t<svg …", "", 0, 0},
		{"text.png", "text.png: line 1 of 1; utf-8, …\n1\tno image", "", 0, 0},
		{"bm.txt", "bm.txt: line 1 of 1; …\n1\tBM is how it begins", "", 0, 0},
	} {
		t.Run(c.path, func(t *testing.T) {
			text, blocks := r.blocks(map[string]any{"path": c.path})
			if diff := tooltest.Match(c.want, text); diff != "" {
				t.Error(diff)
			}
			if c.mime == "" {
				if len(blocks) > 0 {
					t.Errorf("%d blocks in addition to the text", len(blocks))
				}
				return
			}
			if len(blocks) != 1 || blocks[0].Kind != tools.ImageBlock || blocks[0].MIME != c.mime {
				t.Fatalf("blocks: %d", len(blocks))
			}
			if len(blocks[0].Data) > 1_500_000 {
				t.Errorf("an image of %d bytes", len(blocks[0].Data))
			}
			if c.w == 0 {
				if string(blocks[0].Data) != tree[c.path] {
					t.Error("the image is not as it is in the file")
				}
				return
			}
			img, _, err := image.Decode(bytes.NewReader(blocks[0].Data))
			if err != nil {
				t.Fatal(err)
			}
			if size := img.Bounds().Size(); size != image.Pt(c.w, c.h) {
				t.Errorf("%v, want %dx%d", size, c.w, c.h)
			}
			if strings.HasPrefix(c.path, "large") {
				corners(t, img, "RGBW")
			}
		})
	}
	text, blocks := r.blocks(map[string]any{"path": "small.png", "byte_offset": 0, "byte_limit": 16})
	if diff := tooltest.Match("small.png: bytes 0-15 of …; image/png, hash …; next: byte_offset=16\n00000000  89 50 4e 47 …|.PNG…|", text); diff != "" || len(blocks) > 0 {
		t.Errorf("%d blocks; %s", len(blocks), diff)
	}
}

// corners checks the colours of the quarters, row by row.
func corners(t *testing.T, img image.Image, want string) {
	t.Helper()
	b := img.Bounds()
	var got []byte
	for _, p := range []image.Point{{1, 1}, {3, 1}, {1, 3}, {3, 3}} {
		r, g, bl, _ := img.At(b.Min.X+b.Dx()*p.X/4, b.Min.Y+b.Dy()*p.Y/4).RGBA()
		switch high := [3]bool{r > 0x8000, g > 0x8000, bl > 0x8000}; high {
		case [3]bool{true, false, false}:
			got = append(got, 'R')
		case [3]bool{false, true, false}:
			got = append(got, 'G')
		case [3]bool{false, false, true}:
			got = append(got, 'B')
		case [3]bool{true, true, true}:
			got = append(got, 'W')
		default:
			got = append(got, '?')
		}
	}
	if string(got) != want {
		t.Errorf("corners are %s, want %s", got, want)
	}
}

// A photo that a camera took sideways is turned upright, whatever its size.
func TestReadFileOrientation(t *testing.T) {
	tooltest.Unraced(t)
	small := encoded(t, "jpeg", quarters(64, 32))
	want := []string{1: "RGBW", 2: "GRWB", 3: "WBGR", 4: "BWRG", 5: "RBGW", 6: "BRWG", 7: "WGBR", 8: "GWRB"}
	tree := map[string]string{
		"large.jpg":  oriented(encoded(t, "jpeg", quarters(2000, 1000)), 6, binary.LittleEndian),
		"broken.jpg": oriented(small, 99, binary.BigEndian),
	}
	for o := 1; o <= 8; o++ {
		tree[string(rune('0'+o))] = oriented(small, byte(o), []binary.ByteOrder{binary.LittleEndian, binary.BigEndian}[o%2])
	}
	r := newCaller(t, "read_file", tree)
	for o := 1; o <= 8; o++ {
		name := string(rune('0' + o))
		text, blocks := r.blocks(map[string]any{"path": name})
		if len(blocks) != 1 {
			t.Fatalf("orientation %d: %s", o, text)
		}
		img, _, err := image.Decode(bytes.NewReader(blocks[0].Data))
		if err != nil {
			t.Fatal(err)
		}
		corners(t, img, want[o])
		if size := img.Bounds().Size(); (o >= 5) != (size == image.Pt(32, 64)) {
			t.Errorf("orientation %d: %v", o, size)
		}
		if turned := strings.HasSuffix(text, "; shown as image/jpeg, turned upright"); turned != (o > 1) {
			t.Errorf("orientation %d: %s", o, text)
		}
	}
	text, _ := r.blocks(map[string]any{"path": "large.jpg"})
	if !strings.HasSuffix(text, "; shown scaled to 784x1568, image/jpeg, turned upright") {
		t.Error(text)
	}
	if _, blocks := r.blocks(map[string]any{"path": "broken.jpg"}); len(blocks) != 1 || string(blocks[0].Data) != tree["broken.jpg"] {
		t.Error("an orientation that is none changes the image")
	}
}

// Scaling weighs every pixel by the area that it covers.
func TestReadFileScaling(t *testing.T) {
	img := image.NewGray(image.Rect(0, 0, 3136, 2))
	for x := range 3136 {
		for y := range 2 {
			img.SetGray(x, y, color.Gray{Y: uint8(100 * (x % 2))}) // pairs of 0 and 100
		}
	}
	r := newCaller(t, "read_file", map[string]string{"lines.png": encoded(t, "png", img)})
	_, blocks := r.blocks(map[string]any{"path": "lines.png"})
	if len(blocks) != 1 {
		t.Fatal("no image")
	}
	out, err := png.Decode(bytes.NewReader(blocks[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	for x := range 1568 {
		if v, _, _, _ := out.At(x, 0).RGBA(); v>>8 != 50 {
			t.Fatalf("pixel %d is %d, want 50", x, v>>8)
		}
	}
}

func TestReadFileSound(t *testing.T) {
	wav := "RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00"
	frame := "\xff\xfb\x90\x00" + strings.Repeat("\x00", 413)
	tree := map[string]string{
		"a.wav": wav, "b.mp3": strings.Repeat(frame, 3), "c.mp3": "ID3\x04\x00\x00\x00\x00\x00\x00" + frame,
		"d.ogg": "OggS\x00\x02" + strings.Repeat("\x00", 22) + "\x01vorbis\x00", "e.flac": "fLaC\x00\x00\x00\x22", "f.m4a": "\x00\x00\x00\x18ftypM4A \x00\x00\x00\x00",
		"g.ogv": "OggS\x00\x02" + strings.Repeat("\x00", 22) + "\x80theora\x00", "big.wav": wav + strings.Repeat("\x00", 2_000_000),
	}
	r := newCaller(t, "read_file", tree)
	for path, mime := range map[string]string{"a.wav": "audio/wav", "b.mp3": "audio/mpeg", "c.mp3": "audio/mpeg", "d.ogg": "audio/ogg", "e.flac": "audio/flac", "f.m4a": "audio/mp4"} {
		text, blocks := r.blocks(map[string]any{"path": path})
		if diff := tooltest.Match(path+": sound; "+mime+", …, hash …", text); diff != "" {
			t.Error(diff)
		}
		if len(blocks) != 1 || blocks[0].Kind != tools.AudioBlock || blocks[0].MIME != mime || string(blocks[0].Data) != tree[path] {
			t.Errorf("%s: %d blocks", path, len(blocks))
		}
	}
	for path, want := range map[string]string{
		"g.ogv":   "g.ogv: binary, not shown; application/ogg, …",
		"big.wav": "big.wav: sound, larger than the 2.0 MB that can be passed on; audio/wav, 2.0 MB, hash …; next: byte_offset=0 for a hex dump, or file_info",
	} {
		text, blocks := r.blocks(map[string]any{"path": path})
		if diff := tooltest.Match(want, text); diff != "" || len(blocks) > 0 {
			t.Errorf("%d blocks: %s", len(blocks), diff)
		}
	}
}
