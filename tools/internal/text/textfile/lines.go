package textfile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
)

const (
	// firstBlock is the first block, which is mostly enough for a page; each further block
	// is twice as large, up to blockSize. All are whole units of every encoding.
	firstBlock = 64 << 10
	blockSize  = 256 << 10
)

// Lines finds lines in a file of any size, from either end, with one block of memory. A
// line ends with a line feed; text after the last one is a line too. Errors are those of
// reading, io.ErrUnexpectedEOF if the file is now shorter than size, and the context's.
type Lines struct {
	// Passed, if set, gets the position of a line that Skip passes, at most once a block.
	Passed func(Position)

	r     io.ReaderAt
	data  []byte // the whole content, instead of r
	size  int64
	form  Form
	block []byte // content from at on
	at    int64
	next  int // bytes of the next block
	buf   []byte
}

// NewLines returns the lines of the first size bytes of r.
func NewLines(r io.ReaderAt, size int64, form Form) *Lines {
	return &Lines{r: r, size: size, form: form, next: firstBlock}
}

// LinesOf returns the lines of a content in memory.
func LinesOf(data []byte, form Form) *Lines {
	return &Lines{data: data, size: int64(len(data)), form: form, next: blockSize}
}

// Position is the beginning of a line: at byte Pos, after Line others.
type Position struct{ Line, Pos int64 }

// Start returns the position of the first line, which is after a byte order mark.
func (l *Lines) Start() Position { return Position{Pos: int64(l.form.BOM)} }

// Skip goes from the beginning of a line to the beginning of the n-th line after it. If the
// file has fewer, it returns their number and the end of the file.
func (l *Lines) Skip(ctx context.Context, from Position, n int64) (Position, error) {
	unit := int64(l.form.Encoding.Unit())
	for from.Pos < l.size && from.Line < n {
		block, err := l.from(ctx, from.Pos)
		if err != nil {
			return Position{}, err
		}
		if in := int64(l.form.Encoding.CountLF(block)); from.Line+in < n {
			from.Line += in
			if in > 0 && l.Passed != nil {
				l.Passed(Position{Line: from.Line, Pos: from.Pos + int64(l.form.Encoding.LastIndexLF(block)) + unit})
			}
			from.Pos += int64(len(block))
			continue
		}
		for ; from.Line < n; from.Line++ {
			i := int64(l.form.Encoding.IndexLF(block)) + unit
			block = block[i:]
			from.Pos += i
		}
	}
	if from.Line < n && from.Pos > l.Start().Pos {
		ended, err := l.EndedAt(ctx, from.Pos)
		if err != nil {
			return Position{}, err
		}
		if !ended {
			from.Line++
		}
	}
	return from, nil
}

// Tail returns the position of the n-th line from the end. If the file has fewer, found is
// their number and pos that of the first.
func (l *Lines) Tail(ctx context.Context, n int64) (pos, found int64, err error) {
	unit := int64(l.form.Encoding.Unit())
	end := l.size
	if end <= l.Start().Pos || n <= 0 {
		return end, 0, nil
	}
	ended, err := l.EndedAt(ctx, end)
	if err != nil {
		return 0, 0, err
	}
	if ended {
		end -= unit
	}
	size := int64(firstBlock)
	for end > l.Start().Pos {
		start := max((end-1)/size*size, l.Start().Pos)
		size = min(2*size, blockSize)
		block, err := l.read(ctx, start, int(end-start))
		if err != nil {
			return 0, 0, err
		}
		if in := int64(l.form.Encoding.CountLF(block)); found+in < n {
			found += in
			end = start
			continue
		}
		for {
			i := l.form.Encoding.LastIndexLF(block)
			if found++; found == n {
				return start + int64(i) + unit, n, nil
			}
			block = block[:i]
		}
	}
	return l.Start().Pos, found + 1, nil
}

