package pdfium

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"toolcrib/tools/internal/document"
)

// scratchSize is the size of the memory for results of calls.
const scratchSize = 4096

// File is an open PDF. It must not be used by several goroutines at once. After an error that
// ended its instance, [File.Dead] is true and every call fails.
type File struct {
	// PageTime is how long a page may take, of the processor where its time is known.
	PageTime time.Duration
	// More says how much longer a page may take that has not ended within PageTime; nil = no
	// longer. It is called while PDFium goes on.
	More func() time.Duration

	ctx          context.Context
	pdfium, bulk api.Module
	brake        brake
	functions    map[string]api.Function
	stack        [16]uint64
	scratch      uint32 // for results
	block        uint32 // for many results, of blockSize bytes
	blockSize    uint32
	doc          uint64
	pages        int
	fonts        map[uint32]*Font
	most         time.Duration // for the page that is read
	ended        bool
	own          memory
	err          error // that ended the instance
}

// Open opens a file. Its errors are those of [document.Error], and that of the context.
func (e *Engine) Open(ctx context.Context, file io.ReaderAt, size int64, password string) (*File, error) {
	if err := e.Compile(ctx); err != nil {
		return nil, err
	}
	ctx = context.WithValue(ctx, fileKey{}, file)
	f, err := e.instantiate(ctx)
	if err != nil {
		return nil, err
	}
	if err := f.load(file, size, password); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (e *Engine) instantiate(ctx context.Context) (*File, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.runtime == nil {
		return nil, errors.New("the engine is closed")
	}
	f := &File{ctx: ctx, PageTime: pageTime, functions: map[string]api.Function{}, fonts: map[uint32]*Font{}}
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize")
	var err error
	if f.pdfium, err = e.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, f.own.allocator()), e.pdfium, config); err != nil {
		f.Close()
		return nil, f.reason(err)
	}
	resolve := experimental.WithImportResolver(ctx, func(string) api.Module { return f.pdfium })
	if f.bulk, err = e.runtime.InstantiateModule(resolve, e.bulk, wazero.NewModuleConfig().WithName("")); err != nil {
		f.Close()
		return nil, f.reason(err)
	}
	for _, name := range []string{"chars", "objects", "segments"} {
		f.functions[name] = f.bulk.ExportedFunction(name)
	}
	f.brake.watch(ctx, f.pdfium, f.bulk)
	f.call("FPDF_InitLibrary")
	f.scratch = uint32(f.call("malloc", scratchSize))
	if f.err != nil {
		f.Close()
		return nil, f.err
	}
	return f, nil
}

// The codes of FPDF_GetLastError.
const (
	wrongPassword = 4
	otherSecurity = 5
)

var errCut = document.Errorf(document.Truncated, "its end is missing, and what is there cannot be read as a PDF")

func (f *File) load(file io.ReaderAt, size int64, password string) error {
	if f.ended = hasEnd(file, size); !f.ended && !hasTable(file, size) {
		return errCut
	}
	access := f.call("FPDF_FILEACCESS_Create", uint64(size), 0)
	secret := f.bytes([]byte(password + "\x00"))
	f.doc = f.call("FPDF_LoadCustomDocument", access, uint64(secret))
	if f.err != nil {
		return f.err
	}
	if f.doc == 0 {
		switch code := f.int("FPDF_GetLastError"); {
		case code == wrongPassword && password == "":
			return &document.Error{Cause: document.Encrypted, Say: "it needs a password", Opens: true}
		case code == wrongPassword:
			return &document.Error{Cause: document.Encrypted, Say: "the password does not open it", Opens: true}
		case code == otherSecurity:
			return document.Errorf(document.Unsupported, "it is encrypted in a way that is not supported")
		case !f.ended:
			return errCut
		default:
			return document.Errorf(document.Malformed, "it cannot be read as a PDF")
		}
	}
	f.pages = f.int("FPDF_GetPageCount", f.doc)
	return f.err
}

// hasEnd reports whether the end of a file has the mark that ends a PDF.
func hasEnd(file io.ReaderAt, size int64) bool {
	tail := make([]byte, min(size, 2048))
	n, _ := file.ReadAt(tail, size-int64(len(tail)))
	return bytes.Contains(tail[:n], []byte("%%EOF"))
}

// hasTable reports whether a file has a table of its objects somewhere, or may have, since it cannot
// be read: without one, PDFium looks at each object only to give the file up.
func hasTable(file io.ReaderAt, size int64) bool {
	const overlap = 8
	block := make([]byte, 64<<10)
	for at := int64(0); at < size; at += int64(len(block)) - overlap {
		n, err := file.ReadAt(block, at)
		if bytes.Contains(block[:n], []byte("trailer")) || bytes.Contains(block[:n], []byte("XRef")) || err != nil && err != io.EOF {
			return true
		}
	}
	return false
}

// Pages is how many pages the file says it has.
func (f *File) Pages() int { return f.pages }

