package pdf

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"fmt"
	"io"
	"iter"
	"maps"
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
	end := bytes.NewBufferString("\nendstream\nendobj")
	var pages []int
	places := map[int]int{} // of objects, by number
	highest := 0
	add := func(number, place int, text []byte) {
		highest = max(highest, number)
		places[number] = place
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
		add(o.number, o.begins, slices.Concat(head, []byte(" ")))
		if rest != nil && objectStream().Match(head) && flate().Match(head) {
			if err := unpacked(head, rest, budget, func(n int, text []byte) {
				end.WriteByte('\n')
				add(n, len(data)+end.Len(), text)
				fmt.Fprintf(end, "%d 0 obj\n%s\nendobj", n, text)
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
	end.WriteByte('\n')
	root, tree := highest+1, highest+2
	places[root] = len(data) + end.Len()
	fmt.Fprintf(end, "%d 0 obj\n<< /Type /Catalog /Pages %d 0 R >>\nendobj\n", root, tree)
	places[tree] = len(data) + end.Len()
	fmt.Fprintf(end, "%d 0 obj\n<< /Type /Pages /Count %d /Kids [", tree, len(pages))
	for _, n := range pages {
		fmt.Fprintf(end, " %d 0 R", n)
	}
	fmt.Fprint(end, " ] >>\nendobj\n")
	table := 0 // PDFium looks for the objects, and for what an encrypted file says of its key
	if !bytes.Contains(data, []byte("/Encrypt")) {
		table = len(data) + end.Len()
		writeTable(end, places)
	}
	fmt.Fprintf(end, "trailer\n<< /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF\n", tree+1, root, table)
	data = slices.Concat(data, end.Bytes())
	src.ReaderAt, src.Size = bytes.NewReader(data), int64(len(data))
	return src, true, nil
}

// writeTable writes where the objects of a file are, by number.
func writeTable(w *bytes.Buffer, places map[int]int) {
	w.WriteString("xref\n0 1\n0000000000 65535 f \n")
	numbers := slices.Sorted(maps.Keys(places))
	for len(numbers) > 0 {
		run := 1
		for run < len(numbers) && numbers[run] == numbers[0]+run {
			run++
		}
		fmt.Fprintf(w, "%d %d\n", numbers[0], run)
		for _, n := range numbers[:run] {
			fmt.Fprintf(w, "%010d 00000 n \n", places[n])
		}
		numbers = numbers[run:]
	}
}

// object is one of a file. Its text goes on to where the next one begins.
type object struct{ number, begins, from, to int }

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
			last = object{number: next, begins: begins, from: at}
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
