// Package pack opens zip archives of strangers.
//
// Members are read as streams, bounded by the budget of the file. It imports the model and
// what reads XML, and must not import a reader. Start at [Open].
package pack

import (
	"archive/zip"
	"cmp"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/markup"
	"toolcrib/tools/internal/text/textfile"
)

// longestDirectory is how many bytes the directory of an archive has at most.
const longestDirectory = 16 << 20

// Archive is an open archive.
type Archive struct {
	Files  []*zip.File
	byName map[string]*zip.File
	budget *document.Budget
}

// Open reads the directory of an archive.
func Open(src document.Source, budget *document.Budget) (*Archive, error) {
	if err := budget.CheckFile(src.Size); err != nil {
		return nil, err
	}
	directory := &bounded{r: src, left: longestDirectory}
	z, err := zip.NewReader(directory, src.Size)
	directory.off = true
	switch {
	case directory.left < 0:
		return nil, &document.Error{Cause: document.TooLarge, Limit: "entries", Say: "limit of entries: the directory of the archive has more than 16 MiB"}
	case errors.Is(err, zip.ErrFormat):
		return nil, document.Errorf(document.Truncated, "the zip archive has no directory at its end, so it is not whole: %w", err)
	case err != nil:
		return nil, document.Errorf(document.Malformed, "the zip archive cannot be read: %w", err)
	}
	if err := budget.Enter(len(z.File)); err != nil {
		return nil, err
	}
	a := &Archive{Files: z.File, byName: make(map[string]*zip.File, len(z.File)), budget: budget}
	for _, f := range z.File {
		a.byName[key(f.Name)] = f
	}
	if err := a.checkOverlap(); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// checkOverlap refuses archives whose members share bytes, as those of bombs do.
func (a *Archive) checkOverlap() error {
	type extent struct{ from, to int64 }
	var extents []extent
	for _, f := range a.Files {
		if from, err := f.DataOffset(); err == nil && f.CompressedSize64 > 0 {
			extents = append(extents, extent{from, from + int64(f.CompressedSize64)})
		}
	}
	slices.SortFunc(extents, func(x, y extent) int { return cmp.Compare(x.from, y.from) })
	for i := 1; i < len(extents); i++ {
		if extents[i].from < extents[i-1].to {
			return &document.Error{Cause: document.TooLarge, Limit: "overlap", Say: "limit of overlap: members of the zip archive share bytes, as those of a bomb do"}
		}
	}
	return nil
}

// Close gives the archive's place in the nesting back.
func (a *Archive) Close() { a.budget.Leave() }

// Has reports whether there is a member.
func (a *Archive) Has(name string) bool { return a.byName[key(name)] != nil }

// key is a name as the formats compare it.
func key(name string) string {
	return strings.ToLower(strings.TrimPrefix(path.Clean(strings.ReplaceAll(name, `\`, "/")), "/"))
}

// Open opens a member. A member that is not there is an error that says malformed.
func (a *Archive) Open(name string) (io.ReadCloser, error) {
	f := a.byName[key(name)]
	if f == nil {
		return nil, document.Errorf(document.Malformed, "the file has no part %s", name)
	}
	return a.OpenFile(f)
}

// OpenFile opens a member.
func (a *Archive) OpenFile(f *zip.File) (io.ReadCloser, error) {
	if f.Flags&1 != 0 {
		return nil, document.Errorf(document.Encrypted, "the part %s is encrypted", shown(f))
	}
	r, err := f.Open()
	if err != nil {
		return nil, document.Errorf(document.Malformed, "the part %s cannot be unpacked: %w", shown(f), err)
	}
	return &member{r, a.budget, int64(f.CompressedSize64), 0}, nil
}

// ReadFile reads a member whole.
func (a *Archive) ReadFile(name string) ([]byte, error) {
	f := a.byName[key(name)]
	if f == nil {
		return nil, document.Errorf(document.Malformed, "the file has no part %s", name)
	}
	return a.Bytes(f)
}

// Bytes reads a member whole. With an error it returns what it has read.
func (a *Archive) Bytes(f *zip.File) ([]byte, error) {
	if err := a.budget.CheckRatio(int64(f.CompressedSize64), int64(min(f.UncompressedSize64, 1<<62))); err != nil {
		return nil, err
	}
	r, err := a.OpenFile(f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		if _, ours := errors.AsType[*document.Error](err); ours || a.budget.Err() != nil {
			return nil, err
		}
		return data, document.Errorf(document.Malformed, "the part %s is damaged: %w", shown(f), err)
	}
	return data, nil
}

// ReadXML reads a member. read is given a decoder at its start, and may stop at its end.
func (a *Archive) ReadXML(name string, read func(d *markup.Decoder) error) error {
	r, err := a.Open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := read(markup.New(r, a.budget)); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// Optional reads a member that a document can do without, as ReadXML does. What is wrong with
// it is a warning.
func (a *Archive) Optional(doc *document.Document, name string, read func(d *markup.Decoder) error) {
	if name == "" || !a.Has(name) {
		return
	}
	if err := a.ReadXML(name, read); err != nil {
		doc.Warn("part " + name + ": " + err.Error())
	}
}

// Fatal reports whether an error ends the reading of the whole archive.
func (a *Archive) Fatal(err error) bool {
	return a.budget.Err() != nil || document.Is(err, document.TooLarge)
}

// shown is a name for messages.
func shown(f *zip.File) string { return textfile.Path(strings.ToValidUTF8(f.Name, "\uFFFD")) }

// member counts what a member unpacks to.
type member struct {
	io.ReadCloser
	budget         *document.Budget
	packed, number int64
}

func (m *member) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	m.number += int64(n)
	if over := m.budget.Unpack(int64(n)); over != nil {
		return 0, over
	}
	if over := m.budget.CheckRatio(m.packed, m.number); over != nil {
		return 0, over
	}
	return n, err
}

// bounded bounds what is read of a directory.
type bounded struct {
	r    io.ReaderAt
	left int64
	off  bool // no bound
}

func (b *bounded) ReadAt(p []byte, at int64) (int, error) {
	if !b.off {
		if b.left -= int64(len(p)); b.left < 0 {
			return 0, io.ErrUnexpectedEOF
		}
	}
	return b.r.ReadAt(p, at)
}
