package audit_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"toolcrib/server/audit"
)

// Records that the log makes later stand where they were added, and one that cannot
// be made leaves a record of its loss.
func TestAppendMade(t *testing.T) {
	p := newLogDirs(t)
	l := p.open(t)
	for i := range 20 {
		err := l.AppendMade(func() ([]byte, error) {
			switch i {
			case 5:
				return nil, errors.New("no")
			case 6:
				panic("no")
			case 7:
				return []byte(`{"log":"open"}`), nil
			}
			return record(i), nil
		}, 100, audit.Promise(i%2)) // Later or Soon
		if i%4 == 0 {
			err = errors.Join(err, l.Append(record(100+i), audit.Now))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	p.clean(t)
	want := []int{0, 100, 1, 2, 3, 4, 104, 8, 108, 9, 10, 11, 12, 112, 13, 14, 15, 16, 116, 17, 18, 19}
	if got := p.numbers(t); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	lost := 0
	if err := audit.Read(p.dir, func(line []byte) bool {
		lost += strings.Count(string(line), `"log":"lost"`)
		return true
	}); err != nil || lost != 3 {
		t.Errorf("%d lost, %v", lost, err)
	}
	if err := l.AppendMade(func() ([]byte, error) { return record(0), nil }, 100, audit.Later); !errors.Is(err, audit.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// The records that wait to be made are bounded: adding more waits, and nothing is dropped.
func TestAppendMadeWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newLogDirs(t)
		l := p.open(t, func(o *audit.Options) { o.MaxBytes = 1 << 20 })
		const n, size = 64, 64 << 10
		made, added := make(chan struct{}), make(chan int, n)
		go func() {
			defer close(added)
			for i := range n {
				if err := l.AppendMade(func() ([]byte, error) {
					<-made
					return record(i), nil
				}, size, audit.Soon); err != nil {
					t.Error(err)
				}
				added <- i
			}
		}()
		synctest.Wait()
		if got := len(added) * size; got != 1<<20 {
			t.Errorf("%d bytes wait", got)
		}
		close(made)
		for range added {
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if got := p.numbers(t); len(got) != n || !slices.IsSorted(got) {
			t.Errorf("got %v", got)
		}
	})
}
