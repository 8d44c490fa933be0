package view

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
)

// byteWindow returns the bytes from offset on, at most limit and no more than
// fit into a result: as text, or as a hex dump of a binary file.
func (s *Source) byteWindow(offset int64, limit int) (Window, error) {
	start := offset
	if start < 0 {
		start = max(s.Size+start, 0)
	}
	if start >= s.Size {
		return s.pastEnd("byte_offset", offset, "byte", s.Size, s.Size-1), nil
	}
	if !s.Form.Binary {
		start -= start % int64(s.Form.Encoding.Unit())
	}
	raw := make([]byte, min(s.Size-start, int64(limit)))
	if n, err := s.ReadAt(raw, start); err == io.EOF && n < len(raw) {
		return Window{}, s.shrunk()
	} else if err != nil && err != io.EOF {
		return Window{}, err
	}
	var body []byte
	var marks textfile.Marks
	kind := s.Mime
	if s.Form.Binary {
		raw = raw[:min(len(raw), s.Room/dumpRow*dumpBytes)]
		body = appendDump(make([]byte, 0, (len(raw)/dumpBytes+1)*dumpRow), start, raw)
		body = body[:len(body)-1]
	} else {
		kind = s.describe()
		shift, err := s.shiftAt(start)
		if err != nil {
			return Window{}, err
		}
		var n int
		body, n = s.textWindow(shift, raw, start+int64(len(raw)) == s.Size, &marks)
		raw = raw[:n]
	}
	end := start + int64(len(raw))
	b := fmt.Appendf(nil, "%s: bytes %d-%d of %d; %s, %s", s.Path, start, end-1, s.Size, kind, s.ID())
	b = appendMarks(b, &marks)
	out := Window{Body: body}
	if end < s.Size {
		b = fmt.Appendf(b, "; next: byte_offset=%d", end)
		out.More = tools.NextAt("byte_offset", end)
	}
	out.Status = string(b)
	return out, nil
}

// shiftAt returns the escape sequence in force at a position, for an encoding that has such
// sequences. Lines begin without one.
func (s *Source) shiftAt(pos int64) ([]byte, error) {
	if !s.Form.Encoding.Shifts() {
		return nil, nil
	}
	before := make([]byte, min(pos, maxWindow))
	if _, err := s.ReadAt(before, pos-int64(len(before))); err != nil && err != io.EOF {
		return nil, err
	}
	return s.Form.Encoding.Shift(before[bytes.LastIndexByte(before, '\n')+1:]), nil
}

// textWindow decodes as much of raw as fits into a result, up to the end of a character; shift
// is the shift sequence in force before it, last says that raw ends the file. A window too short for one
// character takes its bytes all the same, so that the next window makes progress.
func (s *Source) textWindow(shift, raw []byte, last bool, marks *textfile.Marks) (body []byte, n int) {
	if shift != nil {
		raw = slices.Concat(shift, raw)
	}
	for take := len(raw); ; take = len(shift) + (take-len(shift))*3/4 {
		text, n := s.Form.Encoding.DecodeWindow(raw[:take], last && take == len(raw))
		if n <= len(shift) {
			text, n = s.Form.Encoding.DecodeWindow(raw[:take], true)
		}
		var found textfile.Marks
		body = found.Append(body[:0], text)
		if len(body) <= s.Room {
			marks.Merge(found)
			return body, n - len(shift)
		}
	}
}

const (
	dumpBytes = 16 // bytes of a row
	dumpRow   = 16 + 2 + 3*dumpBytes + 1 + 2 + dumpBytes + 1
)

// appendDump appends rows of the position in hex, the bytes in hex and their printable
// ASCII characters.
func appendDump(dst []byte, pos int64, data []byte) []byte {
	for len(data) > 0 {
		row := data[:min(len(data), dumpBytes)]
		data = data[len(row):]
		dst = fmt.Appendf(dst, "%08x  % -*x |", pos, 3*dumpBytes, row)
		for _, c := range row {
			if c < ' ' || c > '~' {
				c = '.'
			}
			dst = append(dst, c)
		}
		dst = append(dst, '|', '\n')
		pos += int64(len(row))
	}
	return dst
}
