package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"toolcrib/server"
	"toolcrib/tools"
)

// corpus returns every client line of the conversations.
func corpus(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(conversations, "*.txtar"))
	if err != nil {
		tb.Fatal(err)
	}
	var lines []string
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for line := range strings.Lines(section(archive, "client")) {
			if !strings.HasPrefix(line, "!") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}
	return lines
}

// withoutHang leaves out the tool that would use up the grace period.
func withoutHang(o *server.Options) {
	o.Tools = slices.DeleteFunc(o.Tools, func(t tools.Tool) bool { return t.Name == "hang" })
}

// mutate damages a line: bytes changed, cut out, doubled, or another's end.
func mutate(rng *rand.Rand, lines []string) string {
	b := []byte(lines[rng.IntN(len(lines))])
	for range 1 + rng.IntN(3) {
		if len(b) == 0 {
			break
		}
		i := rng.IntN(len(b))
		j := i + rng.IntN(len(b)-i)
		switch rng.IntN(5) {
		case 0:
			b[i] = byte(rng.IntN(256))
		case 1:
			b = slices.Delete(b, i, j)
		case 2:
			b = slices.Insert(b, i, bytes.Clone(b[i:j])...)
		case 3:
			other := lines[rng.IntN(len(lines))]
			b = append(b[:i], other[rng.IntN(len(other)+1):]...)
		case 4:
			b[i] = "{}[]\",:0\\ne"[rng.IntN(11)]
		}
	}
	return strings.ReplaceAll(string(b), "\n", " ")
}

// TestGarbage: whatever comes, the next good request is answered, every line
// written is a message, and memory is given back.
func TestGarbage(t *testing.T) {
	c := connect(t, newServer(t, withoutHang))
	c.fresh = make(chan string, 4096)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	answered := func() {
		t.Helper()
		c.send(`{"jsonrpc":"2.0","id":"still there","method":"ping"}`)
		for line := range c.fresh {
			if !strings.HasPrefix(line, "[") && string(readLine(t, line).ID) == `"still there"` {
				return
			}
		}
		t.Fatal("the server is gone")
	}
	answered()
	before := heap()

	rng := rand.New(rand.NewPCG(3, 4))
	lines := corpus(t)
	for range 2000 {
		c.send(mutate(rng, lines))
	}
	answered()

	chunk := bytes.Repeat([]byte("x"), 1<<20)
	var peak uint64
	for range 64 {
		if _, err := c.in.Write(chunk); err != nil {
			t.Fatal(err)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapAlloc)
	}
	c.send("")
	answered()
	c.take()
	if after := heap(); after > before+8<<20 {
		t.Errorf("heap of %d bytes, %d before", after, before)
	}
	if peak > before+6*server.MaxLine {
		t.Errorf("a long line took %d bytes", peak-before)
	}
}

// TestDamagedRequest shows that a request with an id is answered with a refusal,
// whatever else is wrong with it.
func TestDamagedRequest(t *testing.T) {
	c := connect(t, newServer(t))
	c.fresh = make(chan string, 8)
	const long = server.MaxLine
	for _, tt := range []struct{ name, line, id string }{
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"method\":\"\xff\",\"id\":1}", `1`},
		{"an id that is not UTF-8", "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":\"\xff\"}", `null`},
		{"too deep", `{"method":"ping","params":` + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + `,"id":2}`, `2`},
		{"too many keys", `{` + strings.Repeat(`"a":{"id":0},`, 1001) + `"jsonrpc":"2.0","method":"ping","id":"3"}`, `"3"`},
		{"too long, the id first", `{"id":4,"method":"` + strings.Repeat("x", long) + `"}`, `4`},
		{"too long, the id last", `{"method":"ping","params":{"id":0,"text":"\"` + strings.Repeat("x", long) + `"},"id":5}`, `5`},
		{"too long, the id cut off", `{"method":"ping","params":{"text":"` + strings.Repeat("x", long) + `"},"id":5`, `null`},
		{"a long response", `{"id":6,"result":"` + strings.Repeat("x", long) + `"}`, `null`},
		{"two ids", `{"method":"ping","id":7,"id":8,}`, `null`},
		{"a long id", `{"method":"ping","id":"` + strings.Repeat("x", long) + `"}`, `null`},
		{"two messages", `{"method":"ping","id":9}{"method":"ping","id":10}`, `null`},
	} {
		c.send(tt.line)
		if got := readLine(t, <-c.fresh); string(got.ID) != tt.id || got.Error == nil {
			t.Errorf("%s: id %s, error %v; want an error with the id %s", tt.name, got.ID, got.Error, tt.id)
		}
	}
}

// requestID returns the id of a line that no rule refuses.
func requestID(line []byte) (string, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(line, &m) != nil || string(m["jsonrpc"]) != `"2.0"` || len(m) > 4 || bytes.Count(line, []byte(`"`)) > 64 {
		return "", false
	}
	for key := range m {
		if !slices.Contains([]string{"jsonrpc", "id", "method", "params"}, key) || bytes.Count(line, []byte(`"`+key+`"`)) != 1 {
			return "", false
		}
	}
	var id, method string
	if json.Unmarshal(m["id"], &id) != nil || json.Unmarshal(m["method"], &method) != nil || m["id"] == nil || m["method"] == nil ||
		string(m["id"]) == "null" || string(m["method"]) == "null" {
		return "", false
	}
	return id, true
}

// FuzzStdio: no bytes crash the server, it writes nothing but messages, and
// every request is answered.
func FuzzStdio(f *testing.F) {
	lines := corpus(f)
	for i := range lines {
		f.Add([]byte(strings.Join(lines[i:min(i+3, len(lines))], "\n")))
	}
	s := newServer(f, withoutHang)
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		if err := s.ServeStdio(t.Context(), bytes.NewReader(data), &out); err != nil {
			t.Fatal(err)
		}
		answers := map[string]int{}
		for {
			line, err := out.ReadBytes('\n')
			if errors.Is(err, io.EOF) {
				if len(line) > 0 {
					t.Errorf("half a line: %q", line)
				}
				break
			}
			if !json.Valid(line) {
				t.Errorf("not JSON: %q", line)
			}
			var w received
			if json.Unmarshal(line, &w) == nil && w.Method == "" {
				var id string
				if json.Unmarshal(w.ID, &id) == nil {
					answers[id]++
				}
			}
		}
		if bytes.Contains(data, []byte("notifications")) || bytes.Contains(data, []byte("listen")) || bytes.Contains(data, []byte(`\`)) {
			return // something may have been cancelled, and is not answered
		}
		requests := map[string]int{}
		for line := range bytes.Lines(data) {
			if id, ok := requestID(line); ok {
				requests[id]++
			}
		}
		for id, n := range requests {
			if answers[id] < n {
				t.Errorf("%d requests %q, %d answers", n, id, answers[id])
			}
		}
	})
}
