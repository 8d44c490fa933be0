package pdf

import (
	"bytes"
	"compress/lzw"
	"compress/zlib"
	"io"
	"time"

	tiff "golang.org/x/image/tiff/lzw"

	"toolcrib/tools/internal/document"
)

var (
	filters     = pattern(`/(FlateDecode|LZWDecode)\b`)
	imageStream = pattern(`/Subtype[ \t\r\n\f]*/Image\b`)
	sameWidth   = pattern(`/EarlyChange[ \t\r\n\f]+0\b`)
)

// moreTime returns how much longer than usual a page of a file may take. Honest pages that take
// long have many letters or large fonts, and so do their files; on a busy machine they take twice
// the time of the processor. But a stream of LZW can keep PDFium at work for seconds before it
// exceeds the memory.
func moreTime(src document.Source, budget *document.Budget) time.Duration {
	const (
		small       = 100 << 10 // of a file
		least, most = 2 * time.Second, 19 * time.Second
		megabyte    = 4 * time.Second
	)
	if src.Size < small || src.Size <= mostRebuilt && bloated(src, budget) {
		return 0
	}
	return min(least+time.Duration(src.Size/1000)*megabyte/1000, most)
}

// bloated reports whether a file has a stream of LZW that is no image and holds more than any page
// has to say.
func bloated(src document.Source, budget *document.Budget) bool {
	const most = 16 << 20
	data, err := src.Bytes(budget)
	if err != nil {
		return false
	}
	for o := range objects(data) {
		text := data[o.from:o.to]
		at := streamStart().FindIndex(text)
		if at == nil || budget.Err() != nil {
			continue
		}
		head := text[:at[0]]
		if !bytes.Contains(head, []byte("/LZWDecode")) || imageStream().Match(head) {
			continue
		}
		n, _ := io.CopyN(io.Discard, decoded(head, data[o.from+at[1]:]), most+1) // what is damaged is shorter
		if n > most {
			return true
		}
	}
	return false
}

// decoded returns the content of a stream by the filters that its head names.
func decoded(head, stream []byte) io.Reader {
	var r io.Reader = bytes.NewReader(stream)
	for _, filter := range filters().FindAllSubmatch(head, -1) {
		switch {
		case string(filter[1]) == "FlateDecode":
			inner, err := zlib.NewReader(r)
			if err != nil {
				return bytes.NewReader(nil)
			}
			r = inner
		case sameWidth().Match(head):
			r = lzw.NewReader(r, lzw.MSB, 8)
		default:
			r = tiff.NewReader(r, tiff.MSB, 8)
		}
	}
	return r
}
