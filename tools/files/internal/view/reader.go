package view

import (
	"context"
	"fmt"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/picture"
	"toolcrib/workspace"
)

// Request says which part of a file to show.
type Request struct {
	Offset     int64  // number of the first line, counted from 1; negative counts from the end
	Limit      int    // most lines
	Numbers    bool   // each line is shown with its number
	ByteOffset *int64 // bytes are shown instead of lines, from this one on
	ByteLimit  int    // most bytes
	Encoding   string // as the caller names it; "" = as detected
}

// Window is a part of a file, or an image or sound.
type Window struct {
	// Status is one line: the window, the form of the file, and the call for the next part.
	Status string
	// Body is the lines or the hex dump, without a last newline, or the decoded bytes just as
	// they are; "" if there is nothing to show.
	Body []byte
	// Media has the images and sounds, in the order in which Status and Body name them.
	Media []tools.Block
	tools.More
}

// Content returns the text, the images and the sounds.
func (o Window) Content() []tools.Block {
	return append([]tools.Block{tools.Text(o.Text())}, o.Media...)
}

// Text returns the result as text.
func (o Window) Text() string {
	if len(o.Body) == 0 {
		return o.Status
	}
	var b strings.Builder
	b.Grow(o.Size())
	b.WriteString(o.Status)
	b.WriteByte('\n')
	b.Write(o.Body)
	return b.String()
}

// Size is the length of the text, or one more.
func (o Window) Size() int { return len(o.Status) + 1 + len(o.Body) }

// Reader reads files for the tools that show them.
type Reader struct {
	Seen     *Seen              // nil = nothing is remembered
	Lines    *LineIndex         // likewise
	Pictures *picture.Converter // nil = images and sounds are named only
}

// Open opens a file and notes that the caller has seen this version of it.
func (r *Reader) Open(ctx context.Context, path workspace.Path, encoding string) (*Source, error) {
	principal := tools.Session(ctx).Principal
	hash, former, _ := r.Seen.Last(principal, path.String())
	src, err := reopenSource(ctx, path, encoding, hash, former)
	if err != nil {
		return nil, err
	}
	if !src.Whole {
		src.index = r.Lines.of(path, src.file.Info(), src.Form)
	}
	content := src.Data
	if src.Form.Binary { // binary files are not edited as text
		content = nil
	}
	r.Seen.Note(principal, path.String(), src.Hash, content)
	return src, nil
}

// Show returns the part of an open file that is asked for.
func (r *Reader) Show(ctx context.Context, s *Source, in Request) (Window, error) {
	switch {
	case s.Size == 0:
		return Window{Status: fmt.Sprintf("%s: empty file; %s", s.Path, s.ID())}, nil
	case in.ByteOffset != nil:
		return s.byteWindow(*in.ByteOffset, in.ByteLimit)
	case s.Form.Undecodable != "":
		return Window{}, Undecodable(s.Path, s.Form.Undecodable)
	case s.Form.Binary:
		return r.media(ctx, s)
	}
	if in.Encoding == "" {
		if book, ok := s.notebook(); ok {
			return r.bookWindow(ctx, s, book, in)
		}
	}
	return s.lineWindow(ctx, in.Offset, in.Limit, in.Numbers)
}
