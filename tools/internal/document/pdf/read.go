package pdf

import (
	"errors"
	"fmt"
	"image"
	"time"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/pdf/pdfium"
)

// Reader reads PDFs. It is safe for use by several goroutines.
type Reader struct {
	Engine *pdfium.Engine
	// Whole keeps headers and footers that repeat, and page numbers.
	Whole bool
}

// Read implements [document.Reader].
func (r *Reader) Read(src document.Source, budget *document.Budget) (*document.Document, error) {
	if err := budget.CheckFile(src.Size); err != nil {
		return nil, err
	}
	o := &opened{reader: r, src: src, budget: budget}
	err := o.open()
	cut := document.Is(err, document.Truncated)
	if cut {
		if err = o.rebuild(err); err == nil {
			err = o.open()
		}
	}
	if err != nil {
		return nil, err
	}
	defer func() { o.file.Close() }()
	d := &document.Document{Format: "pdf", Title: o.file.Field("Title")}
	for _, name := range []string{"Author", "Subject", "Keywords", "CreationDate"} {
		d.Field(name, o.file.Field(name))
	}
	if cut {
		d.Warn(fmt.Sprintf("the end of the file is missing, and with it the list of its pages: the %d that were found are shown in the order of the file", o.count))
	} else if !o.file.HasEnd() {
		d.Warn("the end of the file is missing: pages may be missing too")
	}
	pages, err := o.pages(d)
	if err != nil {
		return nil, err
	}
	if len(pages) == 0 {
		if o.count == 0 {
			return nil, document.Errorf(document.Malformed, "it has no pages")
		}
		return nil, document.Errorf(document.Absent, "it has %d pages, and none of those that were asked for", o.count)
	}
	if !r.Whole {
		dropRunning(pages)
	}
	return d, write(d, pages, budget)
}

// opened is a file that is opened again if its instance ended at a page.
type opened struct {
	reader *Reader
	src    document.Source
	budget *document.Budget
	file   *pdfium.File
	count  int // of pages
}

// open leaves the file that was open, which must be closed, if there is an error.
func (o *opened) open() error {
	file, err := o.reader.Engine.Open(o.budget.Context(), o.src, o.src.Size, o.src.Password)
	if err != nil {
		return err
	}
	o.file, o.count = file, file.Pages()
	o.file.More = func() time.Duration { return moreTime(o.src, o.budget) }
	return nil
}

// reopen opens the file whose instance ended at a page.
func (o *opened) reopen() error {
	o.file.Close()
	if err := o.open(); err != nil {
		return err
	}
	o.file.PageTime, o.file.More = o.file.PageTime/laterShare, nil
	return nil
}

// rebuild gives a file whose end is missing another one; cut is the error that it has without.
func (o *opened) rebuild(cut error) error {
	whole, ok, err := rebuilt(o.src, o.budget)
	if err != nil {
		return err
	}
	if !ok {
		return cut
	}
	o.src = whole
	return nil
}

const (
	mostPages = 20_000
	// mostDead is how many pages may end their instance before the file is given up, and
	// laterShare how much of the time of a page those after the first have, so that a file of
	// nothing but such pages does not take long.
	mostDead   = 3
	laterShare = 5
	// mostFailed is how many pages may not load before the rest is not tried.
	mostFailed = 1000
)

// pages reads the pages that are asked for. One that cannot be read has a state that says so.
func (o *opened) pages(d *document.Document) (pages []*page, err error) {
	budget := o.budget
	scans := newScanner(o.src, budget, d)
	defer func() { err = scans.finish(err) }()
	dead, fine, broken := 0, 0, 0
	var failed error
	for i := range min(o.count, mostPages) {
		if !o.src.Pages.Has(i + 1) {
			continue
		}
		if err := budget.Err(); err != nil {
			return nil, err
		}
		raw, err := o.file.Page(i)
		if err != nil {
			if e := budget.Err(); e != nil {
				return nil, e
			}
			d.Warn(fmt.Sprintf("page %d cannot be read: %v", i+1, err))
			pages = append(pages, &page{number: i + 1, state: "cannot be read"})
			failed = err
			if o.file.Dead() {
				dead++
			}
			if broken++; dead == mostDead || broken == mostFailed {
				if i+1 < o.count {
					d.Warn(fmt.Sprintf("pages %d to %d were not tried", i+2, o.count))
				}
				break
			}
			if o.file.Dead() {
				if err := o.reopen(); err != nil {
					return nil, err
				}
			}
			continue
		}
		if err := budget.TakeText(len(raw.Chars)); err != nil {
			return nil, err
		}
		fine++
		p := newPage(raw, i+1)
		pages = append(pages, p)
		if p.scanned() && scans.ready() && !scans.late(p) {
			if err := o.scan(scans, p); err != nil {
				return nil, err
			}
		}
	}
	if fine == 0 && failed != nil {
		return nil, unreadable(failed)
	}
	if o.count > mostPages {
		d.Warn(fmt.Sprintf("pages behind %d were not read", mostPages))
	}
	return pages, nil
}

// scan has a page read from its picture.
func (o *opened) scan(scans *scanner, p *page) error {
	err := scans.begin(p, func() (*image.Gray, int, error) { return o.file.Render(p.number - 1) })
	if err == nil {
		return nil
	}
	p.state = fmt.Sprintf("only images, which cannot be drawn: %v", err)
	if !o.file.Dead() || scans.budget.Err() != nil {
		return scans.budget.Err()
	}
	return o.reopen()
}

// unreadable is the error of a file of whose pages none can be read.
func unreadable(err error) error {
	if e, ok := errors.AsType[*document.Error](err); ok {
		return e
	}
	return document.Errorf(document.Malformed, "no page can be read: %w", err)
}
