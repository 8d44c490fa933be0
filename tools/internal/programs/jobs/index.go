package jobs

import (
	"bytes"
	"sort"
)

// Of the index of lines.
const (
	every     = 64 << 10 // bytes between two marks
	mostMarks = 4096
	scan      = 64 << 10 // bytes that are looked through at a time
	lookBack  = 1 << 20  // bytes at the end in which the last lines are searched
)

// index finds lines. A mark says how many line feeds come before an offset.
type index struct {
	lines int64 // line feeds so far
	open  bool  // the last line has no line feed
	marks []mark
}

// mark is an offset with the number of line feeds before it.
type mark struct{ offset, lines int64 }

// add counts the line feeds of new output at an offset. It drops marks in the gap.
func (x *index) add(p []byte, at int64, gap func() (from, to int64)) {
	if len(p) == 0 {
		return
	}
	if last := len(x.marks) - 1; last < 0 || at-x.marks[last].offset >= every {
		if len(x.marks) >= mostMarks {
			from, to := gap()
			x.thin(from, to)
		}
		x.marks = append(x.marks, mark{at, x.lines})
	}
	x.lines += int64(bytes.Count(p, []byte{'\n'}))
	x.open = p[len(p)-1] != '\n'
}

// thin drops the marks between two offsets; if there are none, every other mark.
func (x *index) thin(from, to int64) {
	kept := x.marks[:0]
	for i, m := range x.marks {
		if m.offset < from || m.offset >= to {
			kept = append(kept, x.marks[i])
		}
	}
	if len(kept) > mostMarks/2 {
		for i := range len(kept) / 2 {
			kept[i] = kept[2*i]
		}
		kept = kept[:len(kept)/2]
	}
	x.marks = kept
}

// LineAt returns the offset of a line, counted from 1. If the line is not kept completely, it
// is the offset of the next line that is; if there are fewer lines, the end.
func (l *Log) LineAt(line int64) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line <= 1 {
		return 0, nil
	}
	if line-1 > l.index.lines {
		return l.n, nil
	}
	marks := l.index.marks
	i := sort.Search(len(marks), func(i int) bool { return marks[i].lines >= line-1 }) - 1
	at := mark{}
	if i >= 0 {
		at = marks[i]
	}
	for at.lines < line-1 {
		data, from, err := l.read(at.offset, scan)
		if err != nil || len(data) == 0 {
			return l.n, err
		}
		if from > at.offset { // the gap lies between
			next := mark{l.n, l.index.lines}
			if i+1 < len(marks) {
				next = marks[i+1]
			}
			feeds, err := l.feeds(from, next.offset)
			if err != nil {
				return from, err
			}
			if at = (mark{from, next.lines - feeds}); at.lines >= line-1 {
				if j := bytes.IndexByte(data, '\n'); j >= 0 {
					return from + int64(j) + 1, nil
				}
				return from, nil
			}
		}
		for len(data) > 0 && at.lines < line-1 {
			j := bytes.IndexByte(data, '\n')
			if j < 0 {
				at.offset += int64(len(data))
				break
			}
			at.offset += int64(j) + 1
			at.lines++
			data = data[j+1:]
		}
	}
	return at.offset, nil
}

// feeds counts the line feeds between two offsets that are kept.
func (l *Log) feeds(from, to int64) (n int64, err error) {
	for from < to {
		data, at, err := l.read(from, int(min(scan, to-from)))
		if err != nil || len(data) == 0 {
			return n, err
		}
		n += int64(bytes.Count(data, []byte{'\n'}))
		from = at + int64(len(data))
	}
	return n, nil
}

// Tail returns the offset of the last lines, with a maximum of lines and of bytes.
func (l *Log) Tail(lines int, most int64) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, first := l.gap()
	if first == l.kept {
		first = 0
	}
	first = max(first, l.kept-min(most, lookBack))
	end := l.kept
	for at := end; at > first; {
		from := max(at-scan, first)
		data, _, err := l.read(from, int(at-from))
		if err != nil {
			return first, err
		}
		if at == end && len(data) > 0 && data[len(data)-1] == '\n' {
			data = data[:len(data)-1] // it ends the last line and begins none
		}
		for len(data) > 0 {
			j := bytes.LastIndexByte(data, '\n')
			if j < 0 {
				break
			}
			if lines--; lines <= 0 {
				return from + int64(j) + 1, nil
			}
			data = data[:j]
		}
		at = from
	}
	return first, nil
}