// EndedAt reports whether a line feed ends right before pos.
func (l *Lines) EndedAt(ctx context.Context, pos int64) (bool, error) {
	unit := int64(l.form.Encoding.Unit())
	if pos-unit < l.Start().Pos || pos%unit != 0 {
		return false, nil
	}
	last, err := l.read(ctx, pos-unit, int(unit))
	return err == nil && l.form.Encoding.IndexLF(last) == 0, err
}

// Line is one line of a file.
type Line struct {
	// Raw is the line's bytes without its line feed, at most keep of them; valid until the
	// next call.
	Raw []byte
	// Len is the length of the whole line in bytes, without its line feed.
	Len int64
	// Next is the position of the next line.
	Next int64
	// Ended reports whether a line feed ends the line.
	Ended bool
}

// Line returns the line at a position, with at most keep of its bytes.
func (l *Lines) Line(ctx context.Context, pos int64, keep int) (Line, error) {
	var line Line
	line.Next = pos
	for line.Next < l.size {
		block, err := l.from(ctx, line.Next)
		if err != nil {
			return Line{}, err
		}
		part := block
		if i := l.form.Encoding.IndexLF(block); i >= 0 {
			part, line.Ended = block[:i], true
			line.Next += int64(l.form.Encoding.Unit())
		}
		line.Next += int64(len(part))
		line.Len += int64(len(part))
		switch {
		case line.Raw == nil:
			line.Raw = part[:min(len(part), keep)]
			if !line.Ended { // the next block overwrites this one
				line.Raw = append(make([]byte, 0, 2*len(line.Raw)), line.Raw...)
			}
		case len(line.Raw) < keep:
			line.Raw = append(line.Raw, part[:min(len(part), keep-len(line.Raw))]...)
		}
		if line.Ended {
			break
		}
	}
	return line, nil
}

// from returns bytes from pos on, at least one whole unit if there is one.
func (l *Lines) from(ctx context.Context, pos int64) ([]byte, error) {
	if pos >= l.at && pos < l.at+int64(len(l.block)) {
		return l.block[pos-l.at:], nil
	}
	block, err := l.read(ctx, pos, int(min(l.size-pos, int64(l.next))))
	l.next = min(2*l.next, blockSize)
	if err != nil {
		l.block = nil
		return nil, err
	}
	l.block, l.at = block, pos
	return block, nil
}

// read returns n bytes at pos, read into the one buffer unless they are in memory.
func (l *Lines) read(ctx context.Context, pos int64, n int) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if l.data != nil {
		return l.data[pos : pos+int64(n)], nil
	}
	l.block = nil
	if cap(l.buf) < n {
		l.buf = make([]byte, n)
	}
	got, err := l.r.ReadAt(l.buf[:n], pos)
	if got == n {
		return l.buf[:n], nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

// Endings counts the line endings of a text.
type Endings struct {
	LF   int // line feed alone
	CRLF int // carriage return and line feed
	CR   int // carriage return that no line feed follows
}

// Count returns the endings in src, a whole file or a part of whole lines.
func (e Encoding) Count(src []byte) Endings {
	if e.Unit() > 1 {
		src = e.Decode(src)
	}
	lf, cr, crlf := bytes.Count(src, []byte{'\n'}), bytes.Count(src, []byte{'\r'}), 0
	if cr > 0 {
		crlf = bytes.Count(src, []byte("\r\n"))
	}
	return Endings{LF: lf - crlf, CRLF: crlf, CR: cr - crlf}
}

// String names the endings: "LF", "CRLF", "CR", "mixed (3 CRLF, 97 LF)", or ""
// for text of one line without an end.
func (n Endings) String() string {
	var names, parts []string
	for _, k := range []struct {
		name  string
		count int
	}{{"CRLF", n.CRLF}, {"LF", n.LF}, {"CR", n.CR}} {
		if k.count > 0 {
			names = append(names, k.name)
			parts = append(parts, fmt.Sprintf("%d %s", k.count, k.name))
		}
	}
	if len(names) > 1 {
		return "mixed (" + strings.Join(parts, ", ") + ")"
	}
	return strings.Join(names, "")
}
