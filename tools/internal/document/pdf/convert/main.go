// Command convert reads PDFs and writes, for each, what a figure wants to know as a line of
// JSON. It exists for the figure "pdf".
//
// Usage: convert [-whole] [-timeout D] CACHE FILE...
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	Cut      int // pages that a limit has ended
	Took     time.Duration
	Spent    time.Duration // of the processors
	Markdown string
	Peak     int // MB of memory, in the last line, which has no file
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
	if err := r.Engine.Compile(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	out := json.NewEncoder(os.Stdout)
	for _, name := range flag.Args()[1:] {
		_ = out.Encode(convert(r, name, *timeout))
	}
	_ = out.Encode(Report{Peak: peak()})
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
	start, before := time.Now(), spent()
	d, err := r.Read(document.Source{ReaderAt: file, Size: info.Size(), Name: name}, document.NewBudget(ctx, document.Standard()))
	rep.Took, rep.Spent = time.Since(start), spent()-before
	if err != nil {
		rep.Error = err.Error()
		return rep
	}
	for _, b := range d.Blocks {
		if b.Kind == document.Mark {
			rep.Pages++
		}
	}
	for _, w := range d.Warnings {
		if strings.Contains(w, "limit of ") {
			rep.Cut++
		}
	}
	rep.Markdown = d.Markdown()
	return rep
}

// peak is how much memory this process had at most.
func peak() int {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes := 0
	_, _ = fmt.Sscan(rest, &kilobytes)
	return kilobytes >> 10
}
