package pdfium_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toolcrib/tools/internal/document/pdf/pdfium"
	"toolcrib/tools/internal/document/pdf/pdftest"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == pdfium.Argument {
		os.Exit(pdfium.Main(os.Args[2], os.Stderr))
	}
	var err error
	if cache, err = os.MkdirTemp("", "pdfium"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(cache) // in the directory of temporary files
	os.Exit(code)
}

// cache is shared by the tests, since compiling takes seconds.
var cache string

// TestCache compiles in another process, and uses the code that it kept. Calls whose deadlines
// pass wait for the same process, one after the other.
func TestCache(t *testing.T) {
	e := &pdfium.Engine{Restarts: true, Cache: func() (string, error) { return cache, nil }}
	err := context.DeadlineExceeded
	for err == context.DeadlineExceeded {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err = e.Compile(ctx)
		cancel()
	}
	if err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob(filepath.Join(cache, "*", "wazero-*", "*"))
	if err != nil || len(kept) == 0 {
		t.Fatalf("no code is kept: %v", err)
	}
	readAll(t, e)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	readAll(t, e) // a closed engine starts again
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func readAll(t *testing.T, e *pdfium.Engine) {
	t.Helper()
	f := &pdftest.File{Title: "A title"}
	p := f.Page()
	p.Text(100, 200, 12, pdftest.Bold, "Ab")
	p.Rule(50, 300, 250, 300)
	p.Link(90, 180, 130, 210, "https://example.com")
	p.Image(300, 400, 50, 60)
	data := f.Bytes()
	file, err := e.Open(t.Context(), bytes.NewReader(data), int64(len(data)), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got, err := file.Page(0)
	if err != nil {
		t.Fatal(err)
	}
	if file.Field("Title") != "A title" || file.Pages() != 1 || !file.HasEnd() {
		t.Errorf("title %q, %d pages, its end %v", file.Field("Title"), file.Pages(), file.HasEnd())
	}
	if got.Width != pdftest.Width || got.Height != pdftest.Height {
		t.Errorf("the page has %gx%g points", got.Width, got.Height)
	}
	first := got.Chars[0]
	if first.Rune != 'A' || first.X != 100 || first.Y != pdftest.Height-200 || first.Text.Size != 12 || !first.Text.Bold || first.Text.Direction != 0 {
		t.Errorf("the first character is %+v of %+v", first, first.Text)
	}
	if len(got.Lines) != 1 || got.Lines[0].X0 != 50 || got.Lines[0].X1 != 250 || got.Lines[0].Y0 != pdftest.Height-300 {
		t.Errorf("the lines are %+v", got.Lines)
	}
	if len(got.Links) != 1 || got.Links[0].URI != "https://example.com" || got.Links[0].X0 != 90 {
		t.Errorf("the links are %+v", got.Links)
	}
	if len(got.Images) != 1 || got.Images[0] != (pdfium.Box{X0: 300, Y0: pdftest.Height - 460, X1: 350, Y1: pdftest.Height - 400}) {
		t.Errorf("the images are %+v", got.Images)
	}
	file.Close()
	if _, err := file.Page(0); err == nil || file.Field("Title") != "" {
		t.Error("a closed file can be read")
	}
}

// TestEnd has the deadline pass in the middle of a file; another one is read as before.
func TestEnd(t *testing.T) {
	e := &pdfium.Engine{Restarts: true, Cache: func() (string, error) { return cache, nil }}
	defer func() { _ = e.Close(context.Background()) }()
	if err := e.Compile(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := &pdftest.File{}
	f.Page().Text(100, 200, 12, pdftest.Plain, "text")
	data := f.Bytes()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	file, err := e.Open(ctx, bytes.NewReader(data), int64(len(data)), "")
	for err == nil {
		_, err = file.Page(0)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
	if file != nil {
		if !file.Dead() {
			t.Error("the instance lives on")
		}
		file.Close()
	}
	readAll(t, e)
}

// TestCollect collects garbage while PDFium reads one page: it does not wait for the end of it.
func TestCollect(t *testing.T) {
	e := &pdfium.Engine{Restarts: true, Cache: func() (string, error) { return cache, nil }}
	defer func() { _ = e.Close(context.Background()) }()
	f := &pdftest.File{}
	f.Page().Text(100, 200, 12, pdftest.Plain, strings.Repeat("text ", 3_000_000))
	data := f.Bytes()
	file, err := e.Open(t.Context(), bytes.NewReader(data), int64(len(data)), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	file.PageTime = time.Minute
	var ended atomic.Bool
	read := make(chan error)
	go func() {
		_, err := file.Page(0)
		ended.Store(true)
		read <- err
	}()
	begun, longest := time.Now(), time.Duration(0)
	for !ended.Load() {
		begun := time.Now()
		runtime.GC()
		longest = max(longest, time.Since(begun))
	}
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); longest > took/2 {
		t.Errorf("a collection waited %v, the page took %v", longest, took)
	}
}
