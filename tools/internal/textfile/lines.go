package textfile

import (
	"context"
	"io"
)

// blockSize is how much is read at once; whole units of every encoding.
const blockSize = 256 << 10

// Lines finds lines in a file of any size, from either end, with one block of
// memory. A line ends with a line feed; text after the last one is a line too.
// Errors are those of reading, io.ErrUnexpectedEOF when the file has become
// shorter than size, and the context's.
type Lines struct {
	r     io.ReaderAt
	size  int64
	form  Form
	block []byte // content from at on
	at    int64
	buf   []byte
}

// NewLines returns the lines of the first size bytes of r.
func NewLines(r io.ReaderAt, size int64, form Form) *Lines {
	return &Lines{r: r, size: size, form: form}
}

// Start returns the position of the first line, which is after a byte order mark.
func (l *Lines) Start() int64 { return int64(l.form.BOM) }

// Skip passes n lines from the start and returns the position after them. Where
// the file has fewer, skipped is their number and pos the end of the file.
func (l *Lines) Skip(ctx context.Context, n int64) (pos, skipped int64, err error) {
	pos = l.Start()
	for pos < l.size && skipped < n {
		block, err := l.from(ctx, pos)
		if err != nil {
			return 0, 0, err
		}
		if in := int64(l.form.Encoding.CountLF(block)); skipped+in < n {
			skipped += in
			pos += int64(len(block))
			continue
		}
		for ; skipped < n; skipped++ {
			i := l.form.Encoding.IndexLF(block) + l.form.Encoding.Unit()
			block = block[i:]
			pos += int64(i)
		}
	}
	if skipped < n && pos > l.Start() {
		ended, err := l.endedAt(ctx, pos)
		if err != nil {
			return 0, 0, err
		}
		if !ended {
			skipped++
		}
	}
	return pos, skipped, nil
}

// Tail returns the position of the n-th line from the end. Where the file has
// fewer, found is their number and pos that of the first.
func (l *Lines) Tail(ctx context.Context, n int64) (pos, found int64, err error) {
	unit := int64(l.form.Encoding.Unit())
	end := l.size
	if end <= l.Start() || n <= 0 {
		return end, 0, nil
	}
	ended, err := l.endedAt(ctx, end)
	if err != nil {
		return 0, 0, err
	}
	if ended {
		end -= unit
	}
	for end > l.Start() {
		start := max((end-1)/blockSize*blockSize, l.Start())
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
	return l.Start(), found + 1, nil
}

// endedAt reports whether a line feed ends right before pos.
func (l *Lines) endedAt(ctx context.Context, pos int64) (bool, error) {
	unit := int64(l.form.Encoding.Unit())
	if pos-unit < l.Start() || pos%unit != 0 {
		return false, nil
	}
	last, err := l.read(ctx, pos-unit, int(unit))
	return err == nil && l.form.Encoding.IndexLF(last) == 0, err
}

// Line is one line of a file.
type Line struct {
	// Raw is the line's bytes without its line feed, as many as were to be kept;
	// valid until the next call.
	Raw []byte
	// Len is the length of the whole line in bytes, without its line feed.
	Len int64
	// Next is the position of the next line.
	Next int64
	// Ended reports that a line feed ends the line.
	Ended bool
}

// Line returns the line at a position, of whose bytes at most keep are kept.
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
			if !line.Ended { // the next block takes the place of this one
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

// from returns bytes from pos on, at least one whole unit where there is one.
func (l *Lines) from(ctx context.Context, pos int64) ([]byte, error) {
	if pos >= l.at && pos < l.at+int64(len(l.block)) {
		return l.block[pos-l.at:], nil
	}
	block, err := l.read(ctx, pos, int(min(l.size-pos, blockSize)))
	if err != nil {
		l.block = nil
		return nil, err
	}
	l.block, l.at = block, pos
	return block, nil
}

// read reads n bytes at pos into the one buffer.
func (l *Lines) read(ctx context.Context, pos int64, n int) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
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
