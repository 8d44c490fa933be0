package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/pdf"
	"toolcrib/tools/internal/document/pdf/pdftest"
)

// recognizer is a recognizer that finds the same lines in each picture.
type recognizer struct {
	lines   []string
	unable  error
	fails   error
	sure    float64
	turned  int
	untried bool
	seen    []image.Rectangle
	ids     []string
}

func (r *recognizer) Ready(context.Context) error { return r.unable }

func (r *recognizer) Begin(_ context.Context, id string, draw func() (*image.Gray, int, error)) (func() (document.Recognized, error), error) {
	picture, dpi, err := draw()
	if err != nil {
		return nil, err
	}
	r.seen, r.ids = append(r.seen, picture.Rect), append(r.ids, id)
	text := document.Recognized{Language: "eng", Sure: r.sure, Width: picture.Rect.Dx(), Height: picture.Rect.Dy(), DPI: dpi, Turned: r.turned, Untried: r.untried}
	size := float64(dpi) / 6
	for i, line := range r.lines {
		x := size
		for word := range strings.FieldsSeq(line) {
			wide := float64(len(word)) * size / 2
			text.Words = append(text.Words, document.RecognizedWord{Text: word, X0: x, X1: x + wide, Y: float64(i+2) * size * 1.2, Size: size * (1 + float64(i%3)/50)})
			x += wide + size/4
		}
	}
	return func() (document.Recognized, error) { return text, r.fails }, nil
}

func recognized(t *testing.T, f *pdftest.File, r *recognizer) (string, *document.Document, *document.Budget) {
	t.Helper()
	data := f.Bytes()
	budget := document.NewBudget(t.Context(), document.Standard())
	if r != nil {
		budget.Recognizer = r
	}
	d, err := (&pdf.Reader{Engine: engine}).Read(document.Source{ReaderAt: bytes.NewReader(data), Size: int64(len(data))}, budget)
	if err != nil {
		t.Fatal(err)
	}
	return d.Markdown(), d, budget
}

// A page that is only an image is read from its picture, and one that has text is not.
func TestScans(t *testing.T) {
	f := &pdftest.File{}
	f.Page().Text(72, 100, 11, pdftest.Plain, "the first page")
	f.Page().Image(0, 0, pdftest.Width, pdftest.Height)
	stamped := f.Page()
	stamped.Image(0, 0, pdftest.Width, pdftest.Height)
	stamped.Text(72, 30, 11, pdftest.Plain, "Scan 12")
	f.Page()
	lines := []string{"The mill on the river was built", "of stones from the old hills."}
	for _, test := range []struct {
		name   string
		r      *recognizer
		second string // page
		third  string
		warn   string
	}{
		{"read", &recognizer{lines: lines, sure: .9}, "[page 2; read by OCR (eng), which makes errors]\n\nThe mill on the river was built of stones from the old hills.", "[page 3; read by OCR (eng), which makes errors]\n\nThe mill on the river was built of stones from the old hills.", ""},
		{"unsure", &recognizer{lines: lines, sure: .5}, "[page 2; read by OCR (eng), which makes errors: much of it is unsure]\n\nThe mill on the river was built of stones from the old hills.", "[page 3; read by OCR (eng), which makes errors: much of it is unsure]\n\nThe mill on the river was built of stones from the old hills.", ""},
		{"turned", &recognizer{lines: lines, sure: .9, turned: 180}, "[page 2; turned by 180 degrees and read by OCR (eng), which makes errors]\n\nThe mill on the river was built of stones from the old hills.", "[page 3; turned by 180 degrees and read by OCR (eng), which makes errors]\n\nThe mill on the river was built of stones from the old hills.", ""},
		{"not seen whether it is turned", &recognizer{lines: lines, sure: .5, untried: true}, "[page 2; read by OCR (eng), which makes errors: much of it is unsure]\n\nThe mill on the river was built of stones from the old hills.", "[page 3; read by OCR (eng), which makes errors: much of it is unsure]\n\nThe mill on the river was built of stones from the old hills.",
			"it is not seen whether a page is turned: tesseract lacks its data file osd, which the user can install, such as by `apt install tesseract-ocr-osd`"},
		{"nothing", &recognizer{}, "[page 2; only images, in which OCR (eng) found no text]", "[page 3; no text, only images: scanned?]\n\nScan 12", ""},
		{"failing", &recognizer{fails: errors.New("it ended")}, "[page 2; only images, which OCR did not read: it ended]", "[page 3; only images, which OCR did not read: it ended]\n\nScan 12", ""},
		{"unable", &recognizer{unable: errors.New("it is not installed")}, "[page 2; no text, only images: scanned?]", "[page 3; no text, only images: scanned?]\n\nScan 12", "pages that are only images were not read: it is not installed"},
		{"none", nil, "[page 2; no text, only images: scanned?]", "[page 3; no text, only images: scanned?]\n\nScan 12", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, d, budget := recognized(t, f, test.r)
			want := "[page 1]\n\nthe first page\n\n" + test.second + "\n\n" + test.third + "\n\n[page 4; no text]\n"
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.warn, strings.Join(d.Warnings, "\n")); diff != "" {
				t.Error(diff)
			}
			if test.r != nil && test.r.unable == nil && len(test.r.seen) != 2 {
				t.Errorf("%d pictures were read, want 2", len(test.r.seen))
			}
			left := 0
			if test.r == nil || test.r.unable != nil || test.r.fails != nil {
				left = 2
			}
			if budget.Unread != left {
				t.Errorf("%d pages are left to another call, want %d", budget.Unread, left)
			}
			if want := strings.Contains(test.second, "OCR (eng)"); want != (budget.Recognized == 2) {
				t.Errorf("%d pages were recognized", budget.Recognized)
			}
		})
	}
}

