package documents

import (
	"toolcrib/tools"
	"toolcrib/tools/internal/services"
)

// Category returns the tools that read documents.
func Category(s *services.Services) tools.Category {
	d := &deps{kept: newShelf(keptBytes), pdf: pdfs{restarts: s.Restarts}}
	return tools.Category{
		ID: "documents", Title: "read PDF and office files, books, mail and archives",
		Guide: "parse_document turns PDF and office files, EPUB, RTF, HTML, mail, notebooks, CSV, feeds and zip archives into Markdown with headings, lists and tables, page by page",
		Tools: []tools.Tool{parseDocumentTool(d)},
		Close: d.pdf.close,
	}
}

// keptBytes bounds the documents that are kept between the calls that page through them.
const keptBytes = 32 << 20

// deps is what the tools of the category share.
type deps struct {
	kept *shelf
	pdf  pdfs
}
