// Package reader reads a file of any format that there is a reader for.
//
// It finds the format by the content; the name decides only between formats that look alike.
// It imports every reader. Start at [Read].
package reader

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/epub"
	"toolcrib/tools/internal/document/html"
	"toolcrib/tools/internal/document/mail"
	"toolcrib/tools/internal/document/markup"
	"toolcrib/tools/internal/document/odf"
	"toolcrib/tools/internal/document/ole"
	"toolcrib/tools/internal/document/ooxml"
	"toolcrib/tools/internal/document/pack"
	"toolcrib/tools/internal/document/plain"
	"toolcrib/tools/internal/document/rtf"
	"toolcrib/tools/internal/picture"
	"toolcrib/tools/internal/text/textfile"
)

// Set has the readers of formats that cost much, and that a caller links. The zero value
// has none.
type Set struct {
	PDF   document.Reader
	Image document.Reader // of pictures of pages
}

// Read reads a file.
func (s Set) Read(src document.Source, budget *document.Budget) (*document.Document, error) {
	if err := budget.CheckFile(src.Size); err != nil {
		return nil, err
	}
	if src.Size == 0 {
		return nil, document.Errorf(document.Malformed, "the file is empty")
	}
	read, err := s.reader(src, budget)
	if err != nil {
		return nil, err
	}
	doc, err := read(src, budget)
	if err == nil && doc.Attached != nil {
		err = s.attached(doc, src, budget)
	}
	if err == nil {
		err = heeded(src, doc)
	}
	if err != nil {
		return nil, err
	}
	return doc, nil
}

// heeded says what of the choice of a part has no meaning for a document.
func heeded(src document.Source, doc *document.Document) error {
	marked := slices.ContainsFunc(doc.Blocks, func(b document.Block) bool { return b.Kind == document.Mark && b.Number > 0 })
	switch {
	case src.Pages.All() || marked || doc.Format == "epub": // whose chapters have no marks
	case len(doc.Blocks) == 0:
		return document.Errorf(document.Absent, "it has none of the pages that were asked for")
	default:
		doc.Warn("it has no pages: pages was ignored")
	}
	sheets := slices.Contains([]string{"xlsx", "xlsb", "xls", "ods"}, doc.Format)
	if src.Sheet != "" && !sheets {
		doc.Warn("it has no sheets: sheet was ignored")
	}
	if src.Range != "" && !sheets && doc.Format != "csv" && doc.Format != "tsv" {
		doc.Warn("it has no cells: range was ignored")
	}
	return nil
}

// Document reports whether a file is a document in a format of its own, such as those of office
// programs, and neither a text nor an archive of other files.
func (s Set) Document(src document.Source, budget *document.Budget) bool {
	head, err := src.Head(textfile.SniffLen)
	if err != nil {
		return false
	}
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		read, err := s.zipReader(src, budget)
		return err == nil && read != nil
	}
	return isPDF(head) || bytes.HasPrefix(head, []byte(`{\rtf`)) || bytes.HasPrefix(head, []byte(ole.Magic))
}

func isPDF(head []byte) bool { return bytes.Contains(head[:min(len(head), 1024)], []byte("%PDF-")) }

// reader chooses a reader.
func (s Set) reader(src document.Source, budget *document.Budget) (document.Reader, error) {
	head, err := src.Head(textfile.SniffLen)
	if err != nil {
		return nil, err
	}
	start := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case isPDF(head):
		if s.PDF == nil {
			return nil, document.Errorf(document.Unsupported, "PDF files cannot be read by this build")
		}
		return s.PDF, nil
	case bytes.HasPrefix(start, []byte(`{\rtf`)):
		return rtf.Read, nil
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		read, err := s.zipReader(src, budget)
		if read == nil && err == nil {
			read = s.members
		}
		return read, err
	case bytes.HasPrefix(head, []byte(ole.Magic)):
		return ole.Reader{Package: s.unlocked}.Read, nil
	}
	if picture.Supported(textfile.MIME(head, textfile.Sniff(head, false))) {
		if s.Image == nil {
			return nil, document.Errorf(document.Unsupported, "it is an image")
		}
		return s.Image, nil
	}
	if ext := strings.TrimPrefix(strings.ToLower(path.Ext(src.Name)), "."); slices.Contains(containers, ext) {
		return nil, document.Errorf(document.Malformed, "its name ends in .%s, but its content is not of that kind", ext)
	}
	return textReader(src.Name, head, start), nil
}

