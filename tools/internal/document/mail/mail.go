// Package mail reads messages of electronic mail.
//
// It imports the model and the reader of HTML. Start at [Read].
package mail

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/chars"
	"toolcrib/tools/internal/document/html"
	"toolcrib/tools/internal/text/textfile"
)

// message is one that is being read.
type message struct {
	doc    *document.Document
	budget *document.Budget
	files  []file // attached to the message that is read
	level  int    // of the message in others
}

// file is an attachment with what is said of it.
type file struct {
	document.Attachment
	about string
}

// Read reads a message: who wrote to whom, its text, and a list of what is attached.
func Read(src document.Source, budget *document.Budget) (*document.Document, error) {
	if err := budget.CheckFile(src.Size); err != nil {
		return nil, err
	}
	m := &message{doc: &document.Document{Format: "eml"}, budget: budget}
	if err := m.read(io.NewSectionReader(src, 0, src.Size), 0); err != nil {
		return nil, err
	}
	return m.doc, nil
}

func (m *message) read(r io.Reader, depth int) error {
	msg, err := mail.ReadMessage(r)
	if err != nil {
		return document.Errorf(document.Malformed, "the head of the message cannot be read: %w", err)
	}
	subject := decodeHeader(msg.Header.Get("Subject"))
	if m.level == 0 {
		m.doc.Title = subject
	}
	m.level++
	defer func() { m.level-- }()
	m.doc.Add(document.Block{Kind: document.Heading, Level: min(m.level, 6), Spans: document.Text(subject)})
	var lines [][2]string
	for _, name := range []string{"From", "To", "Cc", "Date"} {
		value := decodeHeader(msg.Header.Get(name))
		lines = append(lines, [2]string{name, value})
		if m.level == 1 {
			m.doc.Field(strings.ToLower(name), value)
		}
	}
	m.doc.Add(document.Labelled(lines))
	outer := m.files
	m.files = nil
	err = m.part(part{msg.Header.Get("Content-Type"), msg.Header.Get("Content-Transfer-Encoding"), "", msg.Body}, depth)
	if len(m.files) > 0 {
		m.doc.Add(document.Block{Spans: []document.Span{{Text: "Attachments:", Style: document.Bold}}})
		for _, f := range m.files {
			m.doc.Attach(f.Attachment, f.about)
		}
	}
	m.files = outer
	return err
}

// part is a part of a message.
type part struct {
	contentType, encoding, disposition string
	body                               io.Reader
}

func (m *message) part(p part, depth int) error {
	const deepest = 8
	if depth > deepest {
		return &document.Error{Cause: document.TooLarge, Limit: "nesting", Say: "limit of nesting: at most 8 parts of messages in each other are read"}
	}
	kind, params, err := mime.ParseMediaType(p.contentType)
	if err != nil {
		kind = "text/plain"
	}
	how, about, _ := mime.ParseMediaType(p.disposition) // "" if there is none
	name := decodeHeader(about["filename"])
	if name == "" {
		name = decodeHeader(params["name"])
	}
	if strings.HasPrefix(kind, "multipart/") {
		return m.parts(kind, params["boundary"], p.body, depth)
	}
	body := io.LimitReader(p.body, m.budget.Unpacked)
	switch strings.ToLower(strings.TrimSpace(p.encoding)) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, &letters{body})
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	if how == "attachment" || name != "" && !strings.HasPrefix(kind, "text/") || !strings.HasPrefix(kind, "text/") && kind != "message/rfc822" {
		data, _ := io.ReadAll(body) // what is broken is shorter
		size := int64(len(data))
		m.files = append(m.files, file{document.Attachment{Name: name, Size: size, Data: data}, kind + ", " + textfile.Size(size)})
		return m.budget.Unpack(size)
	}
	if kind == "message/rfc822" {
		return m.read(body, depth+1)
	}
	data, err := io.ReadAll(io.LimitReader(body, m.budget.Text+1))
	if err != nil {
		m.doc.Warn("a part of the message ends early")
	}
	if err := m.budget.TakeText(len(data)); err != nil {
		return err
	}
	text, _, err := chars.Decode(data, params["charset"])
	if err != nil {
		m.doc.Warn("a part of the message: " + err.Error())
		return nil
	}
	return m.text(kind, text)
}

func (m *message) text(kind string, text []byte) error {
	if kind == "text/html" {
		page, err := html.Blocks(text, m.budget, func(href string) string {
			if strings.HasPrefix(href, "cid:") {
				return "attached"
			}
			return href
		})
		m.doc.Add(page.Blocks...)
		return err
	}
	m.doc.Add(document.Paragraphs(string(text))...)
	return nil
}

// parts reads the parts of a message; of alternatives the one that shows most.
func (m *message) parts(kind, boundary string, body io.Reader, depth int) error {
	r := multipart.NewReader(body, boundary)
	var last []document.Block
	before := len(m.doc.Blocks)
	for n := 0; ; n++ {
		next, err := r.NextRawPart()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				m.doc.Warn("the message ends early")
			}
			break
		}
		if n > 1000 {
			return &document.Error{Cause: document.TooLarge, Limit: "entries", Say: "limit of entries: a message has at most 1000 parts"}
		}
		err = m.part(part{next.Header.Get("Content-Type"), next.Header.Get("Content-Transfer-Encoding"), next.Header.Get("Content-Disposition"), next}, depth+1)
		if err != nil {
			return err
		}
		if kind == "multipart/alternative" && len(m.doc.Blocks) > before {
			last = append(last[:0], m.doc.Blocks[before:]...)
			m.doc.Blocks = m.doc.Blocks[:before]
		}
	}
	m.doc.Add(last...)
	return nil
}

// letters leaves out what is not base64.
type letters struct{ r io.Reader }

func (l *letters) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	kept := p[:0]
	for _, c := range p[:n] {
		if c > ' ' {
			kept = append(kept, c)
		}
	}
	return len(kept), err
}

// decodeHeader returns the text of a header.
func decodeHeader(value string) string {
	decoder := mime.WordDecoder{CharsetReader: func(charset string, r io.Reader) (io.Reader, error) {
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		text, _, err := chars.Decode(data, charset)
		return bytes.NewReader(text), err
	}}
	text, err := decoder.DecodeHeader(value)
	if err != nil {
		text = value
	}
	return strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "\uFFFD")
}
