package ole

import (
	"encoding/binary"
	"strconv"
	"unicode/utf16"

	"toolcrib/tools/internal/text/textfile"
)

// The kinds of records of a workbook that are read.
const (
	biffFormula   = 0x0006
	biffEOF       = 0x000A
	biffDate1904  = 0x0022
	biffNote      = 0x001C
	biffFilePass  = 0x002F
	biffContinue  = 0x003C
	biffCodePage  = 0x0042
	biffObject    = 0x005D
	biffSheet     = 0x0085
	biffMulRK     = 0x00BD
	biffRichLabel = 0x00D6
	biffXF        = 0x00E0
	biffStrings   = 0x00FC
	biffLabelSST  = 0x00FD
	biffObjText   = 0x01B6
	biffNumber    = 0x0203
	biffLabel     = 0x0204
	biffBool      = 0x0205
	biffString    = 0x0207
	biffRK        = 0x027E
	biffFormat    = 0x041E
	biffBegin     = 0x0809
)

// record is one of a workbook; more are those that continue it.
type record struct {
	kind uint16
	body []byte
	more [][]byte
}

// nextRecord returns the record at an offset of a stream and where the next one begins; false = the
// stream ends.
func nextRecord(data []byte, at int) (r record, after int, ok bool) {
	one := func() (kind uint16, body []byte, ok bool) {
		if at < 0 || at+4 > len(data) {
			return 0, nil, false
		}
		kind = binary.LittleEndian.Uint16(data[at:])
		size := int(binary.LittleEndian.Uint16(data[at+2:]))
		body = data[at+4 : min(at+4+size, len(data))]
		at += 4 + size
		return kind, body, true
	}
	if r.kind, r.body, ok = one(); !ok {
		return r, at, false
	}
	for at+4 <= len(data) && binary.LittleEndian.Uint16(data[at:]) == biffContinue {
		_, body, _ := one()
		r.more = append(r.more, body)
	}
	return r, at, true
}

// texts reads the texts of a record and of those that continue it. A text that goes on in
// the next one says again there how its characters are stored.
type texts struct {
	rest []byte
	more [][]byte
}

// bytes returns n bytes; fewer at the end.
func (t *texts) bytes(n int) []byte {
	var got []byte
	for n > 0 {
		if len(t.rest) == 0 && !t.turn() {
			break
		}
		part := t.rest[:min(n, len(t.rest))]
		t.rest, n = t.rest[len(part):], n-len(part)
		if got == nil && n == 0 {
			return part
		}
		got = append(got, part...)
	}
	return got
}

func (t *texts) turn() bool {
	if len(t.more) == 0 {
		return false
	}
	t.rest, t.more = t.more[0], t.more[1:]
	return true
}

func (t *texts) number(n int) int {
	var b [8]byte
	copy(b[:], t.bytes(n))
	return int(binary.LittleEndian.Uint32(b[:]))
}

// ended reports whether nothing is left.
func (t *texts) ended() bool { return len(t.rest) == 0 && len(t.more) == 0 }

// characters reads so many, which are wide or narrow.
func (t *texts) characters(n int, wide bool) string {
	var all []uint16
	for n > 0 {
		if len(t.rest) == 0 {
			if !t.turn() {
				break
			}
			wide = len(t.rest) > 0 && t.rest[0]&1 != 0
			t.rest = t.rest[min(1, len(t.rest)):]
			continue
		}
		if wide {
			got := words(t.rest[:min(2*n, len(t.rest))])
			if len(got) == 0 {
				break // half a character
			}
			all = append(all, got...)
			t.rest, n = t.rest[2*len(got):], n-len(got)
			continue
		}
		part := t.rest[:min(n, len(t.rest))]
		for _, c := range part {
			all = append(all, uint16(c))
		}
		t.rest, n = t.rest[len(part):], n-len(part)
	}
	return string(utf16.Decode(all))
}

// rich reads a text with what is said of its parts. length is the bytes of its size.
func (t *texts) rich(length int) string {
	n := t.number(length)
	flags := t.number(1)
	runs, extra := 0, 0
	if flags&8 != 0 {
		runs = t.number(2)
	}
	if flags&4 != 0 {
		extra = t.number(4)
	}
	text := t.characters(n, flags&1 != 0)
	t.bytes(4 * runs)
	t.bytes(extra)
	return text
}

// text reads the text of a record from an offset on. length is the bytes of its size.
func (b *workbook) text(r record, from, length int) string {
	t := &texts{rest: r.body[min(from, len(r.body)):], more: r.more}
	if b.wide {
		return t.rich(length)
	}
	return string(b.encoding.Decode(t.bytes(t.number(length))))
}

// codePageName returns the name of the encoding of texts of bytes.
func codePageName(number int) string {
	if name, ok := map[int]string{932: "shift_jis", 936: "gb18030", 949: "euc-kr", 950: "big5", 10000: "macintosh", 32768: "macintosh"}[number]; ok {
		return name
	}
	return "windows-" + strconv.Itoa(number)
}

// codePage returns the encoding of texts of bytes; if it is unknown, that of the West.
func codePage(number int) textfile.Encoding {
	if e, ok := textfile.Lookup(codePageName(number)); ok {
		return e
	}
	e, _ := textfile.Lookup("windows-1252")
	return e
}
