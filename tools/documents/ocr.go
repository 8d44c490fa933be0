package documents

import (
	"cmp"
	"context"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/tesseract"
)

// languages returns those that a call, or else the user, wants images to be read with; "" = those
// that are installed, and false = images are not read.
func (d *deps) languages(called string) (languages string, read bool) {
	configured := d.settings.Now().Documents.OCR
	if called == "auto" {
		called = ""
	}
	languages = cmp.Or(called, configured)
	return languages, languages != "never"
}

// recognizer returns what reads images of pages as the settings want it; nil = nothing does, and
// why says so.
func (d *deps) recognizer(ctx context.Context) (r document.Recognizer, why string) {
	languages, read := d.languages("")
	if !read {
		return nil, "the user does not want them to be read by OCR"
	}
	r = d.readers.Tesseract.With(languages)
	if err := r.Ready(ctx); err != nil {
		return nil, err.Error()
	}
	return r, ""
}

// doctor reports whether images of pages can be read.
func (d *deps) doctor(ctx context.Context) []tools.Finding {
	languages, read := d.languages("")
	if !read {
		return nil
	}
	if tesseract.Find() == "" {
		return []tools.Finding{{State: tools.Missing, What: "ocr", Say: "pages that are only images are named and not read: " + tesseract.Missing}}
	}
	have, turns, err := d.readers.Tesseract.Languages(ctx)
	if err == nil {
		err = d.readers.Tesseract.With(languages).Ready(ctx)
	}
	if err != nil {
		return []tools.Finding{{State: tools.Broken, What: "ocr", Say: "pages that are only images cannot be read: " + err.Error()}}
	}
	say := tesseract.Find() + " reads pages that are only images, in " + strings.Join(have, ", ")
	if !turns {
		say += "; it does not see that a page is turned, since its data file osd is missing"
	}
	return []tools.Finding{{State: tools.Fine, What: "ocr", Say: say}}
}
