package vector_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools/documents/internal/rank"
	"toolcrib/tools/documents/internal/vector"
)

// wordPiece and unigram divide texts for tables whose tokens are fruits, animals and parts of
// words. Tokens have the rows 0, 1 ... in this order.
const (
	wordPiece = `{"normalizer":{"type":"BertNormalizer","lowercase":true},"model":{"type":"WordPiece","unk_token":"[UNK]",
		"vocab":{"[UNK]":0,"apple":1,"pear":2,"cat":3,"##s":4,"dog":5,"果":6}}}`
	unigram = `{"normalizer":{"type":"Sequence","normalizers":[{"type":"Lowercase"}]},"model":{"type":"Unigram","unk_id":0,
		"vocab":[["<unk>",0],["▁apple",-2],["▁pear",-2],["▁cat",-2],["s",-3],["▁dog",-2],["果",-2]]}}`
)

// rows are fruits to the right, animals upwards.
var rows = [][]float32{{9, 9}, {1, 0}, {1, 0.25}, {0, 1}, {0, 0}, {0.25, 1}, {1, 0}}

// write writes a table whose numbers have a type.
func write(t *testing.T, kind, tokenizer string, more map[string][]float32) string {
	t.Helper()
	var data bytes.Buffer
	head := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	add := func(name, kind string, shape []int, values []float32) {
		from := data.Len()
		for _, v := range values {
			switch kind {
			case "F32":
				_ = binary.Write(&data, binary.LittleEndian, v)
			case "F16":
				_ = binary.Write(&data, binary.LittleEndian, map[float32]uint16{0: 0, 0.25: 0x3400, 1: 0x3c00, 9: 0x4880}[v])
			case "I8":
				_ = binary.Write(&data, binary.LittleEndian, int8(v*8))
			case "I64":
				_ = binary.Write(&data, binary.LittleEndian, int64(v))
			case "F64":
				_ = binary.Write(&data, binary.LittleEndian, math.Float64bits(float64(v)))
			}
		}
		head[name] = map[string]any{"dtype": kind, "shape": shape, "data_offsets": []int{from, data.Len()}}
	}
	var flat []float32
	for _, row := range rows {
		flat = append(flat, row...)
	}
	add("embeddings", kind, []int{len(rows), 2}, flat)
	for name, values := range more {
		add(name, map[string]string{"mapping": "I64", "weights": "F64"}[name], []int{len(values)}, values)
	}
	text, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	for name, content := range map[string][]byte{"model.safetensors": append(file, data.Bytes()...), "tokenizer.json": []byte(tokenizer)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTable(t *testing.T) {
	swapped := []float32{0, 3, 5, 1, 4, 2, 3} // fruits have the rows of animals
	for _, test := range []struct {
		name, kind, tokenizer string
		more                  map[string][]float32
		text                  string
		want                  []float32
	}{
		{"a word", "F32", wordPiece, nil, "Apple", []float32{1, 0}},
		{"half precision", "F16", wordPiece, nil, "pear", []float32{1, 0.25}},
		{"bytes", "I8", wordPiece, nil, "pear", []float32{1, 0.25}},
		{"parts of words", "F32", wordPiece, nil, "Cats, dogs!", []float32{0.25, 2}},
		{"accents", "F32", wordPiece, nil, "àpple", []float32{1, 0}},
		{"Chinese", "F32", wordPiece, nil, "水果", []float32{1, 0}},
		{"unknown words say nothing", "F32", wordPiece, nil, "zebra cat appletree", []float32{0, 1}},
		{"nothing known", "F32", wordPiece, nil, "zebra", []float32{0, 0}},
		{"weights", "F32", wordPiece, map[string][]float32{"weights": {0, 1, 1, 0.25, 1, 1, 1}}, "apple cat", []float32{1, 0.25}},
		{"mapping", "F32", wordPiece, map[string][]float32{"mapping": swapped}, "apple", []float32{0, 1}},
		{"unigram", "F32", unigram, nil, "Cats dogs", []float32{0.25, 2}},
		{"unigram, unknown", "F32", unigram, nil, "qq apple", []float32{1, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			table := &vector.Table{Dir: write(t, test.kind, test.tokenizer, test.more)}
			got, err := table.Vectors(t.Context(), []string{test.text, "cat"})
			if err != nil || len(got) != 2 {
				t.Fatalf("%v (%v)", got, err)
			}
			want := rank.Pack(test.want)
			if fmt.Sprint(got[0]) != fmt.Sprint(want) {
				t.Errorf("%v, want %v", got[0], want)
			}
		})
	}
}

// Another file is another model, and what is wrong with a file is said.
func TestTableFiles(t *testing.T) {
	one, other := &vector.Table{Dir: write(t, "F32", wordPiece, nil)}, &vector.Table{Dir: write(t, "F32", unigram, nil)}
	if one.Name() == other.Name() {
		t.Errorf("both are %s", one.Name())
	}
	for _, test := range []struct {
		name   string
		change func(head, data []byte) []byte
		tokens string
		want   string
	}{
		{"cut", func(head, data []byte) []byte { return append(head, data[:len(data)-1]...) }, wordPiece, "torn"},
		{"no header", func([]byte, []byte) []byte { return []byte("PK\x03\x04 and more of an archive") }, wordPiece, "no file of safetensors"},
		{"another tensor", func(head, data []byte) []byte {
			return append(bytes.Replace(head, []byte("embeddings"), []byte("embeddingz"), 1), data...)
		}, wordPiece, "no tensor embeddings"},
		{"another type", func(head, data []byte) []byte {
			return append(bytes.Replace(head, []byte("F32"), []byte("U32"), 1), data...)
		}, wordPiece, "type U32"},
		{"huge", func(head, data []byte) []byte {
			return append(bytes.Replace(head, []byte("[7,2]"), []byte("[9,9]"), 1), data...)
		}, wordPiece, "larger than the file"},
		{"another tokenizer", func(head, data []byte) []byte { return append(head, data...) }, `{"model":{"type":"BPE","vocab":{}}}`, `its model is "BPE"`},
		{"no tokens", func(head, data []byte) []byte { return append(head, data...) }, `{"model":{"type":"WordPiece","vocab":{}}}`, "no tokens"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := write(t, "F32", test.tokens, nil)
			name := filepath.Join(dir, "model.safetensors")
			all, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			end := 8 + binary.LittleEndian.Uint64(all)
			if err := os.WriteFile(name, test.change(bytes.Clone(all[:end]), all[end:]), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := (&vector.Table{Dir: dir}).Check(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}
