package textfile

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"slices"
	"strings"
)

// MIME returns the media type of a file by its head, with the charset for text.
func MIME(head []byte, form Form) string {
	if form.Undecodable != "" {
		return "text/plain; charset=" + form.Undecodable
	}
	if form.Binary {
		return binaryType(head)
	}
	kind, _, _ := strings.Cut(http.DetectContentType(head), ";")
	if !strings.HasPrefix(kind, "text/") {
		// The signature of BMP, for one, is two letters.
		kind = "text/plain"
	}
	return kind + "; charset=" + form.Encoding.Name()
}

// binaryType knows types that package net/http lacks, and replaces its names by those that
// clients use.
func binaryType(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("II*\x00")), bytes.HasPrefix(head, []byte("MM\x00*")):
		return "image/tiff"
	case bytes.HasPrefix(head, []byte("fLaC")):
		return "audio/flac"
	case bytes.HasPrefix(head, []byte("OggS")):
		return oggType(head)
	case len(head) >= 12 && string(head[4:8]) == "ftyp":
		if kind := brandType(string(head[8:12])); kind != "" {
			return kind
		}
		if soundOnly(head) {
			return "audio/mp4"
		}
	case mp3(head):
		return "audio/mpeg"
	}
	kind, _, _ := strings.Cut(http.DetectContentType(head), ";")
	switch {
	case kind == "audio/wave":
		return "audio/wav"
	case strings.HasPrefix(kind, "text/"):
		return "application/octet-stream"
	}
	return kind
}

// oggType looks at the first packet, which names the codec.
func oggType(head []byte) string {
	head = head[:min(len(head), 64)]
	for _, codec := range []string{"\x01vorbis", "OpusHead", "\x7fFLAC", "Speex   "} {
		if bytes.Contains(head, []byte(codec)) {
			return "audio/ogg"
		}
	}
	return "application/ogg"
}

// brandType returns the type of an ISO media file by its brand, "" if net/http knows it.
func brandType(brand string) string {
	switch brand {
	case "M4A ", "M4B ", "M4P ":
		return "audio/mp4"
	case "avif", "avis":
		return "image/avif"
	case "heic", "heix", "heim", "heis", "mif1", "msf1":
		return "image/heic"
	case "qt  ":
		return "video/quicktime"
	}
	return ""
}

// soundOnly reports whether an ISO media file of a brand for sound and pictures has only
// sound: a compatible brand or the handlers of its tracks say so.
func soundOnly(head []byte) bool {
	if size := binary.BigEndian.Uint32(head); size >= 16 && int64(size) <= int64(len(head)) {
		for brand := range slices.Chunk(head[16:size], 4) {
			switch string(brand) {
			case "M4A ", "M4B ", "M4P ":
				return true
			}
		}
	}
	sound := false
	for _, box := range bytes.Split(head, []byte("hdlr"))[1:] {
		if len(box) < 12 {
			break
		}
		switch string(box[8:12]) { // after version, flags and a field that is 0
		case "vide":
			return false
		case "soun":
			sound = true
		}
	}
	return sound
}

// mp3 recognises MPEG layer III without an ID3 tag: two frames in sequence.
func mp3(head []byte) bool {
	n := frameSize(head)
	return n > 0 && n < len(head) && frameSize(head[n:]) > 0
}

// frameSize returns the bytes of the MPEG layer III frame at the start of p, 0 if
// there is none. The tables are those of ISO/IEC 11172-3 and 13818-3.
func frameSize(p []byte) int {
	if len(p) < 4 || p[0] != 0xff || p[1]&0xe0 != 0xe0 || p[1]>>1&3 != 1 {
		return 0
	}
	version, bits, rate := p[1]>>3&3, p[2]>>4, p[2]>>2&3
	if version == 1 || bits == 0 || bits == 15 || rate == 3 {
		return 0
	}
	kbits := [...]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}[bits]
	hertz := [...]int{44100, 48000, 32000}[rate]
	samples := 72
	switch version {
	case 3: // MPEG 1
		kbits = [...]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}[bits]
		samples = 144
	case 2:
		hertz /= 2
	case 0: // MPEG 2.5
		hertz /= 4
	}
	return samples*kbits*1000/hertz + int(p[2]>>1&1)
}
