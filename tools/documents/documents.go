package documents

import (
	"os"
	"sync/atomic"

	"toolcrib/tools"
	"toolcrib/tools/documents/internal/index"
	"toolcrib/tools/internal/document/linked"
	"toolcrib/tools/internal/document/pdf/pdfium"
	"toolcrib/tools/internal/services"
)

// Category returns the tools that read documents.
func Category(s *services.Services) tools.Category {
	d := &deps{shared: s, kept: newShelf(keptBytes), readers: s.Documents(), caller: s.Caller, watch: watch{lists: s.Lists()}}
	d.settings = tools.NewSettings(Settings{}, d.apply)
	return tools.Category{
		ID: "documents", Title: "read and search PDF and office files, books, mail and archives",
		Guide:    "parse_document reads PDF, office files, books and mail; search_documents finds passages that answer",
		Settings: d.settings,
		Tools: []tools.Tool{
			parseDocumentTool(d),
			searchDocumentsTool(d),
		},
		Start:  d.watch.start,
		Doctor: d.doctor,
		Close:  d.readers.Close,
	}
}

// Program compiles the reader of PDFs if this binary was started again for that, and reports
// whether it was. args is the command line without the program name.
func Program(args []string) (exit int, was bool) {
	if len(args) != 2 || args[0] != pdfium.Argument {
		return 0, false
	}
	return pdfium.Main(args[1], os.Stderr), true
}

// keptBytes bounds the documents that are kept between the calls that page through them.
const keptBytes = 32 << 20

// deps is what the tools of the category share.
type deps struct {
	shared  *services.Services // who reads the web is known once all categories are made
	kept    *shelf
	readers *linked.Readers
	caller  tools.Caller // that reads pages of the web; nil = there is none
	indexed index.Cache
	watch   watch

	settings *tools.SettingsOf[Settings]
	model    atomic.Pointer[index.Model] // nil until settings were applied
}
