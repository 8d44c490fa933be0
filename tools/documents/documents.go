package documents

import (
	"toolcrib/tools"
	"toolcrib/tools/documents/internal/index"
	"toolcrib/tools/internal/document/reader"
	"toolcrib/tools/internal/services"
)

// Category returns the tools that read documents.
func Category(*services.Services) tools.Category {
	d := &deps{kept: newShelf(keptBytes), readers: reader.Set{}}
	return tools.Category{
		ID: "documents", Title: "read and search office files, books, mail and archives",
		Guide: "parse_document turns office files, EPUB, RTF, HTML, mail, notebooks, CSV, feeds and zip archives into Markdown with headings, lists and tables, page by page; search_documents finds the passages that answer a question, in documents of any language",
		Tools: []tools.Tool{
			parseDocumentTool(d),
			searchDocumentsTool(d),
		},
		Start: d.watch.start,
	}
}

// keptBytes bounds the documents that are kept between the calls that page through them.
const keptBytes = 32 << 20

// deps is what the tools of the category share.
type deps struct {
	kept    *shelf
	readers reader.Set
	indexed index.Cache
	watch   watch
}
