package pdf

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"

	"toolcrib/tools/internal/document"
)

var (
	pageType     = pattern(`/Type[ \t\r\n\f]*/Page[^A-Za-z]`)
	objectStream = pattern(`/Type[ \t\r\n\f]*/ObjStm[^A-Za-z]`)
	flate        = pattern(`/Filter[ \t\r\n\f]*\[?[ \t\r\n\f]*/FlateDecode`)
	countOf      = pattern(`/N[ \t\r\n\f]+(\d{1,6})\b`)
	firstOf      = pattern(`/First[ \t\r\n\f]+(\d{1,7})\b`)
	streamStart  = pattern(`\bstream\r?\n`)
)

const (
	mostRebuilt = 64 << 20  // bytes of a file that is searched for pages, and of what its streams hold
	mostNumber  = 4<<20 - 4 // of an object that PDFium reads, less those that are added
)

// rebuilt returns a file whose end is missing, and with it the list of its pages, with a new
// end: a catalog of the pages that are still there, in the order of the file. Objects in
// compressed streams are written out, since nothing says any more where they are. ok is false
// if there are none.
func rebuilt(src document.Source, budget *document.Budget) (whole document.Source, ok bool, err error) {
	if src.Size > mostRebuilt {
		return src, false, nil
	}
	data, err := src.Bytes(budget)
	if err != nil {
		return src, false, err
	}
	var end bytes.Buffer
	var pages []int
	highest := 0
	add := func(number int, text []byte) {
		highest = max(highest, number)
		if pageType().Match(text) {
			pages = append(pages, number)
		}
	}
	for o := range objects(data) {
		if err := budget.Err(); err != nil {
			return src, false, err
		}
		head, rest := data[o.from:o.to], []byte(nil)
		if stream := streamStart().FindIndex(head); stream != nil {
			head, rest = head[:stream[0]], data[o.from+stream[1]:]
		} else if n := bytes.Index(head, []byte("endobj")); n >= 0 {
			head = head[:n]
		} else if o.to == len(data) {
			continue // it is cut
		}
		add(o.number, slices.Concat(head, []byte(" ")))
		if rest != nil && objectStream().Match(head) && flate().Match(head) {
			if err := unpacked(head, rest, budget, func(n int, text []byte) {
				add(n, text)
				fmt.Fprintf(&end, "\n%d 0 obj\n%s\nendobj", n, text)
			}); err != nil {
				return src, false, err
			}
			if end.Len() > mostRebuilt {
				return src, false, nil
			}
		}
	}
	pages = latest(pages, highest)
	if pages == nil {
		return src, false, nil
	}
	pages = pages[:min(len(pages), mostPages)]
	fmt.Fprintf(&end, "\n%d 0 obj\n<< /Type /Catalog /Pages %d 0 R >>\nendobj\n%[2]d 0 obj\n<< /Type /Pages /Count %d /Kids [", highest+1, highest+2, len(pages))
	for _, n := range pages {
		fmt.Fprintf(&end, " %d 0 R", n)
	}
	fmt.Fprintf(&end, " ] >>\nendobj\ntrailer\n<< /Size %d /Root %d 0 R >>\nstartxref\n0\n%%%%EOF\n", highest+3, highest+1)
	data = slices.Concat(data, []byte("\nendstream\nendobj"), end.Bytes())
	src.ReaderAt, src.Size = bytes.NewReader(data), int64(len(data))
	return src, true, nil
}

// object is one of a file. Its text goes on to where the next one begins.
type object struct{ number, from, to int }

// objects finds the objects of a file by the words that begin them, such as "7 0 obj".
func objects(data []byte) iter.Seq[object] {
	word := []byte("obj")
	return func(yield func(object) bool) {
		var last object
		for at := 0; ; {
			n := bytes.Index(data[at:], word)
			if n < 0 {
				break
			}
			next, start, ok := numbered(data[at : at+n])
			begins := at + start
			at += n + len(word)
			if !ok || at < len(data) && isWord(data[at]) {
				continue
			}
			if last.to = begins; last.from > 0 && !yield(last) {
				return
			}
			last = object{number: next, from: at}
		}
		if last.to = len(data); last.from > 0 {
			yield(last)
		}
	}
}

// numbered returns the first of the two numbers at the end of a text, and where it begins.
func numbered(text []byte) (number, start int, ok bool) {
	const spaces, digits = " \t\r\n\f", "0123456789"
	generation := bytes.TrimRight(text, spaces)
	between := bytes.TrimRight(generation, digits)
	first := bytes.TrimRight(between, spaces)
	start = len(bytes.TrimRight(first, digits))
	n, err := strconv.Atoi(string(first[start:]))
	ok = err == nil && n <= mostNumber && len(generation) < len(text) && len(between) < len(generation) && len(first) < len(between)
	return n, start, ok
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// latest leaves out the numbers that come again.
func latest(numbers []int, highest int) []int {
	seen := make([]bool, highest+1)
	slices.Reverse(numbers)
	numbers = slices.DeleteFunc(numbers, func(n int) bool {
		again := seen[n]
		seen[n] = true
		return again
	})
	slices.Reverse(numbers)
	return numbers
}

// unpacked calls add for each object of a stream of objects, as far as the stream goes.
func unpacked(head, stream []byte, budget *document.Budget, add func(number int, text []byte)) error {
	count, first := value(countOf().FindSubmatch(head)), value(firstOf().FindSubmatch(head))
	packed := bytes.NewReader(stream)
	r, err := zlib.NewReader(packed)
	if err != nil {
		return nil //nolint:nilerr // it is damaged
	}
	var data bytes.Buffer
	_, _ = io.Copy(&data, io.LimitReader(r, mostRebuilt)) // what is damaged is shorter
	size := int64(data.Len())
	if err := cmp.Or(budget.Unpack(size), budget.CheckRatio(packed.Size()-int64(packed.Len()), size)); err != nil {
		return err
	}
	if first > data.Len() {
		return nil
	}
	places := bytes.Fields(data.Bytes()[:first])
	for i := 0; i < count && 2*i+1 < len(places); i++ {
		from, to := first+number(places[2*i+1]), data.Len()
		if 2*i+3 < len(places) {
			to = first + number(places[2*i+3])
		}
		n := number(places[2*i])
		if from > to || to > data.Len() || n > mostNumber {
			break
		}
		add(n, slices.Concat(data.Bytes()[from:to], []byte(" ")))
	}
	return nil
}

func value(found [][]byte) int {
	if found == nil {
		return 0
	}
	return number(found[1])
}

// number reads a number that is none in a damaged file.
func number(text []byte) int {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 0 {
		return 0
	}
	return n
}
