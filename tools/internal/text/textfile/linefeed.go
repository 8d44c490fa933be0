package textfile

import "bytes"

// IndexLF returns the index of the first line feed in src, -1 if there is none; src starts
// at a unit. No encoding of [Names] has the byte of a line feed inside another character's
// unit.
func (e Encoding) IndexLF(src []byte) int {
	if e.Unit() == 1 {
		return bytes.IndexByte(src, '\n')
	}
	unit := e.lineFeed()
	for from := 0; ; {
		i := bytes.Index(src[from:], unit)
		if i < 0 {
			return -1
		}
		if i += from; i%e.unit == 0 {
			return i
		}
		from = i + 1
	}
}

// LastIndexLF returns the index of the last line feed in src, -1 if there is none; src
// starts at a unit.
func (e Encoding) LastIndexLF(src []byte) int {
	if e.Unit() == 1 {
		return bytes.LastIndexByte(src, '\n')
	}
	unit := e.lineFeed()
	for end := len(src); ; {
		i := bytes.LastIndex(src[:end], unit)
		if i < 0 || i%e.unit == 0 {
			return i
		}
		end = i + e.unit - 1
	}
}

// CountLF returns the number of line feeds in src, which starts at a unit.
func (e Encoding) CountLF(src []byte) int {
	if e.Unit() == 1 {
		return bytes.Count(src, []byte{'\n'})
	}
	n := 0
	for {
		i := e.IndexLF(src)
		if i < 0 {
			return n
		}
		n++
		src = src[i+e.unit:]
	}
}

func (e Encoding) lineFeed() []byte {
	unit := make([]byte, e.unit)
	if e.big {
		unit[e.unit-1] = '\n'
	} else {
		unit[0] = '\n'
	}
	return unit
}
