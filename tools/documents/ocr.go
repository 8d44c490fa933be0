package documents

import (
	"cmp"
	"context"
	"strings"

	"toolcrib/tools"
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

// doctor reports whether images of pages can be read.
func (d *deps) doctor(ctx context.Context) []tools.Finding {
	languages, read := d.languages("")
	if !read {
		return nil
	}
	if tesseract.Find() == "" {
		return []tools.Finding{{State: tools.Missing, What: "ocr", Say: "pages that are only images are named and not read: " + tesseract.Missing}}
	}
	have, err := d.readers.Tesseract.Languages(ctx)
	if err == nil {
		err = d.readers.Tesseract.With(languages).Ready(ctx)
	}
	if err != nil {
		return []tools.Finding{{State: tools.Broken, What: "ocr", Say: "pages that are only images cannot be read: " + err.Error()}}
	}
	return []tools.Finding{{State: tools.Fine, What: "ocr", Say: tesseract.Find() + " reads pages that are only images, in " + strings.Join(have, ", ")}}
}
