package index

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"toolcrib/tools/internal/background"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

const (
	readSize = 256 << 10 // read at once
	maxText  = 64 << 20  // bytes; a larger file is not indexed
	// A file larger than readSize is cut into documents of whole lines of about partSize,
	// since nearly every large file has the grams of any literal somewhere. The text after its
	// first partGrams grams is one document.
	partSize  = 128 << 10
	partGrams = 1 << 20
)

// extractor reads files for their grams.
type extractor struct {
	symbols *alphabet
	seen    *[gramCount / 64]uint64 // a bit for each gram; between documents those that are outsideLine have it
	buf     []byte
	room    []uint64 // of allocate, which seen is; nil = it is of the heap
	opener  workspace.Opener
	pace    *background.Pace
	text    extract
	high    bool // a byte of the file is not ASCII
}

// extract is the part of a text that an index needs.
type extract struct {
	grams []uint32 // of one document after the other, in no order
	docs  []document
}

// document is a file or a part of one.
type document struct {
	begin uint32 // in the file
	grams int    // where those of the document end
}

func newExtractor(of *alphabet, pace *background.Pace) *extractor {
	x := &extractor{symbols: of, pace: pace, buf: make([]byte, readSize)}
	room, err := allocate[uint64](gramCount / 64)
	seen := room
	if err != nil {
		seen = make([]uint64, gramCount/64)
	}
	for word := range seen {
		seen[word] = outsideLine(word)
	}
	x.seen, x.room = (*[gramCount / 64]uint64)(seen), room
	return x
}

// close gives the memory back.
func (x *extractor) close() {
	x.opener.Close()
	if x.room != nil {
		release(x.room)
	}
	x.seen, x.room = nil, nil
}

// read returns the kind of a file and, if it is indexed, its grams, which are valid until the
// next call. A file that cannot be read is unknown. It fails only if ctx ends.
func (x *extractor) read(ctx context.Context, path workspace.Path) (kind, *extract, error) {
	f, err := x.opener.Open(path)
	if err != nil {
		return unknown, nil, nil
	}
	defer f.Close()
	if cap(x.text.grams) > maxPostings/8 {
		x.text.grams = nil // of an odd file
	}
	x.text.grams, x.text.docs = x.text.grams[:0], x.text.docs[:0]
	x.high = false
	x.begin(0)
	k, err := x.scan(ctx, f)
	x.finish()
	if err != nil {
		return unknown, nil, context.Cause(ctx)
	}
	return k, &x.text, nil
}

func (x *extractor) scan(ctx context.Context, f workspace.File) (kind, error) {
	n, whole, err := x.fill(f)
	if err != nil {
		return unknown, err
	}
	head := x.buf[:n]
	if !whole && f.Info().Size >= maxText {
		return unknown, nil
	}
	switch encoding, mark := textfile.BOM(head); {
	case mark == 0 && bytes.IndexByte(head[:min(n, textfile.SniffLen)], 0) >= 0:
		return noText, nil
	case mark > 0 && !encoding.UTF8():
		return unknown, nil
	}
	k := indexed
	window := uint32(lineEnd)
	var tail [2]byte // of what came before, for a character that is cut
	for total := 0; ; {
		text := x.buf[:n]
		if total+n >= maxText {
			return unknown, nil
		}
		if total == 0 && whole {
			window = x.add(window, text)
		} else if window, err = x.cut(ctx, window, text, total); err != nil {
			return unknown, err
		}
		if k == indexed && x.high && (foldsOddly(text) || foldsOddly(append(tail[:], text[:min(n, 2)]...))) {
			k = oddlyFolded
		}
		if whole {
			x.add(window, []byte{'\n'})
			return k, nil
		}
		copy(tail[:], text[n-2:])
		total += n
		if n, whole, err = x.fill(f); err != nil {
			return unknown, err
		}
	}
}

// fill reads until the buffer is full or the file ends.
func (x *extractor) fill(f io.Reader) (n int, whole bool, err error) {
	for n < len(x.buf) {
		m, err := f.Read(x.buf[n:])
		n += m
		switch {
		case errors.Is(err, io.EOF):
			return n, true, nil
		case err != nil:
			return n, false, err
		}
	}
	return n, false, nil
}

// add notes the grams of a piece of text that follows window.
func (x *extractor) add(window uint32, text []byte) uint32 {
	for len(text) > 0 {
		piece := text[:min(len(text), freshSize)]
		text = text[len(piece):]
		x.text.grams = slices.Grow(x.text.grams, freshSize)
		end := len(x.text.grams)
		var n uint32
		var high bool
		window, n, high = mark(x.seen, x.symbols, window, piece, (*[freshSize]uint32)(x.text.grams[end:end+freshSize]))
		x.text.grams = x.text.grams[:end+int(n)]
		x.high = x.high || high
	}
	return window
}

// begin begins a document.
func (x *extractor) begin(at int) {
	x.text.docs = append(x.text.docs, document{begin: uint32(at)})
}

// cut notes the grams of a piece of a large file, and begins another document after each
// partSize bytes.
func (x *extractor) cut(ctx context.Context, window uint32, piece []byte, at int) (uint32, error) {
	for len(piece) >= partSize && len(x.text.grams) < partGrams {
		if err := x.pace.Keep(ctx); err != nil {
			return 0, err
		}
		end := bytes.LastIndexByte(piece[:partSize], '\n') + 1
		if end == 0 {
			end = partSize
			window = x.add(window, piece[:end])
		} else {
			x.add(window, piece[:end])
			x.finish()
			x.begin(at + end)
			window = lineEnd
		}
		piece, at = piece[end:], at+end
	}
	return x.add(window, piece), x.pace.Keep(ctx)
}

// finish ends a document and clears its grams.
func (x *extractor) finish() {
	start := 0
	n := len(x.text.docs)
	if n > 1 {
		start = x.text.docs[n-2].grams
	}
	var blank [4]uint64 // no gram that was fresh has a line's end as its first or second symbol
	for third := range blank {
		blank[third] = outsideLine(1<<(2*symbolBits-5) | 1<<(symbolBits-5) | third)
	}
	for _, g := range x.text.grams[start:] {
		x.seen[g/64] = blank[g/64%4]
	}
	x.text.docs[n-1].grams = len(x.text.grams)
}

// foldsOddly reports whether text has a letter beyond ASCII that folds to an ASCII letter:
// U+212A or U+017F.
func foldsOddly(text []byte) bool {
	return bytes.Contains(text, []byte("\u212a")) || bytes.Contains(text, []byte("\u017f"))
}
