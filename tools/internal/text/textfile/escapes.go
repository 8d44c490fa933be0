package textfile

import (
	"bytes"

	"toolcrib/tools/internal/text/textfile/internal/prose"
)

// shifted recognises encodings whose bytes are all ASCII by their escape sequences.
func shifted(head []byte) Form {
	for _, e := range []struct{ name, mark string }{
		{"iso-2022-jp", "\x1b$B"}, {"iso-2022-jp", "\x1b$@"},
		{"iso-2022-kr", "\x1b$)C"}, {"iso-2022-cn", "\x1b$)A"}, {"iso-2022-cn", "\x1b$)G"},
		{"hz-gb-2312", "~{"},
	} {
		if !bytes.Contains(head, []byte(e.mark)) {
			continue
		}
		enc, ok := Lookup(e.name)
		if !ok && bytes.Contains(head, []byte{shiftOut}) {
			return Form{Binary: true, Undecodable: e.name}
		}
		if ok && unshifted(enc, head) {
			return Form{Encoding: enc, Source: Detected}
		}
	}
	return Form{}
}

// shiftOut is the control character that begins Korean and Chinese text.
const shiftOut = 0x0e

// unshifted reports whether all of a text can be decoded and, if programs contain such
// marks too, whether it reads well.
func unshifted(enc Encoding, text []byte) bool {
	decoded, _ := enc.DecodeWindow(text, false)
	if bytes.Contains(decoded, []byte("\ufffd")) {
		return false
	}
	return enc.unshift[0] == esc || prose.Of("zh-hans").Fit(prose.OfRunes(telling(decoded))).Typical()
}
