package change

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// Content is text that a caller wants in a file. It takes the form of the present content.
type Content struct {
	Path, Text string
	Encoding   string // as the caller names it; "" = that of the file
}

// composed is the new bytes of a file.
type composed struct {
	data  []byte
	form  textfile.Form // of data
	was   textfile.Form // of the old content
	notes []string
}

// byteOrderMark is the mark as a character.
const byteOrderMark = "\ufeff"

// replace makes the content the whole of the file: with the byte order mark, the
// encoding and the line endings of the old content.
func (c Content) replace(old workspace.Old) (composed, error) {
	out := composed{was: textfile.Sniff(old.Data, !old.Cut)}
	text := c.Text
	var err error
	if out.form, err = c.form(old, &out); err != nil {
		return composed{}, err
	}
	if rest, marked := strings.CutPrefix(text, byteOrderMark); marked && unicodeForm(out.form.Encoding) {
		text, out.form.BOM = rest, markLen(out.form.Encoding)
	}
	if !out.was.Binary {
		text = out.endings(text, old.Data, true)
	}
	if out.form.BOM > 0 {
		text = byteOrderMark + text
	}
	out.data, err = c.encode(text, out.form, out.was, len(old.Data) > 0)
	if out.form.BOM == 0 && out.form.Encoding.Unit() == 1 && ascii(text) {
		out.form = textfile.Form{} // as readers will detect it
	}
	if bytes.IndexByte(out.data, 0) >= 0 && out.form.Encoding.Unit() == 1 {
		out.notes = append(out.notes, "it holds NUL characters, so other tools take it for binary")
	}
	return out, err
}

// extend appends the content to the file; data is the added part. tail has the last bytes of
// the old content, at least one unit of its encoding.
func (c Content) extend(old workspace.Old, tail []byte) (composed, error) {
	if !old.Exists || len(tail) == 0 {
		return c.replace(old)
	}
	out := composed{was: textfile.Sniff(old.Data, !old.Cut)}
	if out.was.Binary {
		if out.was.Undecodable != "" {
			return composed{}, view.Undecodable(c.Path, out.was.Undecodable)
		}
		return composed{}, tools.Errorf(tools.InvalidArgument, "%s is binary; text cannot be appended to it", c.Path).
			WithHint("mode=overwrite replaces it")
	}
	out.form = out.was
	if c.Encoding != "" {
		named, err := view.LookupEncoding(c.Encoding)
		if err != nil {
			return composed{}, err
		}
		if !mixes(old, out.was, named) {
			return composed{}, tools.Errorf(tools.InvalidArgument, "%s is %s; the appended text must be too", c.Path, out.was.Encoding.Name()).
				WithHint("leave encoding out; to convert the file, overwrite it")
		}
		out.form = textfile.Form{Encoding: named, BOM: out.was.BOM}
	} else if err := c.refuseGuess(old, out.was); err != nil {
		return composed{}, err
	}
	text := out.endings(c.Text, old.Data, false)
	unit := out.form.Encoding.Unit()
	if out.form.Encoding.LastIndexLF(tail) != len(tail)-unit && !strings.HasPrefix(text, "\n") && !strings.HasPrefix(text, "\r\n") && text != "" {
		out.notes = append(out.notes, "the file had no final newline, so the content begins on its last line")
	}
	var err error
	out.data, err = c.encode(text, out.form, out.was, true)
	return out, err
}

// mixes reports whether text in the named encoding may follow the old content: that content is
// in the same encoding, or fits it.
func mixes(old workspace.Old, was textfile.Form, named textfile.Encoding) bool {
	switch {
	case named.Name() == was.Encoding.Name():
		return true
	case was.BOM > 0 || named.Unit() != was.Encoding.Unit():
		return false
	}
	return was.Source != textfile.Certain || !old.Cut && ascii(old.Data)
}

// form chooses the form of a new content.
func (c Content) form(old workspace.Old, out *composed) (textfile.Form, error) {
	if c.Encoding != "" {
		named, err := view.LookupEncoding(c.Encoding)
		if err != nil {
			return textfile.Form{}, err
		}
		form := textfile.Form{Encoding: named}
		switch {
		case out.was.BOM > 0 && out.was.Encoding.Name() == named.Name(), named.Unit() > 1:
			form.BOM = markLen(named)
		case strings.HasPrefix(strings.ToLower(c.Encoding), "utf-8-"): // with its signature
			form.BOM = markLen(named)
		}
		return form, nil
	}
	if out.was.Binary {
		if old.Exists {
			out.notes = append(out.notes, "it was binary ("+textfile.MIME(old.Data, out.was)+"); now it is text")
		}
		return textfile.Form{}, nil
	}
	return out.was, c.refuseGuess(old, out.was)
}

