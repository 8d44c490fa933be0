package textfile

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"toolcrib/tools/internal/text/textfile/internal/prose"
)

// margin is the bits by which a reading must beat different ones to be detected rather than
// guessed.
const margin = 24

// detect finds the encoding in which a text reads best, in any language.
func detect(head []byte) Form {
	sample := telling(head)
	readings := readingsOf(sample[:min(len(sample), firstLook)], candidates[:])
	if len(sample) > firstLook {
		var likely []candidate
		for i, r := range readings {
			if r.fit.Bits-readings[0].fit.Bits <= unlikely || i == decodable(readings) {
				likely = append(likely, r.candidate)
			}
		}
		readings = readingsOf(sample, likely)
	}
	best := readings[0]
	sure := best.fit.Typical()
	for _, r := range readings[1:] {
		if r.fit.Bits-best.fit.Bits > margin {
			break
		}
		sure = sure && bytes.Equal(r.text, best.text)
	}
	switch {
	case sure && Undecodable(best.name):
		return Form{Binary: true, Undecodable: best.name}
	case sure:
		return Form{Encoding: best.enc, Source: Detected}
	}
	return Form{Encoding: readings[decodable(readings)].enc, Source: Guessed}
}

// decodable returns the first reading in an encoding that has a decoder.
func decodable(readings []reading) int {
	return slices.IndexFunc(readings, func(r reading) bool { return !Undecodable(r.name) })
}

// reading is a text read in an encoding.
type reading struct {
	candidate
	enc  Encoding // zero without a decoder
	text []byte
	fit  prose.Fit // for the best language
}

// readingsOf reads a text in several encodings and returns the readings, the best first.
func readingsOf(sample []byte, among []candidate) []reading {
	single := prose.OfBytes(sample)
	readings := make([]reading, len(among))
	for i, c := range among {
		r := &readings[i]
		var text prose.Text
		r.candidate = c
		r.enc, _ = Lookup(c.name)
		if read := approximate(c.name); read != nil {
			r.text = read(sample)
		} else {
			r.text, _ = r.enc.DecodeWindow(sample, false)
		}
		if m, ok := r.enc.enc.(*charmap.Charmap); ok {
			text = single.Read(m.DecodeByte)
		} else {
			text = prose.OfRunes(r.text).Weigh(single)
		}
		for language := range strings.FieldsSeq(c.languages) {
			if fit := prose.Of(language).Fit(text); r.fit.Bits == 0 || fit.Bits < r.fit.Bits {
				r.fit = fit
			}
		}
		r.fit.Bits += c.rare
	}
	slices.SortStableFunc(readings, func(a, b reading) int { return cmp.Compare(a.fit.Bits, b.fit.Bits) })
	return readings
}

const (
	// sampleSize is how many bytes are used to detect an encoding.
	sampleSize = 4 << 10
	// firstLook is how many of them are read in every encoding; encodings that are then
	// worse than the best by unlikely bits are dropped.
	firstLook = 512
	unlikely  = 200
)

// telling returns the lines that have bytes beyond ASCII, up to sampleSize.
func telling(head []byte) []byte {
	if len(head) <= sampleSize {
		return head
	}
	var sample []byte
	for line := range bytes.Lines(head) {
		if len(sample)+len(line) > sampleSize {
			line = line[:sampleSize-len(sample)]
		}
		if bytes.ContainsFunc(line, func(r rune) bool { return r >= utf8.RuneSelf }) {
			sample = append(sample, line...)
		}
		if len(sample) == sampleSize {
			break
		}
	}
	return sample
}
