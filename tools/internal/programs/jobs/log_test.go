package jobs_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"toolcrib/tools/internal/programs/jobs"
)

// TestLog compares logs of several bounds with all that was written: what is read is
// that, what is not kept is said, and lines are found where they are.
func TestLog(t *testing.T) {
	for _, c := range []struct{ head, tail, disk, size int64 }{
		{1 << 20, 3 << 20, 1 << 30, 10_000},
		{1 << 20, 3 << 20, 1 << 30, 1 << 20},
		{200_000, 300_000, 1 << 30, 4 << 20},
		{1 << 20, 3 << 20, 2 << 20, 6 << 20}, // the disk is full before the ring is
		{1 << 20, 3 << 20, 0, 2 << 20},       // no file at all
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(c.size)))
			l := jobs.NewLog(c.head, c.tail, c.disk)
			var all []byte
			for int64(len(all)) < c.size {
				part := make([]byte, random.IntN(70_000))
				for i := range part {
					part[i] = "abcdefg\n"[random.IntN(8)]
				}
				all = append(all, part...)
				if n, err := l.Write(part); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			check(t, l, all, random)
		})
	}
}

func check(t *testing.T, l *jobs.Log, all []byte, random *rand.Rand) {
	t.Helper()
	e := l.Extent()
	lines := int64(bytes.Count(all, []byte{'\n'}))
	if !bytes.HasSuffix(all, []byte{'\n'}) {
		lines++
	}
	if e.Bytes != int64(len(all)) || e.Lines != lines || e.Err != nil {
		t.Fatalf("extent %+v, want %d bytes, %d lines", e, len(all), lines)
	}
	var read int64
	for at := int64(0); at < e.Bytes; {
		data, from, err := l.Read(at, 1+random.IntN(100_000))
		if err != nil || len(data) == 0 {
			t.Fatalf("at %d: %d bytes, %v", at, len(data), err)
		}
		if from != at && (at != e.GapFrom || from != e.GapTo) {
			t.Fatalf("at %d: begins at %d, the gap is %d to %d", at, from, e.GapFrom, e.GapTo)
		}
		if !bytes.Equal(data, all[from:from+int64(len(data))]) {
			t.Fatalf("at %d: not what was written", from)
		}
		read += int64(len(data))
		at = from + int64(len(data))
	}
	if read+e.GapTo-e.GapFrom != e.Bytes {
		t.Errorf("read %d bytes of %d, the gap is %d to %d", read, e.Bytes, e.GapFrom, e.GapTo)
	}
	starts := []int64{0}
	for i, b := range all {
		if b == '\n' {
			starts = append(starts, int64(i)+1)
		}
	}
	for range 50 {
		line := random.IntN(len(starts))
		at, err := l.LineAt(int64(line) + 1)
		if err != nil {
			t.Fatal(err)
		}
		if want := starts[line]; at != want && (want < e.GapFrom || want >= e.GapTo || at < e.GapTo) && want != e.GapFrom {
			t.Fatalf("line %d is at %d, want %d; the gap is %d to %d", line+1, at, want, e.GapFrom, e.GapTo)
		}
		n := 1 + random.IntN(500)
		from, err := l.Tail(n, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		last := starts
		if last[len(last)-1] == int64(len(all)) {
			last = last[:len(last)-1]
		}
		if want := last[max(len(last)-n, 0)]; from != want {
			t.Fatalf("the last %d lines are at %d, want %d", n, from, want)
		}
	}
}