// Pages for which there was no time are left to another call, which is said once.
func TestLateScans(t *testing.T) {
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 300, 400))); err != nil {
		t.Fatal(err)
	}
	src := document.Source{ReaderAt: bytes.NewReader(file.Bytes()), Size: int64(file.Len())}
	synctest.Test(t, func(t *testing.T) {
		budget := document.NewBudget(t.Context(), document.Standard())
		budget.Recognizer = &slow{}
		for n := 1; n <= 2; n++ { // the second begins when the time is over
			d, err := pdf.Image(src, budget)
			if err != nil {
				t.Fatal(err)
			}
			const say = "some pages are not read by OCR yet, since the time was over: call again, which goes on from here"
			if got := d.Markdown(); got != "[page 1; only images, not read by OCR yet]\n" || !slices.Equal(d.Warnings, []string{say}) || budget.Unread != n || budget.Recognized != 0 {
				t.Errorf("%q, warnings %q, %d pages left", got, d.Warnings, budget.Unread)
			}
		}
	})
}

// slow is a recognizer that reads until it is stopped.
type slow struct{ stopped error }

func (s *slow) Ready(context.Context) error { return nil }

func (s *slow) Begin(ctx context.Context, _ string, _ func() (*image.Gray, int, error)) (func() (document.Recognized, error), error) {
	return func() (document.Recognized, error) {
		<-ctx.Done()
		s.stopped = ctx.Err()
		return document.Recognized{}, s.stopped
	}, nil
}

// The error of a file does not wait for what is being read.
func TestEndedScans(t *testing.T) {
	f := &pdftest.File{}
	f.Page().Image(0, 0, pdftest.Width, pdftest.Height)
	f.Page().Text(72, 100, 11, pdftest.Plain, "text")
	data := f.Bytes()
	limits := document.Standard()
	limits.Text = 1
	budget := document.NewBudget(t.Context(), limits)
	r := &slow{}
	budget.Recognizer = r
	_, err := (&pdf.Reader{Engine: engine}).Read(document.Source{ReaderAt: bytes.NewReader(data), Size: int64(len(data))}, budget)
	if !document.Is(err, document.TooLarge) || !errors.Is(r.stopped, context.Canceled) {
		t.Errorf("%v, and what was being read ended with %v", err, r.stopped)
	}
}

// A small picture is enlarged before it is read, and has a page of its own.
func TestImage(t *testing.T) {
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 300, 400))); err != nil {
		t.Fatal(err)
	}
	r := &recognizer{lines: []string{"Fruit and nuts"}, sure: 1}
	budget := document.NewBudget(t.Context(), document.Standard())
	src := document.Source{ReaderAt: bytes.NewReader(file.Bytes()), Size: int64(file.Len())}
	if _, err := pdf.Image(src, budget); !document.Is(err, document.Unsupported) {
		t.Errorf("without a recognizer: %v", err)
	}
	budget.Recognizer = r
	d, err := pdf.Image(src, budget)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("[page 1; read by OCR (eng), which makes errors]\n\nFruit and nuts\n", d.Markdown()); diff != "" || d.Format != "png" {
		t.Errorf("%s: %s", d.Format, diff)
	}
	if !slices.Equal(r.seen, []image.Rectangle{image.Rect(0, 0, 600, 800)}) {
		t.Errorf("it has seen %v", r.seen)
	}
	src.Pages, _ = document.ParsePages("2")
	if _, err := pdf.Image(src, budget); !document.Is(err, document.Absent) {
		t.Errorf("page 2: %v", err)
	}
	r.unable = errors.New("it is not installed")
	if _, err := pdf.Image(src, budget); !document.Is(err, document.Unsupported) || !strings.Contains(err.Error(), "it is not installed") {
		t.Errorf("without a program: %v", err)
	}
}
