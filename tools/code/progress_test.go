package code_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/code"
)

// TestCapture writes output in pieces, and then the mark with a report. Whoever asks
// meanwhile gets output, and nothing of the mark.
func TestCapture(t *testing.T) {
	const mark, report = "\nMARKMARKMARK", `{"value":"1"}`
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 10, 3_000, 32 << 10, 288 << 10, 300 << 10, 1 << 20} {
		for range 20 {
			output := make([]byte, size)
			for i := range output {
				output[i] = "abc\nMARK"[random.IntN(8)]
			}
			w, since, text := code.NewCapture(mark)
			all := append(append([]byte{}, output...), mark+report+"\nafter"...)
			pieces := 1 + random.IntN(40)
			seen := int64(0)
			for rest := all; len(rest) > 0; {
				n := min(len(rest), 1+random.IntN(2*len(all)/pieces+1))
				if random.IntN(3) == 0 {
					n = min(n, 5)
				}
				if _, err := w.Write(rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
				data, end := since(seen, 100)
				if written := len(all) - len(rest); end < seen || end > int64(min(written, size)) || end < int64(min(written, size)-len(mark)) {
					t.Fatalf("%d of %d bytes: the output ends at %d after %d", written, size, end, seen)
				}
				if want := output[max(seen, end-100):end]; !bytes.Equal(data, want) {
					t.Fatalf("bytes %d to %d: got %q, want %q", seen, end, data, want)
				}
				seen = end
			}
			if seen != int64(size) {
				t.Errorf("%d of %d bytes of output were seen", seen, size)
			}
			if _, got := text(); string(got) != report {
				t.Errorf("the report is %q", got)
			}
		}
	}
}

// progresses has a program print while it runs. What a caller hears is what it printed, at
// most four times a second, and nothing after the result.
func progresses(t *testing.T, tool, code string) {
	t.Helper()
	t.Parallel()
	call := caller(t)
	var mu sync.Mutex
	var over bool
	var heard []string
	var at []time.Time
	ctx := tools.WithProgress(t.Context(), func(e tools.ProgressEvent) {
		mu.Lock()
		defer mu.Unlock()
		if over {
			t.Errorf("after the result: %q", e.Message)
		}
		heard, at = append(heard, e.Message), append(at, time.Now())
	})
	got, err := call(ctx, tool, map[string]any{"code": code, "timeout": "30s"})
	mu.Lock()
	over = true
	mu.Unlock()
	if err != nil || !strings.Contains(got, "the value") {
		t.Fatalf("%v: %s", err, got)
	}
	time.Sleep(300 * time.Millisecond) // a report that comes late would be seen
	all := strings.Join(heard, "\n") + "\n"
	_, printed, _ := strings.Cut(got+"\n", "\n\n")
	if all == "\n" || !strings.HasPrefix(printed, all) {
		t.Errorf("heard %q, of %q", all, printed)
	}
	for i := 4; i < len(at); i++ {
		if within := at[i].Sub(at[i-4]); within < 990*time.Millisecond {
			t.Errorf("five reports within %v", within)
		}
	}
}

// printing prints for a while, in Python.
const printing = "import time\nfor i in range(40):\n    print('line', i)\n    time.sleep(.03)\n'the value'"
