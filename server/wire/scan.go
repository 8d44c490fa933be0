package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// The functions below walk JSON that encoding/json has already found valid, so
// they only have to find where a value ends.

// maxMembers is the most members of an object that is split.
const maxMembers = 1000

// Split returns the members of a JSON object; one more than maxMembers where
// there are too many.
func Split(object json.RawMessage) Members {
	var out Members
	for i := next(object, 1); object[i] != '}' && len(out) <= maxMembers; {
		end := valueEnd(object, i)
		key := Unquote(object[i:end])
		i = next(object, next(object, end)+1) // over the colon
		end = valueEnd(object, i)
		out = append(out, member{key, object[i:end]})
		if i = next(object, end); object[i] == ',' {
			i = next(object, i+1)
		}
	}
	return out
}

// Elements returns the elements of a JSON array, at most limit of them; more
// reports that there are others.
func Elements(array json.RawMessage, limit int) (out []json.RawMessage, more bool) {
	for i := next(array, 1); array[i] != ']'; {
		if len(out) == limit {
			return out, true
		}
		end := valueEnd(array, i)
		out = append(out, array[i:end])
		if i = next(array, end); array[i] == ',' {
			i = next(array, i+1)
		}
	}
	return out, false
}

// next returns the first index from i on that is not white space.
func next(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r' {
		i++
	}
	return i
}

// valueEnd returns the index after the value that starts at i.
func valueEnd(b []byte, i int) int {
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		depth := 0
		for ; ; i++ {
			switch b[i] {
			case '"':
				i = stringEnd(b, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			return i
		}
		i++
	}
	return i
}

func stringEnd(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// Unquote returns the text of a JSON string.
func Unquote(raw json.RawMessage) string {
	for _, c := range raw {
		if c == '\\' {
			var s string
			if err := json.Unmarshal(raw, &s); err != nil {
				return string(raw) // not reached: raw is a valid string
			}
			return s
		}
	}
	return string(raw[1 : len(raw)-1])
}

// MaxMessage is the longest message in bytes.
const MaxMessage = 16 << 20

// LineReader reads lines of at most MaxMessage bytes. A longer line is skipped to its end
// without being stored.
type LineReader struct{ r *bufio.Reader }

// NewLineReader returns a reader of the lines of r.
func NewLineReader(r io.Reader) *LineReader {
	return &LineReader{bufio.NewReaderSize(r, 64<<10)}
}

// Next returns the next line, which the caller may keep. For a line that is too long, it
// returns only the id, nil if there is none, and sets tooLong. The last line needs no
// line feed; after it, the error is io.EOF.
func (l *LineReader) Next() (line []byte, tooLong bool, err error) {
	var skipped idFinder
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case tooLong:
			skipped.feed(part)
		case len(line)+len(part) > MaxMessage:
			skipped.feed(line)
			skipped.feed(part)
			line, tooLong = nil, true
		default:
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) && (tooLong || len(line) > 0) {
			err = nil
		}
		if tooLong {
			line = skipped.found()
		}
		return line, tooLong, err
	}
}

// IDOf returns the id of a request that cannot be parsed, nil if none is certain.
func IDOf(text []byte) json.RawMessage {
	var f idFinder
	f.feed(text)
	return f.found()
}

// maxID is the longest id in bytes that an idFinder finds.
const maxID = 4 << 10

// idFinder looks for the id in the text of a request, so that its sender gets an answer.
// The text may come in parts and need be neither JSON nor UTF-8; no more of it is held
// than one key or value.
type idFinder struct {
	depth           int
	quoted, escaped bool
	key             string // at depth 1: that before the colon
	token           []byte // likewise: the current token

	ID       json.RawMessage
	ids      int
	method   bool
	response bool
}

func (f *idFinder) feed(part []byte) {
	for _, c := range part {
		if f.quoted {
			f.hold(c)
			f.quoted = f.escaped || c != '"'
			f.escaped = !f.escaped && c == '\\'
			continue
		}
		switch c {
		case '"':
			f.quoted = true
			f.hold(c)
		case '{', '[':
			f.hold(c) // no id begins with it
			f.depth++
		case '}', ']':
			f.member()
			f.depth--
		case ',':
			f.member()
		case ':':
			f.colon()
		case ' ', '\t', '\r', '\n':
		default:
			f.hold(c)
		}
	}
}

func (f *idFinder) hold(c byte) {
	if f.depth == 1 && len(f.token) <= maxID {
		f.token = append(f.token, c)
	}
}

// colon takes note of the key of a member.
func (f *idFinder) colon() {
	if f.depth != 1 {
		return
	}
	f.key = ""
	if json.Unmarshal(f.token, &f.key) == nil {
		f.method = f.method || f.key == "method"
		f.response = f.response || f.key == "result" || f.key == "error"
	}
	f.token = f.token[:0]
}

// member takes note of the value of a member, which has ended.
func (f *idFinder) member() {
	if f.depth != 1 {
		return
	}
	if f.key == "id" {
		f.ids++
		if utf8.Valid(f.token) && json.Valid(f.token) && ValidID(f.token) {
			f.ID = bytes.Clone(f.token)
		}
	}
	f.key, f.token = "", f.token[:0]
}

// found returns the id, nil if there is none or several, or where it belongs to a
// response.
func (f *idFinder) found() json.RawMessage {
	if f.ids != 1 || f.response && !f.method {
		return nil
	}
	return f.ID
}