// refuseGuess refuses characters beyond ASCII that are new to a file whose encoding is only
// guessed: a wrong guess would spoil them. UTF-16 is never a guess: half of its bytes show it.
func (c Content) refuseGuess(old workspace.Old, form textfile.Form) error {
	told := form.Source != textfile.Detected && form.Source != textfile.Guessed
	if told || form.Encoding.Unit() > 1 || ascii(c.Text) {
		return nil
	}
	there := map[rune]bool{}
	for _, r := range string(form.Encoding.Decode(old.Data)) {
		there[r] = true
	}
	for _, r := range c.Text {
		if r >= utf8.RuneSelf && !there[r] {
			name := form.Encoding.Name()
			if form.Source == textfile.Guessed {
				return tools.Errorf(tools.InvalidArgument, "%s: %s is new to it, and its encoding could only be guessed", c.Path, textfile.Visible(string(r))).
					WithHint("find out which it is and name it: encoding=NAME; or write ASCII and characters that are there already")
			}
			return tools.Errorf(tools.InvalidArgument, "%s: %s is new to it, and its encoding is only detected to be %s", c.Path, textfile.Visible(string(r)), name).
				WithHint("name the encoding: encoding=%s if that is right", name)
		}
	}
	return nil
}

// endings gives the text the line endings that most lines of the old content have.
// A text for a file without any is left as it is.
func (out *composed) endings(text string, old []byte, whole bool) string {
	n := out.was.Encoding.Count(old[out.was.BOM:])
	if n.LF+n.CRLF == 0 {
		return text
	}
	to := "LF"
	plain := strings.ReplaceAll(text, "\r\n", "\n")
	converted := plain != text
	if n.CRLF > n.LF {
		to, converted = "CRLF", converted && strings.Count(text, "\r\n") < strings.Count(text, "\n")
		plain = strings.ReplaceAll(plain, "\n", "\r\n")
	}
	switch {
	case whole && n.LF > 0 && n.CRLF > 0:
		out.notes = append(out.notes, fmt.Sprintf("line endings were %s; now all are %s", n, to))
	case converted:
		out.notes = append(out.notes, fmt.Sprintf("the content's line endings became %s, which the file has", to))
	}
	return plain
}

// encode returns the bytes of a text, which begins with its byte order mark where
// the form has one. existing says that there is an old content in another form.
func (c Content) encode(text string, form, was textfile.Form, existing bool) ([]byte, error) {
	data, err := form.Encoding.Encode(text)
	e, ok := errors.AsType[*textfile.EncodeError](err)
	if !ok {
		return data, err
	}
	refused := tools.Errorf(tools.InvalidArgument, "%s: line %d of the content: %s", c.Path, 1+strings.Count(text[:e.Offset], "\n"), e)
	refused.Err = err
	if existing && c.Encoding == "" {
		return nil, refused.WithHint("the file is %s; with mode=overwrite, encoding=utf-8 converts it", was.Encoding.Name())
	}
	return nil, refused.WithHint("use encoding=utf-8, or another character")
}

// describeForm describes the form of a text file unless it is the usual one, UTF-8 with line
// feeds. text is its content after the byte order mark.
func describeForm(form textfile.Form, text []byte) string {
	name := form.Encoding.Name()
	if form.BOM > 0 {
		name += " with BOM"
	}
	endings := form.Encoding.Count(text).String()
	if name == "utf-8" && (endings == "LF" || endings == "") {
		return ""
	}
	if endings != "" {
		name += ", " + endings
	}
	return "; " + name
}

// unicodeForm reports whether an encoding has a byte order mark.
func unicodeForm(e textfile.Encoding) bool { return e.UTF8() || e.Unit() > 1 }

// markLen is the length of an encoding's byte order mark.
func markLen(e textfile.Encoding) int {
	switch {
	case e.UTF8():
		return len(byteOrderMark)
	case e.Unit() > 1:
		return e.Unit()
	}
	return 0
}

func ascii[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// lineCount is the number of lines of a text whose lines end with line feeds.
func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
