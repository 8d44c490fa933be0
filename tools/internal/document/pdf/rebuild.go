package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"slices"
	"strconv"

	"toolcrib/tools/internal/document"
)

var (
	objectStart  = pattern(`\b(\d{1,7})[ \t\r\n\f]+(\d{1,5})[ \t\r\n\f]+obj\b`)
	pageType     = pattern(`/Type[ \t\r\n\f]*/Page[^A-Za-z]`)
	objectStream = pattern(`/Type[ \t\r\n\f]*/ObjStm[^A-Za-z]`)
	flate        = pattern(`/Filter[ \t\r\n\f]*\[?[ \t\r\n\f]*/FlateDecode`)
	countOf      = pattern(`/N[ \t\r\n\f]+(\d{1,6})\b`)
	firstOf      = pattern(`/First[ \t\r\n\f]+(\d{1,7})\b`)
	streamStart  = pattern(`\bstream\r?\n`)
)

// mostRebuilt is the size of a file that is searched for pages.
const mostRebuilt = 64 << 20

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
			pages = slices.DeleteFunc(pages, func(n int) bool { return n == number })
			pages = append(pages, number)
		}
	}
	starts := objectStart().FindAllSubmatchIndex(data, -1)
	for i, at := range starts {
		next := len(data)
		if i+1 < len(starts) {
			next = starts[i+1][0]
		}
		head, rest := data[at[1]:next], []byte(nil)
		if stream := streamStart().FindIndex(head); stream != nil {
			head, rest = head[:stream[0]], data[at[1]+stream[1]:]
		} else if n := bytes.Index(head, []byte("endobj")); n >= 0 {
			head = head[:n]
		} else if i+1 == len(starts) {
			continue // it is cut
		}
		add(number(data[at[2]:at[3]]), slices.Concat(head, []byte(" ")))
		if rest != nil && objectStream().Match(head) && flate().Match(head) {
			if err := unpacked(head, rest, budget, func(n int, text []byte) {
				add(n, text)
				fmt.Fprintf(&end, "\n%d 0 obj\n%s\nendobj", n, text)
			}); err != nil {
				return src, false, err
			}
		}
	}
	if pages == nil {
		return src, false, nil
	}
	fmt.Fprintf(&end, "\n%d 0 obj\n<< /Type /Catalog /Pages %d 0 R >>\nendobj\n%[2]d 0 obj\n<< /Type /Pages /Count %d /Kids [", highest+1, highest+2, len(pages))
	for _, n := range pages {
		fmt.Fprintf(&end, " %d 0 R", n)
	}
	fmt.Fprintf(&end, " ] >>\nendobj\ntrailer\n<< /Size %d /Root %d 0 R >>\nstartxref\n0\n%%%%EOF\n", highest+3, highest+1)
	data = slices.Concat(data, []byte("\nendstream\nendobj"), end.Bytes())
	src.ReaderAt, src.Size = bytes.NewReader(data), int64(len(data))
	return src, true, nil
}

// unpacked calls add for each object of a stream of objects, as far as the stream goes.
func unpacked(head, stream []byte, budget *document.Budget, add func(number int, text []byte)) error {
	count, first := value(countOf().FindSubmatch(head)), value(firstOf().FindSubmatch(head))
	r, err := zlib.NewReader(bytes.NewReader(stream))
	if err != nil {
		return nil //nolint:nilerr // it is damaged
	}
	var data bytes.Buffer
	_, _ = io.Copy(&data, io.LimitReader(r, mostRebuilt)) // what is damaged is shorter
	if err := budget.Unpack(int64(data.Len())); err != nil {
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
		if from > to || to > data.Len() {
			break
		}
		add(number(places[2*i]), slices.Concat(data.Bytes()[from:to], []byte(" ")))
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
