package files_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/internal/tooltest"
)

// longAgo is a time of change by which versions can be told apart.
var longAgo = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

// put writes a file as it was long ago.
func (c caller) put(name string, data []byte, at time.Time) {
	c.Helper()
	host := filepath.Join(c.dir, name)
	if err := os.WriteFile(host, data, 0o644); err != nil {
		c.Fatal(err)
	}
	if err := os.Chtimes(host, at, at); err != nil {
		c.Fatal(err)
	}
}

// numberedLines is a text of so many lines of 40 characters, which tell their
// number.
func numberedLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %09d %s\n", i+1, strings.Repeat("x", 24))
	}
	return b.String()
}

const wideLines = 300_000 // 12 MB: more than is read whole

func TestLineIndex(t *testing.T) {
	content := []byte(numberedLines(wideLines))
	r := newCaller(t, "read_file", nil)
	line := func(n int) string {
		t.Helper()
		status, body, _ := strings.Cut(r.call(map[string]any{"path": "big.txt", "offset": n, "limit": 1}), "\n")
		if want := fmt.Sprintf("%d\tline %09d ", n, n); !strings.HasPrefix(body, want) {
			t.Errorf("line %d is %.40q", n, body)
		}
		return status
	}
	r.put("big.txt", content, longAgo)
	if status := line(250_000); strings.Contains(status, " of ") {
		t.Errorf("the number of lines is told before the end was seen: %s", status)
	}
	for _, n := range []int{1, 2, 26_000, 26_215, 26_216, 249_999, 250_000, 250_001, 299_999} {
		line(n)
	}
	for _, want := range []string{
		"big.txt: line 300000 of 300000; …",
		"big.txt: offset=300001 is past the end: 300000 lines; the last is offset=300000",
	} {
		offset := 300_000 + strings.Count(want, "past the end")
		if diff := tooltest.Match(want, strings.SplitN(r.call(map[string]any{"path": "big.txt", "offset": offset}), "\n", 2)[0]); diff != "" {
			t.Error(diff)
		}
	}
	// Once the end was seen every page tells the number of lines, also from the end.
	if status := line(5); !strings.HasPrefix(status, "big.txt: line 5 of 300000; ") {
		t.Error(status)
	}
	if text := r.call(map[string]any{"path": "big.txt", "offset": -2, "limit": 1}); !strings.HasPrefix(text, "big.txt: line 299999 of 300000; ") {
		t.Errorf("%.100s", text)
	}

	// What lies before a place that is remembered is not looked at again.
	gone := bytes.Clone(content)
	copy(gone, bytes.Repeat([]byte{'y'}, 5<<20))
	r.put("big.txt", gone, longAgo)
	line(250_000)

	// Where no line begins at a place any more, all is looked at again.
	moved := append([]byte("\nmore\n"), content[:len(content)-6]...)
	r.put("big.txt", moved, longAgo)
	if text := r.call(map[string]any{"path": "big.txt", "offset": 250_002, "limit": 1}); !strings.Contains(text, "250002\tline 000250000 ") {
		t.Errorf("%.300s", text)
	}

	// Another time of change is another version.
	r.put("big.txt", append([]byte("a\nb\nc\n"), content...)[:len(content)], longAgo.Add(time.Second))
	if text := r.call(map[string]any{"path": "big.txt", "offset": 250_003, "limit": 1}); !strings.Contains(text, "250003\tline 000250000 ") {
		t.Errorf("%.300s", text)
	}
}

// A file that has just changed may change again within the same tick.
func TestLineIndexJustChanged(t *testing.T) {
	content := []byte(numberedLines(wideLines))
	r := newCaller(t, "read_file", nil)
	now := time.Now()
	r.put("big.txt", content, now)
	r.call(map[string]any{"path": "big.txt", "offset": wideLines})
	copy(content, strings.Repeat("\n", 1000)) // 24 lines go, 1000 come
	r.put("big.txt", content, now)
	if text := r.call(map[string]any{"path": "big.txt", "offset": 250_000 + 1000 - 25, "limit": 1}); !strings.Contains(text, "\tline 000250000 ") {
		t.Errorf("%.300s", text)
	}
}

func TestLineIndexUnits(t *testing.T) {
	enc, ok := textfile.Lookup("utf-16be")
	if !ok {
		t.Fatal("no utf-16be")
	}
	text := strings.ReplaceAll(numberedLines(120_000), "xxx", "\u0a0a\u0a00x")
	data, err := enc.Encode("\ufeff" + text)
	if err != nil {
		t.Fatal(err)
	}
	r := newCaller(t, "read_file", nil)
	r.put("big.txt", data, longAgo)
	for _, n := range []int{119_000, 13_107, 60_000, 119_001, 1} {
		text := r.call(map[string]any{"path": "big.txt", "offset": n, "limit": 1})
		if !strings.Contains(text, fmt.Sprintf("\n%d\tline %09d ", n, n)) {
			t.Errorf("line %d: %.300s", n, text)
		}
	}
}

// Many calls at once, of more files than are remembered.
func TestLineIndexTogether(t *testing.T) {
	content := []byte(numberedLines(wideLines))
	r := newCaller(t, "read_file", nil)
	r.put("0.txt", content, longAgo)
	for i := range 70 {
		if err := os.Symlink("0.txt", filepath.Join(r.dir, fmt.Sprintf("%d.txt", i+1))); err != nil {
			t.Skip("needs: the right to make symlinks: " + err.Error())
		}
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 71 {
				n := 1 + (i*7919+g*104_729)%wideLines
				text := r.try(map[string]any{"path": fmt.Sprintf("%d.txt", (i+g*17)%71), "offset": n, "limit": 1})
				if !strings.Contains(text, fmt.Sprintf("\n%d\tline %09d ", n, n)) {
					t.Errorf("line %d: %.300s", n, text)
				}
			}
		})
	}
	wg.Wait()
}

// A page far inside of a large file takes little memory, the first time too.
func TestLineIndexMemory(t *testing.T) {
	r := newCaller(t, "read_file", nil)
	r.put("big.txt", []byte(numberedLines(wideLines)), longAgo)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r.call(map[string]any{"path": "big.txt", "offset": wideLines - 10})
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("a page at the end of 12 MB allocates %d bytes", n)
	}
}

func BenchmarkReadFileFar(b *testing.B) {
	r := newCaller(b, "read_file", nil)
	r.put("big.txt", []byte(numberedLines(wideLines)), longAgo)
	b.ReportAllocs()
	for b.Loop() {
		r.call(map[string]any{"path": "big.txt", "offset": wideLines - 1000, "limit": 100})
	}
}
