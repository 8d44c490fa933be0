package textfile

import (
	"bytes"
	"fmt"
	"strings"
)

// Endings counts the ways in which lines end.
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
