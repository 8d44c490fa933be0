// Package ole reads the text of compound files: DOC, XLS and PPT of Office before 2007, and MSG
// of Outlook. It decrypts the files of later ones that have a password.
//
// It reads paragraphs, tables, cells and slides; what a text looks like is not read. It
// imports the model and, for messages, the reader of HTML, and must not import another one.
// Start at [Reader.Read].
package ole

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"

	"toolcrib/tools/internal/document"
)

// Magic is what a compound file begins with.
const Magic = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// compound is a file of streams in sectors.
type compound struct {
	data    []byte
	sector  int
	fat     []uint32
	mini    []uint32
	root    []byte // the sectors of short streams
	streams map[string]entry
	budget  *document.Budget
}

type entry struct {
	start uint32
	size  int64
}

const last = 0xFFFFFFFA // from here on a number is no sector

// Reader reads compound files. Package reads the file in one that has a password.
type Reader struct {
	Package document.Reader
}

// Read is a [document.Reader].
func (r Reader) Read(src document.Source, budget *document.Budget) (*document.Document, error) {
	const longest = 64 << 20 // the file is in memory, with its streams
	if src.Size > longest {
		return nil, &document.Error{Cause: document.TooLarge, Limit: "file size", Say: "limit of file size: at most 64 MiB of a DOC, XLS, PPT or MSG are read"}
	}
	data, err := src.Bytes(budget)
	if err != nil {
		return nil, err
	}
	c, err := open(data, budget)
	if err != nil {
		return nil, err
	}
	has := func(name string) bool { _, ok := c.streams[name]; return ok }
	switch {
	case has("EncryptedPackage"):
		data, err := c.decrypted(src.Password)
		if err != nil {
			return nil, err
		}
		src.ReaderAt, src.Size = bytes.NewReader(data), int64(len(data))
		return r.Package(src, budget)
	case has("WordDocument"):
		return readWord(c)
	case has("PowerPoint Document"):
		return readSlides(c, src)
	case has(mailProperties):
		return readMessage(c)
	case has("Workbook"):
		return readWorkbook(c, src, "Workbook")
	case has("Book"):
		return readWorkbook(c, src, "Book")
	}
	return nil, document.Errorf(document.Unsupported, "no reader knows this compound file")
}

// open reads the tables of a file.
func open(data []byte, budget *document.Budget) (*compound, error) {
	const header = 512
	if len(data) < header+header {
		return nil, document.Errorf(document.Truncated, "the compound file ends in its head")
	}
	c := &compound{data: data, sector: 1 << (binary.LittleEndian.Uint16(data[30:]) & 15), streams: map[string]entry{}, budget: budget}
	if c.sector != 512 && c.sector != 4096 {
		return nil, document.Errorf(document.Malformed, "the compound file has sectors of %d bytes", c.sector)
	}
	at := func(off int) uint32 { return binary.LittleEndian.Uint32(data[off:]) }
	var tables []uint32
	for i := range 109 {
		if n := at(76 + 4*i); n < last {
			tables = append(tables, n)
		}
	}
	for next, count := at(68), 0; next < last && count < len(data)/c.sector; count++ {
		list := c.at(next)
		if len(list) < c.sector {
			break
		}
		for i := range c.sector/4 - 1 {
			if n := binary.LittleEndian.Uint32(list[4*i:]); n < last {
				tables = append(tables, n)
			}
		}
		next = binary.LittleEndian.Uint32(list[c.sector-4:])
	}
	for _, t := range tables {
		if len(c.fat) > len(data)/c.sector+c.sector {
			break // more sectors than the file has
		}
		c.fat = append(c.fat, numbers(c.at(t))...)
	}
	c.mini = numbers(c.chain(at(60), int64(len(data))))
	c.directory(c.chain(at(48), int64(len(data))))
	if len(c.streams) == 0 {
		return nil, document.Errorf(document.Truncated, "the compound file has no directory, so it is not whole")
	}
	return c, nil
}

func numbers(data []byte) []uint32 {
	all := make([]uint32, len(data)/4)
	for i := range all {
		all[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return all
}

// at returns a sector; what is past the end of the file is missing.
func (c *compound) at(n uint32) []byte {
	from := (int64(n) + 1) * int64(c.sector)
	if from >= int64(len(c.data)) {
		return nil
	}
	return c.data[from:min(from+int64(c.sector), int64(len(c.data)))]
}

// chain returns the sectors from one on, at most size bytes. A loop ends it.
func (c *compound) chain(n uint32, size int64) []byte {
	var b bytes.Buffer
	for count := 0; n < last && int(n) < len(c.fat) && int64(b.Len()) < size && count <= len(c.fat); count++ {
		b.Write(c.at(n))
		n = c.fat[n]
	}
	return b.Bytes()[:min(int64(b.Len()), size)]
}

// directory reads the names of the streams. One in a storage has the names of both, with a
// slash between.
func (c *compound) directory(data []byte) {
	const length = 128
	n := len(data) / length
	at := func(i uint32, off int) uint32 { return binary.LittleEndian.Uint32(data[int(i)*length+off:]) }
	seen := make([]bool, n)
	var walk func(i uint32, storage string, depth int)
	walk = func(i uint32, storage string, depth int) {
		const left, right, child, deepest = 68, 72, 76, 64
		for ; int64(i) < int64(n) && !seen[i]; i = at(i, right) {
			seen[i] = true
			e := data[int(i)*length:]
			if depth < deepest {
				walk(at(i, left), storage, depth+1)
			}
			chars := int(binary.LittleEndian.Uint16(e[64:]))/2 - 1
			if chars < 0 || chars > 31 {
				continue
			}
			name := storage + string(utf16.Decode(words(e[:2*chars])))
			found := entry{at(i, 116), int64(at(i, 120))}
			switch kind := e[66]; {
			case kind == 5 && depth < deepest:
				c.root = c.chain(found.start, found.size)
				walk(at(i, child), "", depth+1)
			case kind == 1 && depth < deepest:
				walk(at(i, child), name+"/", depth+1)
			case kind == 2:
				if _, there := c.streams[name]; !there {
					c.streams[name] = found
				}
			}
		}
	}
	for i := range n { // in a file that is broken, what the tree does not reach counts too
		walk(uint32(i), "", 0)
	}
}

func words(data []byte) []uint16 {
	all := make([]uint16, len(data)/2)
	for i := range all {
		all[i] = binary.LittleEndian.Uint16(data[2*i:])
	}
	return all
}

// stream returns the content of a stream.
func (c *compound) stream(name string) []byte {
	const short, unit = 4096, 64
	e := c.streams[name]
	if e.size >= short {
		return c.chain(e.start, e.size)
	}
	var b bytes.Buffer
	for n, count := e.start, 0; n < last && int(n) < len(c.mini) && int64(b.Len()) < e.size && count <= len(c.mini); count++ {
		from := int(n) * unit
		if from >= len(c.root) {
			break
		}
		b.Write(c.root[from:min(from+unit, len(c.root))])
		n = c.mini[n]
	}
	return b.Bytes()[:min(int64(b.Len()), e.size)]
}
