package documents

import (
	"toolcrib/tools"
	"toolcrib/tools/internal/document/reader"
	"toolcrib/tools/internal/services"
)

// Category returns the tools that read documents.
func Category(*services.Services) tools.Category {
	return tools.Category{
		ID: "documents", Title: "read office files, books, mail and archives",
		Guide: "parse_document turns office files, EPUB, RTF, HTML, mail, notebooks, CSV, feeds and zip archives into Markdown with headings, lists and tables, page by page",
		Tools: list(&deps{kept: newShelf(keptBytes), readers: reader.Set{}}),
	}
}

// list returns the tools of the category.
func list(d *deps) []tools.Tool {
	return []tools.Tool{
		parseDocumentTool(d),
	}
}

// keptBytes bounds the documents that are kept between the calls that page through them.
const keptBytes = 32 << 20

// deps is what the tools of the category share.
type deps struct {
	kept    *shelf
	readers reader.Set
}
