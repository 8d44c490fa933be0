package document

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Source is a file to read and what is wanted of it.
type Source struct {
	io.ReaderAt
	Size     int64
	Name     string // its extension helps to tell formats apart that look alike
	Password string
	Pages    Pages  // of pages and slides
	Sheet    string // name or number of the only sheet; "" = all
	Range    string // of cells, "A1:D20"; "" = all
}

// Reader reads a file of one format. What it cannot read in a part of the file is a warning
// and does not lose the rest.
type Reader func(src Source, budget *Budget) (*Document, error)

// Bytes returns the whole file.
func (s Source) Bytes(budget *Budget) ([]byte, error) {
	if err := budget.CheckFile(s.Size); err != nil {
		return nil, err
	}
	data := make([]byte, s.Size)
	n, err := s.ReadAt(data, 0)
	if int64(n) == s.Size {
		return data, nil
	}
	if err == nil || err == io.EOF { //nolint:errorlint // ReaderAt returns it as it is
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

// Head returns the first bytes of the file.
func (s Source) Head(n int64) ([]byte, error) {
	head := make([]byte, min(n, s.Size))
	if got, err := s.ReadAt(head, 0); got < len(head) {
		return nil, err
	}
	return head, nil
}

// Pages is a choice of pages. The zero value has all.
type Pages struct{ spans [][2]int }

// ParsePages reads "1-3,7" and "5-".
func ParsePages(text string) (Pages, error) {
	var p Pages
	if strings.TrimSpace(text) == "" {
		return p, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.Atoi(strings.TrimSpace(from))
		last := first
		if err == nil && isRange {
			if to = strings.TrimSpace(to); to == "" {
				last = int(^uint(0) >> 1)
			} else {
				last, err = strconv.Atoi(to)
			}
		}
		if err == nil && 1 <= last && last < first {
			return Pages{}, fmt.Errorf("%q is reversed", strings.TrimSpace(part))
		}
		if err != nil || first < 1 || last < first {
			return Pages{}, fmt.Errorf("%q is not a page or a range of pages", strings.TrimSpace(part))
		}
		p.spans = append(p.spans, [2]int{first, last})
	}
	return p, nil
}

// Has reports whether a page is chosen.
func (p Pages) Has(page int) bool {
	for _, s := range p.spans {
		if s[0] <= page && page <= s[1] {
			return true
		}
	}
	return p.spans == nil
}

// All reports whether every page is chosen.
func (p Pages) All() bool { return p.spans == nil }
