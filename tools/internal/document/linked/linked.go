// Package linked reads documents of every format that this program has a reader for, PDF
// among them, whose engine it makes at the first file and keeps.
//
// It imports the readers, the contract of tools, and the state for compiled code. Start at
// [Readers.Read].
package linked

import (
	"context"
	"path/filepath"
	"sync"

	"toolcrib/tools"
	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/pdf"
	"toolcrib/tools/internal/document/pdf/pdfium"
	"toolcrib/tools/internal/document/reader"
	"toolcrib/tools/internal/document/tesseract"
	"toolcrib/workspace"
	"toolcrib/workspace/state"
)

// Readers reads documents for the tools of a process.
type Readers struct {
	// Restarts is that of the engine of PDFs.
	Restarts bool
	// Tesseract recognizes what pictures of pages say.
	Tesseract tesseract.Engine

	mu     sync.Mutex
	engine *pdfium.Engine // nil = there was no PDF yet
}

// Read reads a file. A PDF is read only if the context of the budget is that of a call.
func (r *Readers) Read(src document.Source, budget *document.Budget) (*document.Document, error) {
	return reader.Set{PDF: r.pdf, Image: pdf.Image}.Read(src, budget)
}

// Document reports whether a file is a document in a format of its own, see [reader.Set].
func (r *Readers) Document(src document.Source, budget *document.Budget) bool {
	return reader.Set{PDF: r.pdf, Image: pdf.Image}.Document(src, budget)
}

// pdf is a [document.Reader].
func (r *Readers) pdf(src document.Source, budget *document.Budget) (*document.Document, error) {
	ctx := budget.Context()
	s := tools.Session(ctx)
	if s == nil || s.Workspace == nil { // its state keeps the compiled code
		return nil, document.Errorf(document.Unsupported, "PDF files are read only in a call")
	}
	e := r.engineFor(s.Workspace)
	if !e.Kept() {
		tools.Progress(ctx)(tools.ProgressEvent{Message: "preparing the reader of PDFs, which takes some seconds the first time"})
	}
	return (&pdf.Reader{Engine: e}).Read(src, budget)
}

func (r *Readers) engineFor(ws *workspace.Workspace) *pdfium.Engine {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine == nil {
		r.engine = &pdfium.Engine{Restarts: r.Restarts}
		if ws.StateBase() != "" {
			r.engine.Cache = func() (string, error) { return compiledDir(ws) }
		}
	}
	return r.engine
}

// compiledDir returns the directory of compiled code, which all roots share.
func compiledDir(ws *workspace.Workspace) (string, error) {
	shared, err := state.Shared(ws.StateBase(), ws.Roots()...)
	if err != nil {
		return "", err
	}
	folder, err := shared.Folder("pdfium")
	if err != nil {
		return "", err
	}
	return filepath.Clean(folder.Name()), folder.Close()
}

// Close frees what the readers hold. They can be used again.
func (r *Readers) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine == nil {
		return nil
	}
	return r.engine.Close(context.Background())
}
