package vector

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"
)

// Table is a directory with static embeddings in the form of model2vec: model.safetensors has
// a vector of each token, tokenizer.json divides texts into tokens. A text has the mean of its
// tokens' vectors. The vectors stay on disk.
type Table struct {
	Dir string

	mu     sync.Mutex
	opened *opened // nil until the first use
}

// opened is a table as its files have it.
type opened struct {
	name     string
	tokens   *tokenizer
	rows     io.ReaderAt
	at       int64 // where the first row begins
	count    int
	columns  int
	bytes    int       // of a number: 4, 2 or 1
	weights  []float32 // by token; nil = all are alike
	mapping  []int     // the row of a token; nil = its number
	modified int64
}

// The files of a table, and how much of them is read.
const (
	weightsFile   = "model.safetensors"
	tokenizerFile = "tokenizer.json"
	mostHeader    = 16 << 20
	mostTokenizer = 256 << 20
	mostTokens    = 1024 // of a text
)

// Check returns why the files of a table cannot be used.
func (t *Table) Check() error {
	_, err := t.open()
	return err
}

// Name implements [Model].
func (t *Table) Name() string {
	o, err := t.open()
	if err != nil {
		return t.Dir
	}
	return o.name
}

// Batch implements [Model].
func (t *Table) Batch(texts []string) int { return min(len(texts), 100) }

// Vectors implements [Model].
func (t *Table) Vectors(ctx context.Context, texts []string) ([][]int8, error) {
	o, err := t.open()
	if err != nil {
		return nil, err
	}
	all := make([][]float32, 0, len(texts))
	for _, text := range texts {
		if err := ctx.Err(); err != nil {
			return packed(all), err
		}
		v, err := o.vector(text)
		if err != nil {
			return packed(all), err
		}
		all = append(all, v)
	}
	return packed(all), nil
}

// open reads what is not yet known of the table, anew if its file has changed.
func (t *Table) open() (*opened, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := filepath.Join(t.Dir, weightsFile)
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if t.opened != nil && t.opened.modified == info.ModTime().UnixNano() {
		return t.opened, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	o := &opened{rows: file, modified: info.ModTime().UnixNano()}
	if err := o.read(file, info.Size(), t.Dir); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), file.Close())
	}
	t.opened = o // the file of the one before is closed when nothing reads it any more
	return o, nil
}

// tensor is one of a file of safetensors.
type tensor struct {
	Type    string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

var numberBytes = map[string]int{"F32": 4, "F16": 2, "I8": 1, "I64": 8, "I32": 4, "F64": 8}

// read reads the head of a file of safetensors, and the tokenizer.
func (o *opened) read(file io.ReaderAt, size int64, dir string) error {
	var length [8]byte
	if _, err := file.ReadAt(length[:], 0); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > mostHeader || int64(n) > size-8 {
		return errors.New("it is no file of safetensors")
	}
	head := make([]byte, n)
	if _, err := file.ReadAt(head, 8); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(head, &all); err != nil {
		return fmt.Errorf("its header is no JSON: %w", err)
	}
	find := func(name string, shape int) (t tensor, at int64, err error) {
		if json.Unmarshal(all[name], &t) != nil || len(t.Shape) != shape {
			return t, 0, fmt.Errorf("it has no tensor %s of %d dimensions", name, shape)
		}
		want := int64(numberBytes[t.Type])
		for _, d := range t.Shape {
			if d <= 0 || want > size/int64(d) {
				return t, 0, fmt.Errorf("its tensor %s is larger than the file", name)
			}
			want *= int64(d)
		}
		if at = 8 + int64(n) + t.Offsets[0]; want == 0 || t.Offsets[0] < 0 || t.Offsets[1]-t.Offsets[0] != want || at+want > size {
			return t, 0, fmt.Errorf("its tensor %s is torn or of the type %s", name, t.Type)
		}
		return t, at, nil
	}
	rows, at, err := find("embeddings", 2)
	if err != nil {
		return err
	}
	if rows.Type != "F32" && rows.Type != "F16" && rows.Type != "I8" {
		return fmt.Errorf("its vectors are of the type %s; F32, F16 and I8 are read", rows.Type)
	}
	o.at, o.count, o.columns, o.bytes = at, rows.Shape[0], rows.Shape[1], numberBytes[rows.Type]
	if all["weights"] != nil {
		if o.weights, err = numbers(file, find, "weights", func(v float64) float32 { return float32(v) }); err != nil {
			return err
		}
	}
	if all["mapping"] != nil {
		if o.mapping, err = numbers(file, find, "mapping", func(v float64) int { return int(v) }); err != nil {
			return err
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, tokenizerFile))
	if err != nil {
		return err
	}
	if len(data) > mostTokenizer {
		return fmt.Errorf("%s has %d bytes", tokenizerFile, len(data))
	}
	if o.tokens, err = readTokenizer(data); err != nil {
		return fmt.Errorf("%s: %w", tokenizerFile, err)
	}
	sum := sha256.New()
	sum.Write(head)
	sum.Write(data)
	fmt.Fprint(sum, size, o.modified)
	o.name = fmt.Sprintf("table %s %x", filepath.Base(dir), sum.Sum(nil)[:8])
	return nil
}

// numbers reads a tensor of one dimension.
func numbers[T any](file io.ReaderAt, find func(string, int) (tensor, int64, error), name string, of func(float64) T) ([]T, error) {
	t, at, err := find(name, 1)
	if err != nil {
		return nil, err
	}
	size := numberBytes[t.Type]
	data := make([]byte, t.Shape[0]*size)
	if _, err := file.ReadAt(data, at); err != nil {
		return nil, err
	}
	all := make([]T, t.Shape[0])
	for i := range all {
		all[i] = of(number(data[i*size:], t.Type))
	}
	return all, nil
}

// number reads a number in the form of a type.
func number(data []byte, kind string) float64 {
	switch kind {
	case "F64":
		return math.Float64frombits(binary.LittleEndian.Uint64(data))
	case "F32":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))
	case "F16":
		return half(binary.LittleEndian.Uint16(data))
	case "I64":
		return float64(int64(binary.LittleEndian.Uint64(data)))
	case "I32":
		return float64(int32(binary.LittleEndian.Uint32(data)))
	}
	return float64(int8(data[0]))
}

// half returns a number of half precision (IEEE 754).
func half(bits uint16) float64 {
	sign, exponent, fraction := 1.0, int(bits>>10)&31, float64(bits&1023)
	if bits&0x8000 != 0 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		return 0 // infinite or no number: a table has none
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// vector returns the mean of the vectors of a text's tokens.
func (o *opened) vector(text string) ([]float32, error) {
	sums := make([]float32, o.columns)
	data := make([]byte, o.columns*o.bytes)
	kind := map[int]string{4: "F32", 2: "F16", 1: "I8"}[o.bytes]
	for _, token := range o.tokens.tokens(text, mostTokens) {
		row, weight := token, float32(1)
		if o.mapping != nil {
			if token >= len(o.mapping) {
				continue
			}
			row = o.mapping[token]
		}
		if o.weights != nil {
			if token >= len(o.weights) {
				continue
			}
			weight = o.weights[token]
		}
		if row < 0 || row >= o.count {
			continue
		}
		if _, err := o.rows.ReadAt(data, o.at+int64(row)*int64(len(data))); err != nil {
			return nil, err
		}
		for i := range sums {
			sums[i] += weight * float32(number(data[i*o.bytes:], kind))
		}
	}
	return sums, nil
}
