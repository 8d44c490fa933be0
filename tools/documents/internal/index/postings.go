package index

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"toolcrib/tools/internal/lexical"
)

// list is the passages of a segment that have one word, by their places in it: the gap to
// the one before and how often each has the word.
type list struct {
	count, last int
	data        []byte
}

func (l *list) add(at, n int) {
	gap := uint64(at-l.last) << 1
	if n == 1 {
		l.data = binary.AppendUvarint(l.data, gap|1)
	} else {
		l.data = binary.AppendUvarint(binary.AppendUvarint(l.data, gap), uint64(n))
	}
	l.count++
	l.last = at
}

var errTorn = errors.New("the index of documents is torn")

// each calls f with each place of a list in a segment of so many passages, and how often it
// has the word.
func each(data []byte, passages int, f func(at, n int)) error {
	at := 0
	for len(data) > 0 {
		gap, size := binary.Uvarint(data)
		if size <= 0 {
			return errTorn
		}
		data = data[size:]
		n := uint64(1)
		if gap&1 == 0 {
			if n, size = binary.Uvarint(data); size <= 0 {
				return errTorn
			}
			data = data[size:]
		}
		if at += int(gap >> 1); at < 0 || at >= passages {
			return errTorn
		}
		f(at, int(n))
	}
	return nil
}

// A segment has its words in order, in blocks of about so many bytes.
const blockBytes = 4 << 10

// block is a run of words with their lists.
type block struct {
	first string
	data  []byte
}

// entry is a word of a block.
type entry struct {
	word  []byte
	count int
	data  []byte // see each
}

// next returns the first word of a block and what follows it.
func next(data []byte) (e entry, rest []byte, err error) {
	part := func() []byte {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > uint64(len(data)-size) {
			err = errTorn
			return nil
		}
		p := data[size : size+int(n)]
		data = data[size+int(n):]
		return p
	}
	e.word = part()
	count, size := binary.Uvarint(data)
	if size <= 0 || err != nil {
		return e, nil, errTorn
	}
	data = data[size:]
	e.count = int(count)
	e.data = part()
	return e, data, err
}

// find returns a word of a block; count is 0 if the block lacks it.
func find(data []byte, word string) (entry, error) {
	for len(data) > 0 {
		e, rest, err := next(data)
		if err != nil {
			return entry{}, err
		}
		if string(e.word) >= word {
			if string(e.word) > word {
				e = entry{}
			}
			return e, nil
		}
		data = rest
	}
	return entry{}, nil
}

// blocks writes words in order.
type blocks struct{ all []block }

func (b *blocks) add(word string, l *list) {
	n := len(b.all)
	if n == 0 || len(b.all[n-1].data) >= blockBytes {
		b.all = append(b.all, block{first: word})
		n++
	}
	data := b.all[n-1].data
	data = append(binary.AppendUvarint(data, uint64(len(word))), word...)
	data = binary.AppendUvarint(data, uint64(l.count))
	b.all[n-1].data = append(binary.AppendUvarint(data, uint64(len(l.data))), l.data...)
}

// members are the passages of a segment, in their order, and how many words each has.
type members struct {
	ids   []int64
	words []uint32
}

func (m *members) add(id int64, words int) {
	m.ids = append(m.ids, id)
	m.words = append(m.words, uint32(words))
}

func (m *members) total() (n int) {
	for _, words := range m.words {
		n += int(words)
	}
	return n
}

func (m *members) encode() []byte {
	var data []byte
	last := int64(0)
	for i, id := range m.ids {
		data = binary.AppendVarint(data, id-last)
		data = binary.AppendUvarint(data, uint64(m.words[i]))
		last = id
	}
	return data
}

func decode(data []byte) (*members, error) {
	m := &members{}
	id := int64(0)
	for len(data) > 0 {
		gap, size := binary.Varint(data)
		if size <= 0 {
			return nil, errTorn
		}
		data = data[size:]
		words, size := binary.Uvarint(data)
		if size <= 0 {
			return nil, errTorn
		}
		data = data[size:]
		id += gap
		m.add(id, int(words))
	}
	return m, nil
}

// fresh is a segment that is made of passages.
type fresh struct {
	members
	lists map[string]*list
}

func (f *fresh) put(id int64, words []lexical.Count) {
	at, total := len(f.ids), 0
	for _, w := range words {
		l := f.lists[w.Token]
		if l == nil {
			l = &list{}
			f.lists[w.Token] = l
		}
		l.add(at, w.N)
		total += w.N
	}
	f.add(id, total)
}

func (f *fresh) blocks() []block {
	var b blocks
	for _, word := range slices.Sorted(maps.Keys(f.lists)) {
		b.add(word, f.lists[word])
	}
	return b.all
}

// part is a segment that is merged with others: its blocks, and where its passages go, -1
// for one that is gone.
type part struct {
	blocks [][]byte
	to     []int

	data []byte // of the current block, behind the current word
	now  entry
	done bool
}

func (p *part) next() error {
	for len(p.data) == 0 {
		if len(p.blocks) == 0 {
			p.done = true
			return nil
		}
		p.data, p.blocks = p.blocks[0], p.blocks[1:]
	}
	var err error
	p.now, p.data, err = next(p.data)
	return err
}

// merge joins segments, whose passages go to ascending places.
func merge(parts []*part) ([]block, error) {
	for _, p := range parts {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	var b blocks
	for {
		word, more := "", false
		for _, p := range parts {
			if !p.done && (!more || string(p.now.word) < word) {
				word, more = string(p.now.word), true
			}
		}
		if !more {
			return b.all, nil
		}
		var l list
		for _, p := range parts {
			if p.done || string(p.now.word) != word {
				continue
			}
			err := each(p.now.data, len(p.to), func(at, n int) {
				if p.to[at] >= 0 {
					l.add(p.to[at], n)
				}
			})
			if err == nil {
				err = p.next()
			}
			if err != nil {
				return nil, err
			}
		}
		if l.count > 0 {
			b.add(word, &l)
		}
	}
}