// containers are the extensions of formats that are no text.
var containers = []string{"docx", "docm", "xlsx", "xlsb", "xlsm", "pptx", "pptm", "odt", "ods", "odp", "epub", "zip", "pdf", "doc", "xls", "ppt", "msg"}

// zipReader chooses by the members of an archive; nil = it is one of other files.
func (s Set) zipReader(src document.Source, budget *document.Budget) (document.Reader, error) {
	probe := document.NewBudget(budget.Context(), budget.Limits)
	archive, err := pack.Open(src, probe)
	if err != nil {
		return nil, err
	}
	if archive.Has("mimetype") {
		data, err := archive.ReadFile("mimetype")
		kind := strings.TrimSpace(string(data))
		switch {
		case err != nil:
		case kind == "application/epub+zip":
			return epub.Read, nil
		case strings.HasPrefix(kind, "application/vnd.oasis.opendocument."):
			return odf.Read, nil
		}
	}
	if archive.Has("[Content_Types].xml") {
		data, err := archive.ReadFile("[Content_Types].xml")
		if document.Is(err, document.TooLarge) {
			return nil, err
		}
		for _, format := range []struct {
			sign string
			read document.Reader
		}{{"wordprocessingml", ooxml.Word}, {"spreadsheetml", ooxml.Sheet}, {"presentationml", ooxml.Slides}} {
			if bytes.Contains(data, []byte(format.sign)) && archive.Has(mainParts[format.sign]) {
				return format.read, nil
			}
		}
		for _, format := range []struct {
			sign string
			read document.Reader
		}{{"presentationml", ooxml.Slides}, {"wordprocessingml.document.main", ooxml.Word}, {"spreadsheetml.sheet.main", ooxml.Sheet}, {"sheet.binary", ooxml.Sheet}, {"word", ooxml.Word}} {
			if bytes.Contains(data, []byte(format.sign)) {
				return format.read, nil
			}
		}
	}
	switch {
	case archive.Has("META-INF/container.xml"):
		return epub.Read, nil
	case archive.Has("content.xml") && archive.Has("META-INF/manifest.xml"):
		return odf.Read, nil
	}
	return nil, nil
}

var mainParts = map[string]string{"wordprocessingml": "word/document.xml", "spreadsheetml": "xl/workbook.xml", "presentationml": "ppt/presentation.xml"}

// textReader chooses by the start of a text and the name.
func textReader(name string, head, start []byte) document.Reader {
	ext := strings.ToLower(path.Ext(name))
	lower := bytes.ToLower(start[:min(len(start), 1024)])
	switch {
	case bytes.HasPrefix(lower, []byte("<!doctype html")), bytes.HasPrefix(lower, []byte("<html")), ext == ".html", ext == ".htm", ext == ".xhtml":
		return html.Read
	case bytes.HasPrefix(lower, []byte("<?xml")):
		if bytes.Contains(lower, []byte("<html")) {
			return html.Read
		}
		return plain.XML
	case ext == ".xml", ext == ".rss", ext == ".atom":
		return plain.XML
	case ext == ".csv", ext == ".tsv", ext == ".tab":
		return plain.CSV
	case ext == ".json", ext == ".ipynb", ext == ".ndjson", ext == ".jsonl", ext == "" && len(start) > 0 && (start[0] == '{' || start[0] == '['):
		return plain.JSON
	case ext == ".eml", ext == "" && isMail(head):
		return mail.Read
	case ext == "" && bytes.HasPrefix(lower, []byte("<")) && bytes.Contains(lower, []byte("</")):
		return html.Read
	case ext == ".svg":
		return svg
	}
	return plain.Text
}

// isMail reports whether a text begins with the head of a message.
func isMail(head []byte) bool {
	seen := 0
	for line := range bytes.SplitSeq(head, []byte("\n")) {
		name, _, ok := bytes.Cut(line, []byte(":"))
		switch {
		case len(bytes.TrimSpace(line)) == 0:
			return seen >= 2
		case line[0] == ' ' || line[0] == '\t':
		case !ok || bytes.ContainsAny(name, " \t"):
			return false
		case slices.Contains([]string{"from", "to", "subject", "date", "received", "message-id", "mime-version", "return-path", "delivered-to"}, strings.ToLower(string(name))):
			seen++
		}
	}
	return false
}

