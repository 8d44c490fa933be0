package ole

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/chars"
	"toolcrib/tools/internal/document/html"
	"toolcrib/tools/internal/text/textfile"
)

// The numbers of a message's properties that are read.
const (
	mailSubject    = 0x0037
	mailSent       = 0x0039
	mailFromName   = 0x0C1A
	mailFrom       = 0x0C1F
	mailFromSMTP   = 0x5D01
	mailTo         = 0x0E04
	mailCopies     = 0x0E03
	mailDelivered  = 0x0E06
	mailBody       = 0x1000
	mailHTML       = 0x1013
	mailCodePage   = 0x3FDE
	attachData     = 0x3701
	attachName     = 0x3704
	attachLongName = 0x3707
	attachType     = 0x370E

	mailProperties = "__properties_version1.0"
)

// readMessage reads a message of Outlook: who wrote to whom, its text, and a list of what is
// attached.
func readMessage(c *compound) (*document.Document, error) {
	m := &message{c: c, doc: &document.Document{Format: "msg"}}
	m.doc.Title = m.text("", mailSubject)
	m.doc.Add(document.Block{Kind: document.Heading, Level: 1, Spans: document.Text(m.doc.Title)})
	from, address := m.text("", mailFromName), m.text("", mailFromSMTP)
	if address == "" && strings.Contains(m.text("", mailFrom), "@") {
		address = m.text("", mailFrom)
	}
	if address != "" && address != from {
		from = strings.TrimSpace(from + " <" + address + ">")
	}
	lines := [][2]string{{"From", from}, {"To", m.text("", mailTo)}, {"Cc", m.text("", mailCopies)}, {"Date", m.date()}}
	for _, line := range lines {
		m.doc.Field(strings.ToLower(line[0]), line[1])
	}
	m.doc.Add(document.Labelled(lines))
	if err := m.body(); err != nil {
		return nil, err
	}
	m.attached()
	return m.doc, c.budget.Err()
}

type message struct {
	c   *compound
	doc *document.Document
}

func property(storage string, number int, kind string) string {
	return fmt.Sprintf("%s__substg1.0_%04X%s", storage, number, kind)
}

// text returns a property that is a text; "" if there is none.
func (m *message) text(storage string, number int) string {
	if data := m.c.stream(property(storage, number, "001F")); len(data) > 0 {
		return strings.TrimSpace(strings.TrimRight(string(utf16.Decode(words(data))), "\x00"))
	}
	data := bytes.TrimRight(m.c.stream(property(storage, number, "001E")), "\x00")
	text, _, err := chars.Decode(data, "")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// fixed returns a property of the message that has 8 bytes or fewer; false = there is none.
func (m *message) fixed(number int) (uint64, bool) {
	const head, size = 32, 16
	data := m.c.stream(mailProperties)
	for at := head; at+size <= len(data); at += size {
		if binary.LittleEndian.Uint16(data[at+2:]) == uint16(number) {
			return binary.LittleEndian.Uint64(data[at+8:]), true
		}
	}
	return 0, false
}

// date returns when the message was sent, or else delivered.
func (m *message) date() string {
	ticks, ok := m.fixed(mailSent)
	if !ok {
		ticks, ok = m.fixed(mailDelivered)
	}
	const epoch, second = 11644473600, 10_000_000 // of ticks of 100 ns from 1601
	if !ok || ticks/second > epoch+1<<34 {
		return ""
	}
	return time.Unix(int64(ticks/second)-epoch, 0).UTC().Format("2006-01-02 15:04:05 UTC")
}

func (m *message) body() error {
	page := bytes.TrimRight(m.c.stream(property("", mailHTML, "0102")), "\x00")
	if len(page) == 0 {
		page = []byte(m.text("", mailHTML))
	}
	if len(page) > 0 {
		charset := ""
		if number, ok := m.fixed(mailCodePage); ok {
			charset = codePageName(int(uint32(number)))
		}
		if text, _, err := chars.Decode(page, charset); err == nil {
			blocks, err := html.Blocks(text, m.c.budget, func(href string) string {
				if strings.HasPrefix(href, "cid:") {
					return "attached"
				}
				return href
			})
			m.doc.Add(blocks.Blocks...)
			return err
		}
	}
	text := strings.ReplaceAll(m.text("", mailBody), "\r\n", "\n")
	if err := m.c.budget.TakeText(len(text)); err != nil {
		return err
	}
	m.doc.Add(document.Paragraphs(text)...)
	return nil
}

// attached lists what is attached.
func (m *message) attached() {
	var storages []string
	for name := range m.c.streams {
		if dir, _, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(dir, "__attach_version1.0_") && !slices.Contains(storages, dir+"/") {
			storages = append(storages, dir+"/")
		}
	}
	slices.Sort(storages)
	for i, storage := range storages {
		if i == 0 {
			m.doc.Add(document.Block{Spans: []document.Span{{Text: "Attachments:", Style: document.Bold}}})
		}
		name := m.text(storage, attachLongName)
		if name == "" {
			name = m.text(storage, attachName)
		}
		stream := property(storage, attachData, "0102")
		a := document.Attachment{Name: name, Size: m.c.streams[stream].size, Data: m.c.stream(stream)}
		about := textfile.Size(a.Size)
		if kind := m.text(storage, attachType); kind != "" {
			about = kind + ", " + about
		}
		m.doc.Attach(a, about)
	}
}
