package view

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"toolcrib/tools"
	"toolcrib/tools/internal/picture"
	"toolcrib/tools/internal/text/textfile"
)

const (
	// NotebookSize is the largest notebook that is shown as one.
	NotebookSize = 32 << 20
	// NotebookPictures is the most images of one result.
	NotebookPictures = 4
)

// notebook is a Jupyter notebook, nbformat 4.
type notebook struct {
	Cells    []cell `json:"cells"`
	Format   int    `json:"nbformat"`
	Minor    int    `json:"nbformat_minor"`
	Metadata struct {
		Kernel struct {
			Name string `json:"name"`
		} `json:"kernelspec"`
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
	} `json:"metadata"`
}

type cell struct {
	Type        string                `json:"cell_type"`
	Source      multiline             `json:"source"`
	Count       *int                  `json:"execution_count"`
	Outputs     []output              `json:"outputs"`
	Attachments map[string]mimeBundle `json:"attachments"`
}

type output struct {
	Type      string     `json:"output_type"`
	Name      string     `json:"name"`
	Text      multiline  `json:"text"`
	Data      mimeBundle `json:"data"`
	ErrorName string     `json:"ename"`
	Value     string     `json:"evalue"`
	Traceback []string   `json:"traceback"`
}

// mimeBundle is one thing in several media types.
type mimeBundle map[string]json.RawMessage

// multiline is text as a string or as a list of its lines.
type multiline string

// UnmarshalJSON takes both forms.
func (m *multiline) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		var lines []string
		if err := json.Unmarshal(data, &lines); err != nil {
			return err
		}
		n := 0
		for _, line := range lines {
			n += len(line)
		}
		all := make([]byte, 0, n)
		for _, line := range lines {
			all = append(all, line...)
		}
		*m = multiline(all)
		return nil
	}
	return json.Unmarshal(data, (*string)(m))
}

// notebook returns the notebook that a text file holds, by its content.
func (s *Source) notebook() (*notebook, bool) {
	if s.Size > NotebookSize || !s.Form.Encoding.UTF8() {
		return nil, false
	}
	data := s.Data
	if !s.Whole {
		head := make([]byte, notebookHead)
		n, err := s.ReadAt(head, 0)
		if err != nil || !startsNotebook(head[:n]) {
			return nil, false
		}
		data = make([]byte, s.Size)
		if _, err := io.ReadFull(io.NewSectionReader(s, 0, s.Size), data); err != nil {
			return nil, false
		}
	}
	data = data[s.Form.BOM:]
	if !startsNotebook(data) || !bytes.Contains(data, []byte(`"nbformat"`)) {
		return nil, false
	}
	var book notebook
	if err := json.Unmarshal(data, &book); err != nil || book.Format != 4 || book.Cells == nil {
		return nil, false
	}
	return &book, true
}

// notebookHead is how much of a file shows that it may be a notebook.
const notebookHead = 4 << 10

// startsNotebook reports whether a head is that of a JSON object whose keys can be
// those of a notebook.
func startsNotebook(head []byte) bool {
	head = bytes.TrimLeft(head[:min(len(head), notebookHead)], " \t\r\n")
	return bytes.HasPrefix(head, []byte{'{'}) &&
		(bytes.Contains(head, []byte(`"cells"`)) || bytes.Contains(head, []byte(`"metadata"`)) || bytes.Contains(head, []byte(`"nbformat"`)))
}

// bookWindow shows lines of a notebook as it is rendered, with the images among
// them.
func (r *Reader) bookWindow(ctx context.Context, s *Source, book *notebook, in Request) (Window, error) {
	page := renderBook(book)
	total := int64(len(page.lines))
	offset := in.Offset
	if offset < 0 {
		offset = max(total+offset+1, 1)
	}
	first := max(offset, 1)
	if first > total && total > 0 {
		return s.pastEnd("offset", in.Offset, "line", total, total), nil
	}
	var out Window
	var marks textfile.Marks
	body := make([]byte, 0, 4096)
	next := first
	for _, line := range page.lines[first-1 : min(first-1+int64(in.Limit), total)] {
		if err := ctx.Err(); err != nil {
			return Window{}, err
		}
		text := line.text
		var media []tools.Block
		if line.picture != nil {
			var err error
			if text, media, err = r.bookPicture(ctx, line, len(out.Media), fmt.Sprintf("%soffset=%d limit=1", s.Call, next)); err != nil {
				return Window{}, err
			}
		}
		size := len(body)
		var found textfile.Marks
		body = append(found.Append(body, []byte(text)), '\n')
		if len(body) > s.Room {
			body = body[:size]
			break
		}
		marks.Merge(found)
		out.Media = append(out.Media, media...)
		next++
	}
	b := fmt.Appendf(nil, "%s: notebook, %s, %s; ", s.Path, book.describe(), textfile.Count(len(book.Cells), "cell"))
	switch {
	case next > first:
		b = fmt.Appendf(b, "lines %d-%d of %d as rendered, ", first, next-1, total)
	case total > 0:
		b = fmt.Appendf(b, "line %d of %d has no room, ", first, total)
	}
	b = fmt.Appendf(b, "%s, %s", textfile.Size(s.Size), s.ID())
	b = appendMarks(b, &marks)
	b = append(b, "; edits are of the raw JSON, which encoding=utf-8 or byte_offset shows"...)
	if next <= total {
		b = fmt.Appendf(b, "; next: %soffset=%d", s.Call, next)
		out.More = tools.NextAt("offset", next)
	}
	out.Status, out.Body = string(b), bytes.TrimSuffix(body, []byte{'\n'})
	return out, nil
}

// describe names the format and the language.
func (b *notebook) describe() string {
	text := fmt.Sprintf("nbformat %d.%d", b.Format, b.Minor)
	for _, name := range []string{b.Metadata.Language.Name, b.Metadata.Kernel.Name} {
		if name != "" {
			return text + ", " + textfile.Path(textfile.Cut(name, 0, 0, 40))
		}
	}
	return text
}

// bookPicture describes an image of a notebook in its line, and returns it as a block while a
// result has room for another.
func (r *Reader) bookPicture(ctx context.Context, line bookLine, shown int, call string) (string, []tools.Block, error) {
	if shown == NotebookPictures || r.Pictures == nil {
		return fmt.Sprintf("[%s, not shown here: %s shows it]", line.text, call), nil, nil
	}
	data, err := decodePicture(line.picture)
	if err == nil {
		var pic picture.Picture
		if pic, err = r.Pictures.Show(ctx, io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), line.text); err == nil {
			text := fmt.Sprintf("[%s, %dx%d: image %d of this result", line.text, pic.Width, pic.Height, shown+1)
			if pic.How != "" {
				text += ", " + pic.How
			}
			return text + "]", []tools.Block{pic.Block}, nil
		}
	}
	if bad, ok := errors.AsType[*picture.Error](err); ok {
		return fmt.Sprintf("[%s, not shown: %s]", line.text, bad), nil, nil
	}
	return "", nil, err
}
