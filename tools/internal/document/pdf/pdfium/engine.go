// Package pdfium is PDFium as WebAssembly: it gives the characters, the ruling lines and the
// links of a page, with their places.
//
// Each file has a fresh instance of one compiled module, with 224 MiB of memory, no file
// system, and an end when its context or the time of a page is over. Nothing of a file survives
// its instance. Start reading at [Engine], then [File.Page].
package pdfium

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

const (
	// Memory is how many bytes PDFium may take for one file.
	Memory = 224 << 20
	// Argument makes this program compile PDFium into the directory of the next argument.
	Argument = "compile-pdfium"
	// Sum is the SHA-256 of the WebAssembly module, which a test checks; LICENSE says where it is
	// from.
	Sum = "31016e820995b977f8c6fc5128c6a54370445fc16eb8c32862ca24e3cccd6dc9"

	wasmPage      = 64 << 10
	mostCompilers = 2 // goroutines that compile, each of which takes some 75 MB
)

//go:embed pdfium.wasm.zst
var packed []byte

//go:embed bulk.wasm
var bulkCode []byte

// Engine compiles PDFium at its first use. It is safe for use by several goroutines.
type Engine struct {
	// Cache returns the directory that keeps compiled code; nil = each process compiles.
	Cache func() (string, error)
	// Restarts reports whether this binary calls [Main] for [Argument]. Then the first
	// compilation, which takes some 430 MB, is in a process of its own that ends.
	Restarts bool

	mu           sync.Mutex
	runtime      wazero.Runtime
	pdfium, bulk wazero.CompiledModule
	apart        *apart // nil = no other process compiles
}

// apart is a compilation in another process.
type apart struct {
	stop context.CancelFunc
	done chan struct{}
	err  error // once done is closed
}

// Main compiles PDFium into a directory and returns the exit code.
func Main(dir string, stderr io.Writer) int {
	e := &Engine{}
	ctx := context.Background()
	err := e.compile(ctx, dir)
	if err == nil {
		err = e.Close(ctx)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// Compile makes the engine ready, if it is not. It takes seconds if there is no compiled code.
// If ctx ends before, the work goes on, and the next call waits for the rest of it.
func (e *Engine) Compile(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.runtime != nil {
		return nil
	}
	dir := ""
	if e.Cache != nil {
		base, err := e.Cache()
		if err != nil {
			return err
		}
		dir = filepath.Join(base, Sum[:16])
	}
	if dir != "" && e.Restarts && !compiled(dir) {
		if err := e.await(ctx, dir); err != nil || e.runtime != nil {
			return err
		}
	}
	return e.compile(ctx, dir)
}

// await waits for another process to compile into a directory, which it starts if there is none.
// The caller holds e.mu, which is free meanwhile.
func (e *Engine) await(ctx context.Context, dir string) error {
	a := e.apart
	if a == nil {
		background, stop := context.WithCancel(context.WithoutCancel(ctx))
		a = &apart{stop: stop, done: make(chan struct{})}
		e.apart = a
		go func() {
			defer stop()
			a.err = compileApart(background, dir)
			e.mu.Lock()
			defer e.mu.Unlock()
			e.apart = nil
			close(a.done)
		}()
	}
	e.mu.Unlock()
	defer e.mu.Lock()
	select {
	case <-a.done:
		return a.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Kept reports whether the engine is ready or has code from before, as far as names tell.
func (e *Engine) Kept() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.runtime != nil || e.Cache == nil {
		return e.runtime != nil
	}
	dir, err := e.Cache()
	return err == nil && compiled(filepath.Join(dir, Sum[:16]))
}

// compiled reports whether a directory has code, as far as names tell.
func compiled(dir string) bool {
	found, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*[0-9a-f]"))
	return err == nil && len(found) > 0
}

func compileApart(ctx context.Context, dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var say bytes.Buffer
	c := exec.CommandContext(ctx, self, Argument, dir)
	c.Stderr = &say
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return errors.New("the reader of PDFs was closed while it was prepared")
		}
		return fmt.Errorf("compiling PDFium: %w: %s", err, bytes.TrimSpace(say.Bytes()))
	}
	return nil
}

// compile makes the runtime. It is not bound to the deadline of a call, which would be lost
// work for the next one. The runtime does not watch the context of a call, which makes loops up
// to five times as slow: see brake.
func (e *Engine) compile(ctx context.Context, dir string) (err error) {
	ctx = experimental.WithCompilationWorkers(context.WithoutCancel(ctx), min(runtime.GOMAXPROCS(0), mostCompilers))
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(Memory / wasmPage)
	if dir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(dir)
		if err != nil {
			return err
		}
		config = config.WithCompilationCache(cache)
	}
	code, err := module()
	if err != nil {
		return err
	}
	made := wazero.NewRuntimeWithConfig(ctx, config)
	defer func() {
		if err != nil {
			err = errors.Join(err, made.Close(ctx))
		}
	}()
	if _, err = wasi_snapshot_preview1.Instantiate(ctx, made); err != nil {
		return err
	}
	if e.pdfium, err = made.CompileModule(ctx, code); err != nil {
		return err
	}
	if e.bulk, err = made.CompileModule(ctx, bulkCode); err != nil {
		return err
	}
	if err = host(ctx, made, e.pdfium); err != nil {
		return err
	}
	e.runtime = made
	return nil
}

// module unpacks the WebAssembly module.
func module() ([]byte, error) {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.DecodeAll(packed, nil)
}

// Close frees the compiled code. The engine can be used again.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a := e.apart; a != nil {
		a.stop()
		e.mu.Unlock()
		<-a.done
		e.mu.Lock()
	}
	if e.runtime == nil {
		return nil
	}
	err := e.runtime.Close(ctx)
	e.runtime, e.pdfium, e.bulk = nil, nil, nil
	return err
}

// fileKey is the key of the open file in the context of a call.
type fileKey struct{}

// host makes the functions that PDFium imports. Only that which reads the file does
// something: the others are for forms and drawing, which nobody here asks for.
func host(ctx context.Context, runtime wazero.Runtime, module wazero.CompiledModule) error {
	b := runtime.NewHostModuleBuilder("env")
	for _, f := range module.ImportedFunctions() {
		from, name, _ := f.Import()
		if from != "env" {
			continue
		}
		do := api.GoModuleFunc(func(_ context.Context, _ api.Module, stack []uint64) { clear(stack[:len(f.ResultTypes())]) })
		if name == "FPDF_FILEACCESS_CB" {
			do = readBlock
		}
		b.NewFunctionBuilder().WithGoModuleFunction(do, f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

// readBlock reads a part of the file into the memory of PDFium: parameter, position,
// destination, size. It returns 0 if that is not possible.
func readBlock(ctx context.Context, m api.Module, stack []uint64) {
	position, at, size := int64(uint32(stack[1])), uint32(stack[2]), uint32(stack[3])
	stack[0] = 0
	file, _ := ctx.Value(fileKey{}).(io.ReaderAt)
	block, ok := m.Memory().Read(at, size)
	if file == nil || !ok {
		return
	}
	if n, _ := file.ReadAt(block, position); n == len(block) {
		stack[0] = uint64(size)
	}
}
