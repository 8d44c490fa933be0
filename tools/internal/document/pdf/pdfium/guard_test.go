package pdfium_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/klauspost/compress/zstd"

	"toolcrib/tools/internal/document/pdf/pdfium"
)

// original is the SHA-256 of the module as its makers publish it; see LICENSE.
const original = "e6f77e01dce34de05ad62515114152da580b64c23871e3e3e2afef3f7bb88ade"

var (
	published = flag.String("module", "", "guard this module and write it, compressed, to pdfium.wasm.zst")
	assemble  = flag.Bool("assemble", false, "write bulk.wasm")
)

// TestGuarded takes the guards out of the embedded module, which then is the published one, and
// puts them in again.
func TestGuarded(t *testing.T) {
	const file = "pdfium.wasm.zst"
	if *published != "" {
		module, err := os.ReadFile(*published)
		if err != nil {
			t.Fatal(err)
		}
		guarded := edit(module, guard)
		pack := exec.CommandContext(t.Context(), "zstd", "--ultra", "-22", "--stream-size", strconv.Itoa(len(guarded)), "-f", "-o", file)
		pack.Stdin = bytes.NewReader(guarded)
		if say, err := pack.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, say)
		}
	}
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	embedded, err := reader.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := sum(embedded); got != pdfium.Sum {
		t.Errorf("the SHA-256 of the module is %s", got)
	}
	if got := sum(edit(embedded, unguard)); got != original {
		t.Errorf("without its guards the module is %s, not the published one", got)
	}
	bulk, err := os.ReadFile("bulk.wasm")
	if err != nil {
		t.Fatal(err)
	}
	for name, module := range map[string][]byte{file: embedded, "bulk.wasm": bulk} {
		if !bytes.Equal(edit(edit(module, unguard), guard), module) {
			t.Errorf("%s: some loops have no guard", name)
		}
	}
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// TestBulk assembles the helper module again.
func TestBulk(t *testing.T) {
	program, err := exec.LookPath("wat2wasm")
	if err != nil {
		t.Skip("needs: wat2wasm: assembles bulk.wat")
	}
	out := filepath.Join(t.TempDir(), "bulk.wasm")
	if say, err := exec.CommandContext(t.Context(), program, "bulk.wat", "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, say)
	}
	want, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want = edit(want, guard)
	if *assemble {
		if err := os.WriteFile("bulk.wasm", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("bulk.wasm")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("bulk.wasm is not made of bulk.wat: run this test with -assemble")
	}
}

// A change is made to a module: guard puts guards in, unguard takes them out.
type change bool

const (
	guard   change = true
	unguard change = false
)

// interval is how many rounds of loops lie between two looks.
const interval = 4096

// The sections of a module that matter here.
const (
	imports = 2
	globals = 6
	exports = 7
	bodies  = 10
)

// edit changes a WebAssembly module. A guarded one has two more globals: how many rounds of
// loops are left until the next look, and, exported as "stop", whether the host wants the end.
// At the beginning of each round of a loop stands:
//
//	if --rounds == 0 { rounds = interval; memory.grow 0; if stop { unreachable } }
//
// Growing by nothing hands over to the runtime, without which a collection of garbage, for
// which everything stands still, would wait for the end of the loop.
func edit(module []byte, to change) []byte {
	in, out := &cursor{data: module, at: 8}, bytes.Clone(module[:8])
	var first uint64 // of the new globals
	seen := false    // the section of globals
	for in.at < len(module) {
		id := in.byte()
		section := &cursor{data: in.take(in.uint())}
		content := section.data
		switch id {
		case imports:
			first = importedGlobals(section)
		case globals:
			seen = true
			n := section.uint()
			if to == guard {
				first += n
				content = appendGlobals(append(binary.AppendUvarint(nil, n+2), section.rest()...))
			} else {
				first += n - 2
				content = append(binary.AppendUvarint(nil, n-2), bytes.TrimSuffix(section.rest(), appendGlobals(nil))...)
			}
		case exports:
			if !seen && to == guard {
				out = appendSection(out, globals, appendGlobals([]byte{2}))
			}
			n, stop := section.uint(), binary.AppendUvarint([]byte("\x04stop\x03"), first+1)
			if to == guard {
				content = slices.Concat(binary.AppendUvarint(nil, n+1), section.rest(), stop)
			} else {
				content = append(binary.AppendUvarint(nil, n-1), bytes.TrimSuffix(section.rest(), stop)...)
			}
		case bodies:
			n := section.uint()
			content = binary.AppendUvarint(nil, n)
			for range n {
				body := editBody(section.take(section.uint()), guardOf(first), to)
				content = append(binary.AppendUvarint(content, uint64(len(body))), body...)
			}
		}
		out = appendSection(out, id, content)
	}
	return out
}

func appendSection(out []byte, id byte, content []byte) []byte {
	return append(binary.AppendUvarint(append(out, id), uint64(len(content))), content...)
}

// The bytes of some instructions and types.
const (
	unreachable = 0x00
	loop        = 0x03
	then        = 0x04 // if
	end         = 0x0b
	drop        = 0x1a
	get         = 0x23 // of a global
	set         = 0x24
	memoryGrow  = 0x40
	constant    = 0x41 // of i32
	isZero      = 0x45
	sub         = 0x6b
	nothing     = 0x40 // the type of a block
	i32         = 0x7f
	mutable     = 1
)

// appendGlobals adds the two globals.
func appendGlobals(to []byte) []byte {
	to = append(appendInt(append(to, i32, mutable, constant), interval), end)
	return append(to, i32, mutable, constant, 0, end)
}

// guardOf is what stands in each loop.
func guardOf(rounds uint64) []byte {
	global := func(what byte, index uint64) []byte { return binary.AppendUvarint([]byte{what}, index) }
	return slices.Concat(
		global(get, rounds), []byte{constant, 1, sub}, global(set, rounds),
		global(get, rounds), []byte{isZero, then, nothing},
		appendInt([]byte{constant}, interval), global(set, rounds),
		[]byte{constant, 0, memoryGrow, 0, drop},
		global(get, rounds+1), []byte{then, nothing, unreachable, end, end},
	)
}

// appendInt adds a positive number as a signed one.
func appendInt(to []byte, n int) []byte {
	for ; n >= 1<<6; n >>= 7 {
		to = append(to, byte(n)|1<<7)
	}
	return append(to, byte(n))
}

// editBody puts a guard into each loop of a function, or takes it out.
func editBody(body, guarding []byte, to change) []byte {
	c := &cursor{data: body}
	for range c.uint() { // groups of local variables
		c.skip(2)
	}
	var out []byte
	from := 0
	for c.at < len(body) {
		if c.instruction() != loop {
			continue
		}
		out = append(out, body[from:c.at]...)
		if to == guard {
			out = append(out, guarding...)
		} else if bytes.HasPrefix(c.rest(), guarding) {
			c.at += len(guarding)
		}
		from = c.at
	}
	return append(out, body[from:]...)
}

// importedGlobals counts the globals that a module imports.
func importedGlobals(c *cursor) (n uint64) {
	const function, table, memory, global, tag = 0, 1, 2, 3, 4
	limits := func() { c.skip(1 + int(c.byte()&1)) }
	for range c.uint() {
		c.take(c.uint())
		c.take(c.uint())
		switch c.byte() {
		case function:
			c.skip(1)
		case table:
			c.skip(1)
			limits()
		case memory:
			limits()
		case global:
			c.take(2)
			n++
		case tag:
			c.skip(2)
		}
	}
	return n
}

// cursor reads a module.
type cursor struct {
	data []byte
	at   int
}

func (c *cursor) byte() byte {
	c.at++
	return c.data[c.at-1]
}

func (c *cursor) take(n uint64) []byte {
	c.at += int(n)
	return c.data[c.at-int(n) : c.at]
}

func (c *cursor) rest() []byte { return c.data[c.at:] }

func (c *cursor) uint() uint64 {
	v, n := binary.Uvarint(c.rest())
	if n <= 0 {
		panic("no number")
	}
	c.at += n
	return v
}

// skip passes numbers, whether signed or not.
func (c *cursor) skip(n int) {
	for range n {
		for c.byte()&(1<<7) != 0 {
		}
	}
}

// instruction passes an instruction and returns its first byte.
func (c *cursor) instruction() byte {
	op := c.byte()
	switch {
	case op >= 0x02 && op <= 0x04, op == 0x06, // block, loop, if, try
		op >= 0x07 && op <= 0x09,                                   // catch, throw, rethrow
		op == 0x0c, op == 0x0d, op == 0x10, op == 0x12, op == 0x18, // br, br_if, call, return_call, delegate
		op >= 0x20 && op <= 0x26, // variables, tables
		op >= 0x3f && op <= 0x42, // memory.size, memory.grow, i32.const, i64.const
		op == 0xd0, op == 0xd2:   // ref.null, ref.func
		c.skip(1)
	case op == 0x0e: // br_table
		c.skip(int(c.uint()) + 1)
	case op == 0x11, op == 0x13, // call_indirect, return_call_indirect
		op >= 0x28 && op <= 0x3e: // loads and stores
		c.skip(2)
	case op == 0x1c: // select of a type
		c.skip(int(c.uint()))
	case op == 0x1f: // try_table
		c.skip(1)
		for range c.uint() {
			if kind := c.byte(); kind < 2 { // of a tag
				c.skip(1)
			}
			c.skip(1)
		}
	case op == 0x43: // f32.const
		c.take(4)
	case op == 0x44: // f64.const
		c.take(8)
	case op == 0xfc:
		switch sub := c.uint(); {
		case sub < 8: // conversions
		case sub == 8, sub == 10, sub == 12, sub == 14: // init and copy
			c.skip(2)
		default:
			c.skip(1)
		}
	case op == 0xfd: // vectors
		switch sub := c.uint(); {
		case sub < 12, sub == 92, sub == 93: // loads and stores
			c.skip(2)
		case sub == 12, sub == 13: // v128.const, i8x16.shuffle
			c.take(16)
		case sub >= 21 && sub <= 34: // lanes
			c.take(1)
		case sub >= 84 && sub <= 91: // loads and stores of a lane
			c.skip(2)
			c.take(1)
		}
	case op <= 0x01, op == 0x05, op == 0x0a, op == 0x0b, op == 0x0f, // unreachable, nop, else, throw_ref, end, return
		op >= 0x19 && op <= 0x1b,             // catch_all, drop, select
		op >= 0x45 && op <= 0xc4, op == 0xd1: // arithmetic, ref.is_null
	default:
		panic(fmt.Sprintf("the instruction %#x is not known", op))
	}
	return op
}
