package server

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// idOf returns the id of a request that cannot be taken apart, nil where none is sure.
func idOf(text []byte) json.RawMessage {
	var f idFinder
	f.feed(text)
	return f.found()
}

// maxID is the longest id in bytes that an idFinder finds.
const maxID = 4 << 10

// idFinder looks for the id in the text of a request, so that whoever waits for its
// answer gets one. The text may come in parts and need be neither JSON nor UTF-8; no
// more of it is held than one key or value.
type idFinder struct {
	depth           int
	quoted, escaped bool
	key             string // at depth 1: that before the colon
	token           []byte // likewise: what stands there now

	id       json.RawMessage
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
		if utf8.Valid(f.token) && json.Valid(f.token) && validID(f.token) {
			f.id = bytes.Clone(f.token)
		}
	}
	f.key, f.token = "", f.token[:0]
}

// found returns the id, nil where there is none or several, or where it belongs to a
// response.
func (f *idFinder) found() json.RawMessage {
	if f.ids != 1 || f.response && !f.method {
		return nil
	}
	return f.id
}
