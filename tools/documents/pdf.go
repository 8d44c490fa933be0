package documents

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"toolcrib/tools"
	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/pdf"
	"toolcrib/tools/internal/document/pdf/pdfium"
	"toolcrib/workspace"
	"toolcrib/workspace/state"
)

// Program compiles the reader of PDFs if this binary was started again for that, and reports
// whether it was. args is the command line without the program name.
func Program(args []string) (exit int, was bool) {
	if len(args) != 2 || args[0] != pdfium.Argument {
		return 0, false
	}
	return pdfium.Main(args[1], os.Stderr), true
}

// pdfs reads PDFs by an engine that is made at the first of them.
type pdfs struct {
	restarts bool

	mu     sync.Mutex
	engine *pdfium.Engine
}

// read is a [document.Reader].
func (p *pdfs) read(src document.Source, budget *document.Budget) (*document.Document, error) {
	ctx := budget.Context()
	e := p.get(tools.Session(ctx).Workspace)
	if !e.Kept() {
		tools.Progress(ctx)(tools.ProgressEvent{Message: "preparing the reader of PDFs, which takes some seconds the first time"})
	}
	return (&pdf.Reader{Engine: e}).Read(src, budget)
}

func (p *pdfs) get(ws *workspace.Workspace) *pdfium.Engine {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.engine == nil {
		p.engine = &pdfium.Engine{Restarts: p.restarts}
		if ws.StateBase() != "" {
			p.engine.Cache = func() (string, error) { return compiledDir(ws) }
		}
	}
	return p.engine
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

func (p *pdfs) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.engine == nil {
		return nil
	}
	return p.engine.Close(context.Background())
}
