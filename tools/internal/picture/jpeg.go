package picture

import (
	"bytes"
	"encoding/binary"
	"io"
)

// jpegFacts is the head of a JPEG without its size.
type jpegFacts struct {
	orientation   int     // as in EXIF, 1 to 8; 0 = unknown
	bytesPerPixel float64 // of memory, to decode it
}

// jpegHead reads the segments up to the frame header. It skips unknown parts: the decoder
// judges the file.
func jpegHead(r io.ReaderAt) jpegFacts {
	const soi, app1, sos = 0xd8, 0xe1, 0xda
	var facts jpegFacts
	head := make([]byte, 4)
	for at, n := int64(2), 0; n < 1000; n++ {
		if _, err := r.ReadAt(head, at); err != nil || head[0] != 0xff {
			return facts
		}
		marker, size := head[1], int64(binary.BigEndian.Uint16(head[2:]))
		switch {
		case marker == 0xff: // padding
			at++
			continue
		case marker == soi || marker == sos || size < 2:
			return facts
		case marker == app1 && facts.orientation == 0:
			facts.orientation = orientationOf(segment(r, at, size))
		case marker >= 0xc0 && marker <= 0xc2:
			facts.bytesPerPixel = samples(segment(r, at, size))
			if marker == 0xc2 { // progressive: the decoder keeps all coefficients, as int32
				facts.bytesPerPixel *= 1 + 4
			}
			return facts
		}
		at += 2 + size
	}
	return facts
}

// segment returns the content of a segment, nil if it is cut off.
func segment(r io.ReaderAt, at, size int64) []byte {
	data := make([]byte, size-2)
	if _, err := r.ReadAt(data, at+4); err != nil {
		return nil
	}
	return data
}

// samples returns how many samples a frame has for a pixel.
func samples(frame []byte) float64 {
	const components = 6
	if len(frame) < components {
		return 0
	}
	var sum, maxH, maxV int
	for c := frame[components:]; len(c) >= 3; c = c[3:] {
		h, v := int(c[1]>>4), int(c[1]&0xf)
		sum += h * v
		maxH, maxV = max(maxH, h), max(maxV, v)
	}
	if maxH*maxV == 0 {
		return 0
	}
	return float64(sum) / float64(maxH*maxV)
}

// orientationOf returns the orientation in an Exif segment, 0 if it has none.
func orientationOf(exif []byte) int {
	const tag, typeShort, entrySize = 0x0112, 3, 12
	tiff, ok := bytes.CutPrefix(exif, []byte("Exif\x00\x00"))
	if !ok || len(tiff) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.LittleEndian
	if tiff[0] == 'M' {
		order = binary.BigEndian
	}
	at := int(order.Uint32(tiff[4:]))
	if at < 8 || at+2 > len(tiff) {
		return 0
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < entrySize {
			return 0
		}
		if order.Uint16(entries) == tag && order.Uint16(entries[2:]) == typeShort {
			if o := int(order.Uint16(entries[8:])); o >= 1 && o <= 8 {
				return o
			}
			return 0
		}
		entries = entries[entrySize:]
	}
	return 0
}