// Dead reports whether the instance has ended.
func (f *File) Dead() bool { return f.err != nil }

// Field returns a fact that the file says of itself: "Title", "Author", "CreationDate" ...
func (f *File) Field(name string) string {
	return f.utf16("FPDF_GetMetaText", f.doc, uint64(f.bytes([]byte(name+"\x00"))))
}

// Close ends the instance.
func (f *File) Close() {
	f.brake.release()
	ctx := context.WithoutCancel(f.ctx)
	if f.bulk != nil {
		_ = f.bulk.Close(ctx) // it has nothing that could be lost
	}
	if f.pdfium != nil {
		_ = f.pdfium.Close(ctx)
	}
	f.own.release()
	if f.err == nil {
		f.err = errors.New("the file is closed")
	}
}

// call calls a function of PDFium. After the first error it does nothing and returns 0.
func (f *File) call(name string, args ...uint64) uint64 {
	if f.err == nil {
		f.err = f.ctx.Err()
	}
	if f.err != nil {
		return 0
	}
	function := f.functions[name]
	if function == nil {
		function = f.pdfium.ExportedFunction(name)
		f.functions[name] = function
	}
	f.stack[0] = 0
	copy(f.stack[:], args)
	if err := function.CallWithStack(f.ctx, f.stack[:]); err != nil {
		f.err = f.reason(err)
		return 0
	}
	return f.stack[0]
}

func (f *File) int(name string, args ...uint64) int { return int(int32(f.call(name, args...))) }

// reason says why an instance ended.
func (f *File) reason(err error) error {
	if e := f.ctx.Err(); e != nil {
		return e
	}
	if f.brake.late() {
		return &document.Error{Cause: document.TooLarge, Limit: "time", Err: err, Say: fmt.Sprintf("limit of time: a page may take at most %v", f.most.Round(time.Millisecond))}
	}
	// What grows to twice its size needs three times the room meanwhile.
	if f.pdfium != nil && f.pdfium.Memory().Size() > Memory/3 {
		return tooLarge(err)
	}
	return &document.Error{Cause: document.Malformed, Err: err, Say: "PDFium stopped at something that it cannot read"}
}

func tooLarge(err error) error {
	return &document.Error{Cause: document.TooLarge, Limit: "memory", Err: err, Say: fmt.Sprintf("limit of memory: PDFium may take at most %d MiB", Memory>>20)}
}

func (f *File) memory() api.Memory { return f.pdfium.Memory() }

func (f *File) float(at uint32) float64 {
	v, _ := f.memory().ReadFloat32Le(f.scratch + at)
	return float64(v)
}

func (f *File) uint(at uint32) uint32 {
	v, _ := f.memory().ReadUint32Le(f.scratch + at)
	return v
}

// bytes puts a short text into the memory of PDFium until the next one.
func (f *File) bytes(text []byte) uint32 {
	const at = scratchSize / 2
	if f.err != nil {
		return 0
	}
	if len(text) > scratchSize-at {
		text = text[:scratchSize-at]
		text[len(text)-1] = 0
	}
	f.memory().Write(f.scratch+at, text)
	return f.scratch + at
}

// reserve returns memory for many results.
func (f *File) reserve(size uint32) uint32 {
	if size > f.blockSize {
		f.call("free", uint64(f.block))
		f.block, f.blockSize = uint32(f.call("malloc", uint64(size))), size
		if f.block == 0 && f.err == nil {
			f.err = tooLarge(nil)
		}
	}
	return f.block
}

// records returns what a function of bulk.wat writes: n records of a size.
func (f *File) records(n int, size uint32, name string, args ...uint64) []byte {
	const most = 1 << 20
	if n <= 0 || f.err != nil {
		return nil
	}
	n = min(n, most)
	at := f.reserve(uint32(n) * size)
	f.call(name, append(args, uint64(n), uint64(at))...)
	data, ok := f.memory().Read(at, uint32(n)*size)
	if f.err != nil || !ok {
		return nil
	}
	return bytes.Clone(data)
}

// utf16 returns the text that a function writes as UTF-16 with a zero at its end, at a place
// and of a size that are its last arguments. The function returns the size.
func (f *File) utf16(name string, args ...uint64) string {
	const most = 64 << 10
	size := f.call(name, append(args, 0, 0)...)
	if size < 4 || size > most {
		return ""
	}
	at := f.reserve(uint32(size))
	f.call(name, append(args, uint64(at), size)...)
	data, ok := f.memory().Read(at, uint32(size))
	if f.err != nil || !ok {
		return ""
	}
	units := make([]uint16, 0, size/2)
	for i := 0; i+1 < len(data); i += 2 {
		units = append(units, binary.LittleEndian.Uint16(data[i:]))
	}
	return strings.TrimRight(string(utf16.Decode(units)), "\x00")
}

// HasEnd reports whether the file has the mark that ends a PDF.
func (f *File) HasEnd() bool { return f.ended }