// svg reads the texts of a drawing.
func svg(src document.Source, budget *document.Budget) (*document.Document, error) {
	doc := &document.Document{Format: "svg"}
	d := markup.New(io.NewSectionReader(src, 0, src.Size), budget)
	for {
		kind, err := d.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return doc, err
		}
		if kind == markup.Start && (d.Name() == "text" || d.Name() == "title" || d.Name() == "desc") {
			text, err := d.Inner()
			if err != nil {
				return doc, err
			}
			if text = strings.Join(strings.Fields(text), " "); text != "" {
				doc.Add(document.Block{Spans: document.Text(text)})
			}
		}
	}
}

// members reads the members of an archive one by one.
func (s Set) members(src document.Source, budget *document.Budget) (*document.Document, error) {
	archive, err := pack.Open(src, budget)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	doc := &document.Document{Format: "zip"}
	number := 0
	for _, f := range archive.Files {
		if strings.HasSuffix(f.Name, "/") || strings.HasPrefix(f.Name, "__MACOSX/") {
			continue
		}
		number++
		if !src.Pages.Has(number) {
			continue
		}
		mark := document.Block{Kind: document.Mark, Label: "member", Number: number, Spans: document.Text(memberName(f))}
		inner, err := s.member(archive, f, src, budget)
		switch {
		case err == nil:
			doc.Add(mark)
			doc.Add(inner.Blocks...)
			for _, w := range inner.Warnings {
				doc.Warn(memberName(f) + ": " + w)
			}
		case budget.Err() != nil || document.Is(err, document.TooLarge):
			return nil, err
		default:
			mark.State = "not read: " + err.Error()
			doc.Add(mark)
		}
	}
	return doc, nil
}

func (s Set) member(archive *pack.Archive, f *zip.File, outer document.Source, budget *document.Budget) (*document.Document, error) {
	data, err := archive.Bytes(f)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, document.Errorf(document.Malformed, "it is empty")
	}
	return s.Read(document.Source{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Name: path.Base(memberName(f)), Password: outer.Password}, budget)
}

// unlocked reads what a password has opened, which has no other one in it.
func (s Set) unlocked(src document.Source, budget *document.Budget) (*document.Document, error) {
	head, err := src.Head(textfile.SniffLen)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return nil, document.Errorf(document.Malformed, "what its password opens is no file of Office")
	}
	read, err := s.zipReader(src, budget)
	if err != nil || read == nil {
		return nil, cmp.Or(err, error(document.Errorf(document.Unsupported, "what its password opens is no document")))
	}
	return read(src, budget)
}

// attached reads the documents that are attached to a message, as the members of an archive are
// read. If some are chosen, the message itself is left out. Those of other kinds, such as
// images, are only in the list of the message.
func (s Set) attached(doc *document.Document, src document.Source, budget *document.Budget) error {
	files := doc.Attached
	doc.Attached = nil
	if err := budget.Enter(len(files)); err != nil {
		return err
	}
	defer budget.Leave()
	if !src.Pages.All() {
		doc.Blocks = nil
	}
	for i, f := range files {
		if !src.Pages.Has(i+1) || f.Size == 0 && src.Pages.All() {
			continue
		}
		mark := document.Block{Kind: document.Mark, Label: "attachment", Number: i + 1, Spans: document.Text(f.Name)}
		inner, err := s.Read(document.Source{ReaderAt: bytes.NewReader(f.Data), Size: int64(len(f.Data)), Name: path.Base(f.Name), Password: src.Password}, budget)
		switch {
		case err == nil:
			doc.Add(mark)
			doc.Add(inner.Blocks...)
			for _, w := range inner.Warnings {
				doc.Warn(f.Name + ": " + w)
			}
		case budget.Err() != nil:
			return budget.Err()
		case src.Pages.All() && document.Is(err, document.Unsupported):
		default:
			if mark.State = "not read: " + err.Error(); f.Data == nil && f.Size > 0 {
				mark.State = "not read: the attachments are too large to be read together"
			}
			doc.Add(mark)
		}
	}
	return nil
}

// memberName returns the name of a member, which need not be in UTF-8.
func memberName(f *zip.File) string {
	if !f.NonUTF8 {
		return strings.ToValidUTF8(f.Name, "\uFFFD")
	}
	form := textfile.Sniff([]byte(f.Name), true)
	if form.Binary || form.Encoding.Name() == "" {
		return strings.ToValidUTF8(f.Name, "\uFFFD")
	}
	return strings.ToValidUTF8(string(form.Encoding.Decode([]byte(f.Name))), "\uFFFD")
}
