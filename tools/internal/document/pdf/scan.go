package pdf

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/image/draw"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/picture"
	"toolcrib/tools/internal/text/textfile"
)

// scanner has pages read that are only images.
type scanner struct {
	src    document.Source
	sum    []byte // of the file; nil = it was not needed yet
	budget *document.Budget
	ctx    context.Context // of the recognizer
	stop   context.CancelFunc
	begun  []scan
	warn   func(say string)
	unable bool
}

// scan is a page that is being read from a picture.
type scan struct {
	page *page
	wait func() (document.Recognized, error)
}

// recognizing is how long pages of one file may be read from pictures, so that the rest of
// the call has time too.
const recognizing = 40 * time.Second

func newScanner(src document.Source, budget *document.Budget, d *document.Document) *scanner {
	return &scanner{src: src, budget: budget, warn: d.Warn}
}

// ready reports whether pages can be read. If not, it says once what helps.
func (s *scanner) ready() bool {
	r := s.budget.Recognizer
	if r == nil {
		s.budget.Unread++
		return false
	}
	if s.ctx == nil {
		if s.budget.RecognizeBy.IsZero() {
			s.budget.RecognizeBy = time.Now().Add(recognizing)
		}
		s.ctx, s.stop = context.WithDeadline(s.budget.Context(), s.budget.RecognizeBy)
		if err := r.Ready(s.ctx); err != nil {
			s.unable = true
			s.warn("pages that are only images were not read: " + err.Error())
		}
	}
	if s.unable {
		s.budget.Unread++
	}
	return !s.unable
}

// begin begins to read a page from its picture. The error is that of draw.
func (s *scanner) begin(p *page, draw func() (*image.Gray, int, error)) error {
	wait, err := s.budget.Recognizer.Begin(s.ctx, s.id(p), draw)
	if err == nil {
		s.begun = append(s.begun, scan{p, wait})
	}
	return err
}

// id names the picture of a page by what the file has. What a password opens has no name.
func (s *scanner) id(p *page) string {
	if s.src.Password != "" {
		return ""
	}
	if s.sum == nil {
		hash := sha256.New()
		if _, err := io.Copy(hash, io.NewSectionReader(s.src, 0, s.src.Size)); err != nil {
			return ""
		}
		s.sum = hash.Sum(nil)
	}
	return fmt.Sprintf("%x %d", s.sum, p.number)
}

// late reports whether the time for a page is over, and then says so in its state.
func (s *scanner) late(p *page) bool {
	if s.ctx.Err() == nil {
		return false
	}
	s.budget.Unread++
	s.budget.Late++
	p.state = "only images, not read by OCR yet"
	s.warn("some pages are not read by OCR yet, since the time was over: call again, which goes on from here")
	return true
}

// finish waits for the pages that are being read, or ends that if the file has an error.
func (s *scanner) finish(err error) error {
	if s.stop == nil {
		return err
	}
	defer s.stop()
	for _, one := range s.begun {
		if err != nil {
			s.stop()
		}
		text, failed := one.wait()
		switch {
		case err != nil:
		case failed == nil:
			err = s.take(one.page, text)
		case s.budget.Err() != nil:
			err = s.budget.Err()
		case errors.Is(failed, context.DeadlineExceeded) && s.late(one.page):
		default:
			s.budget.Unread++
			one.page.state = "only images, which OCR did not read: " + failed.Error()
		}
	}
	return err
}

