package progress_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/progress"
)

// printer is a program that prints when it is told to.
type printer struct{ out atomic.Pointer[[]byte] }

func newPrinter() *printer {
	p := new(printer)
	p.out.Store(new([]byte))
	return p
}

func (p *printer) print(text string) {
	all := append(append([]byte{}, *p.out.Load()...), text...)
	p.out.Store(&all)
}

func (p *printer) program() progress.Program {
	return progress.Program{
		Output: func(from int64, most int) ([]byte, int64) {
			all := *p.out.Load()
			return all[max(int(from), len(all)-most):], int64(len(all))
		},
		State: func() string { return "it runs" },
	}
}

type report struct {
	at      time.Duration
	message string
}

// follow runs a script during the reports and returns the reports.
func follow(t *testing.T, from int64, script func(p *printer) error) (got []report, err error) {
	t.Helper()
	p := newPrinter()
	begin := time.Now()
	ctx := tools.WithProgress(t.Context(), func(e tools.ProgressEvent) {
		at := time.Since(begin)
		if e.Done != at.Seconds() {
			t.Errorf("after %v: done %v", at, e.Done)
		}
		got = append(got, report{at, e.Message})
	})
	err = progress.During(ctx, p.program(), from, func() error { return script(p) })
	return got, err
}

func TestDuring(t *testing.T) {
	for _, c := range []struct {
		name   string
		from   int64
		script func(p *printer) error
		want   []report
	}{
		{"it ends soon", 0, func(p *printer) error { p.print("a\n"); return nil }, nil},
		{"output", 0, func(p *printer) error {
			p.print("one\n")
			time.Sleep(300 * time.Millisecond)
			p.print("two\n")
			time.Sleep(time.Second)
			return nil
		}, []report{{250 * time.Millisecond, "one"}, {500 * time.Millisecond, "two"}}},
		{"from an offset on", 4, func(p *printer) error {
			p.print("one\ntwo\n")
			time.Sleep(time.Second)
			return nil
		}, []report{{250 * time.Millisecond, "two"}}},
		{"silence", 0, func(*printer) error {
			time.Sleep(21 * time.Second)
			return nil
		}, []report{{10 * time.Second, "it runs"}, {20 * time.Second, "it runs"}}},
		{"nothing to be seen", 0, func(p *printer) error {
			p.print("\n \n")
			time.Sleep(11 * time.Second)
			return nil
		}, []report{{10 * time.Second, "it runs"}}},
		{"a character in parts", 0, func(p *printer) error {
			p.print("caf\xc3")
			time.Sleep(300 * time.Millisecond)
			p.print("\xa9")
			time.Sleep(time.Second)
			return nil
		}, []report{{250 * time.Millisecond, "caf"}, {500 * time.Millisecond, "é"}}},
		{"no character after all", 0, func(p *printer) error {
			p.print("\xc3")
			time.Sleep(1100 * time.Millisecond)
			p.print("x")
			time.Sleep(time.Second)
			return nil
		}, []report{{1250 * time.Millisecond, "\ufffdx"}}},
		{"the last lines of much", 0, func(p *printer) error {
			p.print(strings.Repeat("0123456789abcde\n", 1000))
			time.Sleep(time.Second)
			return nil
		}, []report{{250 * time.Millisecond, strings.TrimSpace(strings.Repeat("0123456789abcde\n", 62))}}},
		{"the end of a long line", 0, func(p *printer) error {
			p.print(strings.Repeat("€", 1000))
			time.Sleep(time.Second)
			return nil
		}, []report{{250 * time.Millisecond, strings.Repeat("€", 333)}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := follow(t, c.from, c.script)
				if err != nil {
					t.Error(err)
				}
				if len(got) != len(c.want) {
					t.Fatalf("got %v, want %v", got, c.want)
				}
				for i := range got {
					if got[i] != c.want[i] {
						t.Errorf("report %d: got %v, want %v", i+1, got[i], c.want[i])
					}
				}
			})
		})
	}
}

// TestRate prints without a pause: at most four reports in any second.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, err := follow(t, 0, func(p *printer) error {
			for range 1000 {
				p.print("x")
				time.Sleep(7 * time.Millisecond)
			}
			return nil
		})
		if err != nil || len(got) < 20 {
			t.Errorf("%d reports in 7 s, %v", len(got), err)
		}
		for i := 4; i < len(got); i++ {
			if within := got[i].at - got[i-4].at; within < time.Second {
				t.Errorf("five reports within %v", within)
			}
		}
	})
}

// TestAllBeforeTheEnd has a caller who takes long over a report.
func TestAllBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrinter()
		p.print("x")
		var over, reports atomic.Int32
		ctx := tools.WithProgress(t.Context(), func(tools.ProgressEvent) {
			time.Sleep(time.Second)
			reports.Add(1)
			if over.Load() > 0 {
				t.Error("a report after the end")
			}
		})
		own := errors.New("own")
		err := progress.During(ctx, p.program(), 0, func() error {
			time.Sleep(300 * time.Millisecond)
			return own
		})
		over.Add(1)
		time.Sleep(time.Minute)
		if !errors.Is(err, own) || reports.Load() != 1 {
			t.Errorf("%v after %d reports", err, reports.Load())
		}
	})
}

// TestPanics has the report crash, which must end the call and not the server.
func TestPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrinter()
		p.print("x")
		ctx := tools.WithProgress(t.Context(), func(tools.ProgressEvent) { panic("own") })
		err := progress.During(ctx, p.program(), 0, func() error {
			time.Sleep(time.Second)
			return nil
		})
		if _, ok := errors.AsType[*tools.PanicError](err); !ok {
			t.Errorf("got %v, want a panic", err)
		}
	})
}

// TestCancelled has no reports for nobody.
func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrinter()
		reports := 0
		ctx, cancel := context.WithCancel(tools.WithProgress(t.Context(), func(tools.ProgressEvent) { reports++ }))
		cancel()
		_ = progress.During(ctx, p.program(), 0, func() error {
			p.print("x")
			time.Sleep(time.Minute)
			return nil
		})
		if reports > 0 {
			t.Errorf("%d reports of a cancelled call", reports)
		}
	})
}
