package view

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
	// WholeSize is the largest file that is read whole, so that its hash, its
	// lines and its encoding are known.
	WholeSize = 8 << 20
	// HeadSize is how much of a larger file is read to detect its form.
	HeadSize = 64 << 10
)

// Hashed returns WholeSize as text, for documents.
func Hashed() string { return textfile.Size(WholeSize) }

// Source is an open file with its form. It shows the content at the time of opening: a small
// file is held in memory, and a larger one is read only up to the size that it had then.
type Source struct {
	io.ReaderAt
	Path  string // as printed
	Size  int64
	Form  textfile.Form
	Mime  string
	Hash  string // SHA-256, or the version token of a file above WholeSize
	Data  []byte // the whole content, nil above wholeSize
	Whole bool
	file  workspace.File
	Room  int      // bytes that the body of a result may have
	index *lineMap // of a file above wholeSize
	Call  string   // how hints begin: "" = the same tool is to be called again
}

// StatusRoom is how many bytes of a result a status line may take, without the path, with a
// note about corrected arguments.
const StatusRoom = 1600

// Open opens a file. encoding, if not "", is the encoding that the caller
// names; then the file is always text.
func Open(ctx context.Context, path workspace.Path, encoding string) (*Source, error) {
	return reopenSource(ctx, path, encoding, "", nil)
}

// reopenSource opens a file of which a former content and its hash are known:
// comparing costs a tenth of hashing.
func reopenSource(ctx context.Context, path workspace.Path, encoding, hash string, former []byte) (*Source, error) {
	var named textfile.Encoding
	if encoding != "" {
		var err error
		if named, err = LookupEncoding(encoding); err != nil {
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
	s := &Source{Path: textfile.Path(path.String()), file: file}
	s.Room = tools.MaxText - len(s.Path) - StatusRoom
	head, err := s.load(file, hash, former)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if encoding == "" {
		s.Form = textfile.Sniff(head, s.Whole)
	} else {
		bom, n := textfile.BOM(head)
		s.Form = textfile.Form{Encoding: named}
		if bom.Name() == named.Name() {
			s.Form.BOM = n
		}
	}
	s.Mime = textfile.MIME(head, s.Form)
	return s, nil
}

// load reads a small file whole and the head of a larger one.
func (s *Source) load(file workspace.File, hash string, former []byte) (head []byte, err error) {
	info := file.Info()
	s.Whole = info.Size <= WholeSize
	n := info.Size
	if !s.Whole {
		n = HeadSize
	}
	head = make([]byte, n)
	got, err := io.ReadFull(io.NewSectionReader(file, 0, n), head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if !s.Whole {
		if int64(got) < n {
			return nil, s.shrunk()
		}
		s.ReaderAt, s.Size, s.Hash = file, info.Size, info.Version()
		return head, nil
	}
	head = head[:got] // shorter where the file has just been cut
	if former == nil || !bytes.Equal(former, head) {
		sum := sha256.Sum256(head)
		hash = hex.EncodeToString(sum[:])
	}
	s.ReaderAt, s.Size, s.Data = bytes.NewReader(head), int64(got), head
	s.Hash = hash
	return head, nil
}

// ID returns the content as a status line names it: "hash 0123456789ab" or "version v:…".
func (s *Source) ID() string {
	if !s.Whole {
		return "version " + s.Hash
	}
	return "hash " + ShortHash(s.Hash)
}

// ShortHash returns a hash as results show it. A version token stays as it is.
func ShortHash(hash string) string {
	if strings.HasPrefix(hash, "v:") || len(hash) <= workspace.HashDigits {
		return hash
	}
	return hash[:workspace.HashDigits]
}

// Close closes the file.
func (s *Source) Close() error { return s.file.Close() }

// fail returns the error of reading the content.
func (s *Source) fail(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return s.shrunk()
	}
	return err
}

func (s *Source) shrunk() error {
	return tools.Errorf(tools.Conflict, "%s became shorter while it was read", s.Path).
		WithHint("call read_file again")
}

// TotalLines returns the number of lines, -1 if the file is too large to count them and its
// end has not been read yet.
func (s *Source) TotalLines() int64 {
	if !s.Whole {
		return s.index.lines()
	}
	text := s.Data[s.Form.BOM:]
	n := s.Form.Encoding.CountLF(text)
	if len(text) > 0 && !s.FinalNewline() {
		n++
	}
	return int64(n)
}

// FinalNewline reports whether the last line of a file that was read whole ends
// with a line feed.
func (s *Source) FinalNewline() bool {
	unit := s.Form.Encoding.Unit()
	text := s.Data[s.Form.BOM:]
	return len(text) >= unit && len(text)%unit == 0 && s.Form.Encoding.IndexLF(text[len(text)-unit:]) == 0
}

// describe returns the form of a text file: "utf-8 with BOM".
func (s *Source) describe() string {
	text := s.Form.Encoding.Name()
	if s.Form.BOM > 0 {
		text += " with BOM"
	}
	switch s.Form.Source {
	case textfile.Guessed:
		text += " (guessed, encoding=NAME overrides)"
	case textfile.Detected, textfile.Declared:
		text += fmt.Sprintf(" (%s)", s.Form.Source)
	}
	return text
}

// Undecodable refuses a text in an encoding that is recognised and has no decoder.
func Undecodable(path, encoding string) error {
	return tools.Errorf(tools.Unsupported, "%s is text in %s, which cannot be read or changed here", path, encoding).
		WithHint("convert a copy of it: %s FILE > COPY", textfile.Converts(encoding))
}

// NotText refuses a file that cannot be changed as text.
func NotText(path string, data []byte, form textfile.Form) error {
	if form.Undecodable != "" {
		return Undecodable(path, form.Undecodable)
	}
	return tools.Errorf(tools.InvalidArgument, "%s is binary (%s)", path, textfile.MIME(data, form)).
		WithHint("if it is text, name its encoding: encoding=NAME")
}

// LookupEncoding returns the encoding of a name, or an error that names the nearest.
func LookupEncoding(name string) (textfile.Encoding, error) {
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

// ReadAll reads a file of at most so many bytes.
func ReadAll(path workspace.Path, most int64) ([]byte, error) {
	file, err := path.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, tools.Errorf(tools.TooLarge, "%s has more than %d bytes", textfile.Path(path.String()), most)
	}
	return data, err
}