// take gives a page the words that were recognized, unless the text that it has is better.
func (s *scanner) take(p *page, text document.Recognized) error {
	s.budget.Recognized++
	var all []*word
	chars := 0
	scale := 72 / float64(text.DPI)
	for _, r := range text.Words {
		n := utf8.RuneCountInString(r.Text)
		if err := s.budget.TakeText(len(r.Text)); err != nil {
			return err
		}
		chars += n
		all = append(all, &word{
			text: r.Text, x0: r.X0 * scale, x1: r.X1 * scale, y: r.Y * scale, size: max(r.Size*scale, 1),
			style: plainStyle, chars: n, spaced: true,
		})
	}
	if chars < 2*p.chars { // a stamp on a picture without text
		return nil
	}
	p.state = fmt.Sprintf("read by OCR (%s), which makes errors", text.Language)
	if text.Turned != 0 {
		p.state = fmt.Sprintf("turned by %d degrees and ", text.Turned) + p.state
	}
	switch {
	case chars == 0:
		p.state = fmt.Sprintf("only images, in which OCR (%s) found no text", text.Language)
	case text.Sure < .7:
		p.state += ": much of it is unsure"
	}
	if text.Untried && text.Sure < .7 {
		s.warn("it is not seen whether a page is turned: tesseract lacks its data file osd, which the user can install, such as by `apt install tesseract-ocr-osd`")
	}
	level(all)
	p.words, p.lines, p.aside, p.images, p.chars = all, lines(all), nil, nil, chars
	p.top, p.bottom, p.width = 0, float64(text.Height)*scale, float64(text.Width)*scale
	return nil
}

// level gives words of nearly the usual size that size: recognized ones vary.
func level(words []*word) {
	const alike = .14
	if len(words) == 0 {
		return
	}
	var sizes []float64
	for _, w := range words {
		for range w.chars {
			sizes = append(sizes, w.size)
		}
	}
	slices.Sort(sizes)
	usual := sizes[len(sizes)/2]
	for _, w := range words {
		if math.Abs(w.size-usual) < alike*usual {
			w.size = usual
		}
	}
}

// Image reads a picture of pages. It needs a recognizer.
func Image(src document.Source, budget *document.Budget) (*document.Document, error) {
	head, err := src.Head(textfile.SniffLen)
	if err != nil {
		return nil, err
	}
	mime := textfile.MIME(head, textfile.Sniff(head, false))
	d := &document.Document{Format: strings.TrimPrefix(mime, "image/")}
	if budget.Recognizer == nil {
		budget.Unread++
		return nil, document.Errorf(document.Unsupported, "it is an image, whose text is not read here")
	}
	s := newScanner(src, budget, d)
	if err := budget.Recognizer.Ready(budget.Context()); err != nil {
		budget.Unread++
		return nil, document.Errorf(document.Unsupported, "it is an image, whose text cannot be read: %w", err)
	}
	s.ready()
	var pages []*page
	all := picture.Pages(io.NewSectionReader(src, 0, src.Size), mime)
	for i, decode := range all {
		if !src.Pages.Has(i + 1) {
			continue
		}
		if err = budget.Err(); err != nil {
			break
		}
		p := &page{number: i + 1, state: "no text"}
		pages = append(pages, p)
		if s.late(p) {
			continue
		}
		if err := s.begin(p, func() (*image.Gray, int, error) {
			img, err := decode()
			if err != nil {
				return nil, 0, err
			}
			img, dpi := legible(img)
			return img, dpi, nil
		}); err != nil {
			p.state = "cannot be read: " + err.Error()
		}
	}
	if err := s.finish(err); err != nil {
		return nil, err
	}
	switch {
	case len(all) == 0:
		return nil, document.Errorf(document.Malformed, "the image has no pages")
	case len(pages) == 0:
		return nil, document.Errorf(document.Absent, "it has %d pages, and none of those that were asked for", len(all))
	}
	return d, write(d, pages, budget)
}

// legible scales a picture so that letters have a size that is recognized well, and guesses
// its resolution, as if it had the height of a sheet of paper.
func legible(img *image.Gray) (*image.Gray, int) {
	const (
		sheet        = 11 // inches
		small, large = 1800, 5200
	)
	long := max(img.Rect.Dx(), img.Rect.Dy())
	scale := 1.0
	switch {
	case long < small:
		scale = 2
	case long > large:
		scale = large / float64(long)
	}
	if scale != 1 {
		out := image.NewGray(image.Rect(0, 0, max(1, int(scale*float64(img.Rect.Dx()))), max(1, int(scale*float64(img.Rect.Dy())))))
		draw.BiLinear.Scale(out, out.Rect, img, img.Rect, draw.Src, nil)
		img, long = out, max(out.Rect.Dx(), out.Rect.Dy())
	}
	return img, min(max(long/sheet, 100), 400)
}
