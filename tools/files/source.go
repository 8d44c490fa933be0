package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

const (
	// wholeSize is the largest file that is read whole, so that its hash, its
	// lines and its encoding are known.
	wholeSize = 8 << 20
	// headSize is what is read of a larger one to tell its form.
	headSize = 64 << 10
)

// hashed words wholeSize for documents.
func hashed() string { return fmt.Sprintf("%d MiB", wholeSize>>20) }

// source is an open file and what is known of it. What is read of it is its
// content at the time of opening: a small file is held in memory, of a larger
// one no more than the size it had is read.
type source struct {
	io.ReaderAt
	path  string // as printed
	size  int64
	form  textfile.Form
	mime  string
	id    string // "hash <sha256>" or "version <token>"
	data  []byte // the whole content, nil above wholeSize
	whole bool
	file  workspace.File
	room  int      // bytes that the body of a result may have
	index *lineMap // of a file above wholeSize
	call  string   // how hints begin: "" = the same tool is to be called again
}

// statusRoom is what a status line takes of a result, beside the path, with a note
// about mended arguments.
const statusRoom = 1600

// openSource opens a file. encoding, if not "", is the encoding that the caller
// names; then the file is text whatever it looks like.
func openSource(ctx context.Context, path workspace.Path, encoding string) (*source, error) {
	return reopenSource(ctx, path, encoding, "", nil)
}

// reopenSource opens a file of which a former content and its hash are known:
// comparing costs a tenth of hashing.
func reopenSource(ctx context.Context, path workspace.Path, encoding, hash string, former []byte) (*source, error) {
	var named textfile.Encoding
	if encoding != "" {
		var err error
		if named, err = lookupEncoding(encoding); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, err := path.Open()
	if err != nil {
		return nil, err
	}
	s := &source{path: textfile.Path(path.String()), file: file}
	s.room = tools.MaxText - len(s.path) - statusRoom
	head, err := s.load(file, hash, former)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if encoding == "" {
		s.form = textfile.Sniff(head, s.whole)
	} else {
		bom, n := textfile.BOM(head)
		s.form = textfile.Form{Encoding: named}
		if bom.Name() == named.Name() {
			s.form.BOM = n
		}
	}
	s.mime = textfile.MIME(head, s.form)
	return s, nil
}

// load reads a small file whole and the head of a larger one.
func (s *source) load(file workspace.File, hash string, former []byte) (head []byte, err error) {
	info := file.Info()
	s.whole = info.Size <= wholeSize
	n := info.Size
	if !s.whole {
		n = headSize
	}
	head = make([]byte, n)
	got, err := io.ReadFull(io.NewSectionReader(file, 0, n), head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if !s.whole {
		if int64(got) < n {
			return nil, s.shrunk()
		}
		s.ReaderAt, s.size, s.id = file, info.Size, "version "+info.Version()
		return head, nil
	}
	head = head[:got] // shorter where the file has just been cut
	if former == nil || !bytes.Equal(former, head) {
		sum := sha256.Sum256(head)
		hash = hex.EncodeToString(sum[:])
	}
	s.ReaderAt, s.size, s.data = bytes.NewReader(head), int64(got), head
	s.id = "hash " + hash
	return head, nil
}

// Close closes the file.
func (s *source) Close() error { return s.file.Close() }

// fail words an error of reading the content.
func (s *source) fail(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return s.shrunk()
	}
	return err
}

func (s *source) shrunk() error {
	return tools.Errorf(tools.Conflict, "%s became shorter while it was read", s.path).
		WithHint("call read_file again")
}

// totalLines returns the number of lines, -1 where the file is too large to
// count them and nobody has come to its end.
func (s *source) totalLines() int64 {
	if !s.whole {
		return s.index.lines()
	}
	text := s.data[s.form.BOM:]
	n := s.form.Encoding.CountLF(text)
	if len(text) > 0 && !s.finalNewline() {
		n++
	}
	return int64(n)
}

// finalNewline reports whether the last line of a file that was read whole ends
// with a line feed.
func (s *source) finalNewline() bool {
	unit := s.form.Encoding.Unit()
	text := s.data[s.form.BOM:]
	return len(text) >= unit && len(text)%unit == 0 && s.form.Encoding.IndexLF(text[len(text)-unit:]) == 0
}

// describe words the form of a text file: "utf-8 with BOM".
func (s *source) describe() string {
	text := s.form.Encoding.Name()
	if s.form.BOM > 0 {
		text += " with BOM"
	}
	switch s.form.Source {
	case textfile.Guessed:
		text += " (guessed, encoding=NAME overrides)"
	case textfile.Detected, textfile.Declared:
		text += fmt.Sprintf(" (%s)", s.form.Source)
	}
	return text
}

// undecodable refuses a text in an encoding that is recognised and has no decoder.
func undecodable(path, encoding string) error {
	return tools.Errorf(tools.Unsupported, "%s is text in %s, which cannot be read or changed here", path, encoding).
		WithHint("convert a copy of it: %s FILE > COPY", textfile.Converts(encoding))
}

// notText refuses a file that cannot be changed as text.
func notText(path string, data []byte, form textfile.Form) error {
	if form.Undecodable != "" {
		return undecodable(path, form.Undecodable)
	}
	return tools.Errorf(tools.InvalidArgument, "%s is binary (%s)", path, textfile.MIME(data, form)).
		WithHint("if it is text, name its encoding: encoding=NAME")
}

func lookupEncoding(name string) (textfile.Encoding, error) {
	if enc, ok := textfile.Lookup(name); ok {
		return enc, nil
	}
	if textfile.Undecodable(name) {
		return textfile.Encoding{}, tools.Errorf(tools.Unsupported, "%s cannot be read or written here", strings.ToLower(name)).
			WithHint("convert a copy of the file: %s FILE > COPY", textfile.Converts(name))
	}
	err := tools.Errorf(tools.InvalidArgument, "no encoding is called %q", name)
	if near := schema.Nearest(strings.ToLower(name), textfile.Names()); near != "" {
		return textfile.Encoding{}, err.WithHint("did you mean %q", near)
	}
	return textfile.Encoding{}, err.WithHint("there are: %s", strings.Join(textfile.Names(), ", "))
}
