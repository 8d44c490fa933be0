// Command convert reads PDFs and writes, for each, what a figure wants to know as a line of
// JSON. It exists for the figure "pdf".
//
// Usage: convert [-whole] [-out DIR] [-timeout D] CACHE FILE...
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/pdf"
	"toolcrib/tools/internal/document/pdf/pdfium"
)

// Report is a line of the output.
type Report struct {
	File     string
	Error    string
	Pages    int
	Took     time.Duration
	Markdown string
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == pdfium.Argument {
		os.Exit(pdfium.Main(os.Args[2], os.Stderr))
	}
	whole := flag.Bool("whole", false, "keep headers and footers")
	timeout := flag.Duration("timeout", time.Minute, "for a file")
	flag.Parse()
	cache := flag.Arg(0)
	r := &pdf.Reader{Whole: *whole, Engine: &pdfium.Engine{Restarts: true, Cache: func() (string, error) { return cache, nil }}}
	start := time.Now()
	if err := r.Engine.Compile(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	out := json.NewEncoder(os.Stdout)
	_ = out.Encode(Report{Took: time.Since(start)})
	for _, name := range flag.Args()[1:] {
		_ = out.Encode(convert(r, name, *timeout))
	}
}

func convert(r *pdf.Reader, name string, timeout time.Duration) Report {
	rep := Report{File: filepath.ToSlash(name)}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	file, err := os.Open(name)
	if err != nil {
		rep.Error = err.Error()
		return rep
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		rep.Error = err.Error()
		return rep
	}
	start := time.Now()
	d, err := r.Read(document.Source{ReaderAt: file, Size: info.Size(), Name: name}, document.NewBudget(ctx, document.Standard()))
	rep.Took = time.Since(start)
	if err != nil {
		rep.Error = err.Error()
		return rep
	}
	for _, b := range d.Blocks {
		if b.Kind == document.Mark {
			rep.Pages++
		}
	}
	rep.Markdown = d.Markdown()
	return rep
}
