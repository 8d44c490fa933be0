package index

import (
	"bytes"
	"context"
	"errors"
	"io"

	"toolcrib/tools/internal/textfile"
	"toolcrib/workspace"
)

const (
	readSize = 256 << 10 // read at once
	maxText  = 64 << 20  // bytes of a file that is not looked into
	// A file that is larger than readSize is cut into documents of about partSize, of
	// whole lines: nearly every large file has the grams of any literal somewhere. What
	// follows its first partGrams grams is one document.
	partSize  = 128 << 10
	partGrams = 1 << 20
)

// extractor reads files for their grams.
type extractor struct {
	symbols *[256]byte
	seen    *[gramCount / 64]uint64 // a bit for each gram; all zero between documents
	buf     []byte
	room    []uint64 // of allocate, behind seen
	opener  workspace.Opener
	pace    *Pace
	text    extract
}

// extract is what an index needs of a text.
type extract struct {
	grams []uint32 // of one document after the other, in no order
	docs  []document
}

// document is a file or a part of one.
type document struct {
	begin uint32 // in the file
	grams int    // where those of the document end
}

func newExtractor(of *[256]byte, pace *Pace) *extractor {
	x := &extractor{symbols: of, pace: pace, buf: make([]byte, readSize)}
	seen, room, err := allocateTogether[uint64](gramCount / 64)
	if err != nil {
		seen = make([]uint64, gramCount/64)
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

// read returns the class of a file and, of one that is Indexed, its text, which is good
// until the next call. What cannot be read is Unknown. The error is that of ctx.
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
		if k == indexed && (foldsOddly(text) || foldsOddly(append(tail[:], text[:min(n, 2)]...))) {
			k = oddlyFolded
		}
		if total == 0 && whole {
			window = x.add(window, text)
		} else if window, err = x.cut(ctx, window, text, total); err != nil {
			return unknown, err
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

// add notes the grams of a piece of text that begins behind window.
func (x *extractor) add(window uint32, text []byte) uint32 {
	var fresh [freshSize]uint32
	for len(text) > 0 {
		piece := text[:min(len(text), freshSize)]
		text = text[len(piece):]
		var n uint32
		window, n = mark(x.seen, x.symbols, window, piece, &fresh)
		x.text.grams = append(x.text.grams, fresh[:n]...)
	}
	return window
}

// freshSize is how many bytes of text are gone through at once.
const freshSize = 4096

// mark notes the grams of at most freshSize bytes as seen, and returns those that were
// not. It cannot be foretold which these are, so no branch depends on it.
func mark(seen *[gramCount / 64]uint64, of *[256]byte, window uint32, text []byte, fresh *[freshSize]uint32) (end, n uint32) {
	if seen == nil || of == nil || fresh == nil {
		return window, 0 // looked at once, instead of for each byte
	}
	for _, c := range text {
		window = shift(window, of[c])
		g := gram(window)
		fresh[n%freshSize] = g
		word := &seen[g/64]
		now := *word | 1<<(g%64)
		unseen := uint32(0)
		if *word != now {
			unseen = 1
		}
		*word = now
		n += unseen
	}
	return window, n
}

// begin begins a document.
func (x *extractor) begin(at int) {
	x.text.docs = append(x.text.docs, document{begin: uint32(at)})
}

// cut notes the grams of a piece of a large file, and begins another document behind each
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

// finish ends a document: it clears what was seen and keeps the grams that a literal can
// ask for.
func (x *extractor) finish() {
	start := 0
	n := len(x.text.docs)
	if n > 1 {
		start = x.text.docs[n-2].grams
	}
	kept := x.text.grams[:start]
	for _, g := range x.text.grams[start:] {
		x.seen[g/64] = 0
		if withinLine(g) {
			kept = append(kept, g)
		}
	}
	x.text.grams, x.text.docs[n-1].grams = kept, len(kept)
}

// foldsOddly reports whether text has a letter beyond ASCII that is a spelling of one
// of ASCII when case is ignored: U+212A or U+017F.
func foldsOddly(text []byte) bool {
	return bytes.Contains(text, []byte("\u212a")) || bytes.Contains(text, []byte("\u017f"))
}
