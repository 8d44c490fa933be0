// Package jq runs jq filters over JSON documents, with an end.
//
// One step of a filter can take any time and memory, such as writing a value that refers to
// itself many times, and cannot be interrupted. Therefore [Apart] runs a filter in a process of
// its own, which calls [Main]. The package must not import tools. Start at [Run]; values.go
// converts documents to the values of filters and back.
package jq

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"toolcrib/tools/internal/jsondoc"
	"toolcrib/tools/internal/text/textfile"
)

// The limits of a filter. A plain map and select over a document of the largest size takes some
// millions of steps.
const (
	Time   = 5 * time.Second // of the clock, on a machine that others use too
	Steps  = 10_000_000
	Memory = 128 << 20 // beside the document

	maxResults = 100_000
	maxBytes   = 20 << 20 // of all results
)

// Result is what a filter results in, each value in a line of its own or several.
type Result struct {
	Count      int
	Body       string
	Calculated bool // a result has as many digits as floating point keeps
}

// Error says what is wrong with a filter.
type Error struct {
	Msg   string // to be read after "the filter"
	Limit bool   // it takes or results in too much
	Long  bool   // a result is longer than its style allows
	Value bool   // it does not fit the document
}

func (e *Error) Error() string { return "the filter" + e.Msg }

var (
	errTime    = &Error{Msg: fmt.Sprintf(" takes longer than %s", Time), Limit: true}
	errSteps   = &Error{Msg: fmt.Sprintf(" takes more than %d steps", Steps), Limit: true}
	errMemory  = &Error{Msg: fmt.Sprintf(" takes more than %s of memory", textfile.Size(Memory)), Limit: true}
	errResults = &Error{Msg: " has too many results", Limit: true}
	errLong    = &Error{Msg: " has a result that is too long", Long: true}
	errDepth   = &Error{Msg: fmt.Sprintf(" has a result of more than %d levels", jsondoc.MaxDepth), Limit: true}
)

// Run runs a filter over a document in this process. It has no environment, no input and no
// modules. Errors are of type [*Error], or those of the context.
func Run(ctx context.Context, filter string, doc *jsondoc.Node, style jsondoc.Style) (Result, error) {
	return run(ctx, filter, doc, style, func(error) {})
}

// run also tells when a limit is reached, which a step may go on for long after.
func run(ctx context.Context, filter string, doc *jsondoc.Node, style jsondoc.Style, reached func(error)) (Result, error) {
	code, err := compile(filter)
	if err != nil {
		return Result{}, err
	}
	v := values{order: map[uintptr][]string{}, style: style}
	input := v.input(doc)
	within := bounded(ctx)
	defer within.end(nil)
	defer context.AfterFunc(within.Context, func() { reached(context.Cause(within)) })()
	return v.results(within, code.RunWithContext(within, input))
}

func compile(filter string) (*gojq.Code, error) {
	query, err := gojq.Parse(filter)
	if e, ok := errors.AsType[*gojq.ParseError](err); ok {
		before := filter[:min(max(e.Offset-len(e.Token), 0), len(filter))]
		return nil, &Error{Msg: fmt.Sprintf(": %s at character %d", e, len([]rune(before))+1)}
	}
	if err != nil {
		return nil, &Error{Msg: ": " + err.Error()}
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, &Error{Msg: ": " + err.Error()}
	}
	return code, nil
}

// results writes the results of a filter.
func (q *values) results(ctx context.Context, iter gojq.Iter) (Result, error) {
	var r Result
	var b strings.Builder
	for v, more := iter.Next(); more; v, more = iter.Next() {
		if err, failed := v.(error); failed {
			if cause := context.Cause(ctx); cause != nil {
				return Result{}, cause
			}
			if halt, ok := errors.AsType[*gojq.HaltError](err); ok && halt.Value() == nil {
				break
			}
			msg := ": " + err.Error()
			if r.Count > 0 {
				msg += " (after " + textfile.Count(r.Count, "result") + ")"
			}
			return Result{}, &Error{Msg: msg, Value: true}
		}
		if r.Count++; r.Count > maxResults || b.Len() > maxBytes {
			return Result{}, errResults
		}
		q.room = q.style.Most
		n, err := q.node(v, 0)
		if err != nil {
			return Result{}, err
		}
		b.WriteString(n.Format(q.style))
		b.WriteByte('\n')
	}
	r.Body, r.Calculated = b.String(), q.calculated
	return r, nil
}

// limited is a context that also ends after so many steps of a filter, which asks for Done
// before each, after some time, or when the program's memory has grown too much.
type limited struct {
	context.Context
	end  context.CancelCauseFunc
	left int
}

func bounded(ctx context.Context) *limited {
	ctx, end := context.WithCancelCause(ctx)
	l := &limited{Context: ctx, end: end, left: Steps}
	go watch(ctx, end, time.After(Time), heap()+Memory)
	return l
}

// Done implements [context.Context].
func (l *limited) Done() <-chan struct{} {
	if l.left--; l.left == 0 {
		l.end(errSteps)
	}
	return l.Context.Done()
}

func watch(ctx context.Context, end context.CancelCauseFunc, late <-chan time.Time, most uint64) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-late:
			end(errTime)
			return
		case <-tick.C:
		}
		if now := heap(); now > most {
			if now < most+Memory {
				runtime.GC() // what nothing refers to any more does not count
			}
			if heap() > most {
				end(errMemory)
				return
			}
		}
	}
}

func heap() uint64 {
	memory := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(memory)
	return memory[0].Value.Uint64()
}
