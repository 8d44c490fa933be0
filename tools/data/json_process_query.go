package data

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"reflect"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"toolcrib/tools"
	"toolcrib/tools/internal/jsondoc"
	"toolcrib/tools/internal/text/textfile"
)

// The limits of a query. A plain map and select over a document of the largest size takes some
// millions of steps.
const (
	queryTime   = 5 * time.Second // of the clock, on a machine that others use too
	querySteps  = 10_000_000
	queryMemory = 128 << 20
	queryMost   = 100_000 // results
)

// queryJSON runs a jq filter. It has no environment, no input and no modules.
func queryJSON(ctx context.Context, filter string, doc *jsondoc.Doc, style jsondoc.Style) (head, body string, err error) {
	if strings.TrimSpace(filter) == "" {
		return "", "", tools.Errorf(tools.InvalidArgument, "no filter is given").WithHint("give a jq filter as filter; keys lists the paths of the document")
	}
	query, err := gojq.Parse(filter)
	if err != nil {
		return "", "", filterError(filter, err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return "", "", tools.Errorf(tools.InvalidArgument, "the filter: %s", tools.Visible(err.Error()))
	}
	within, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	steps := newStepped(within)
	q := values{order: map[uintptr][]string{}}
	iter := code.RunWithContext(steps, q.input(doc.Root))
	var b strings.Builder
	count := 0
	for v, more := iter.Next(); more; v, more = iter.Next() {
		if err, failed := v.(error); failed {
			if halt, ok := errors.AsType[*gojq.HaltError](err); ok && halt.Value() == nil {
				break
			}
			return "", "", queryError(ctx, err, count)
		}
		if count++; count > queryMost || b.Len() > 2*maxSource {
			return "", "", queryError(ctx, errResults, count)
		}
		n, err := q.node(v, 0)
		if err != nil {
			return "", "", queryError(ctx, err, count)
		}
		b.WriteString(n.Format(style))
		b.WriteByte('\n')
	}
	head = textfile.Count(count, "result")
	if q.calculated {
		if raw := rounded(filter, doc.Root); raw != "" {
			head += "\nthe filter calculates with floating point, which rounds numbers such as " + raw
		}
	}
	return head, b.String(), nil
}

// rounded returns a number of the filter or the document that floating point does not keep, "" if
// there is none.
func rounded(filter string, n *jsondoc.Node) string {
	for _, word := range strings.FieldsFunc(filter, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }) {
		n := jsondoc.Node{Kind: jsondoc.Number, Raw: word}
		if _, err := strconv.ParseFloat(word, 64); err == nil && n.Rounded() {
			return word
		}
	}
	var find func(n *jsondoc.Node) string
	find = func(n *jsondoc.Node) string {
		if n.Kind == jsondoc.Number && n.Rounded() {
			return n.Raw
		}
		for _, item := range n.Items {
			if raw := find(item); raw != "" {
				return raw
			}
		}
		for _, m := range n.Members {
			if raw := find(m.Value); raw != "" {
				return raw
			}
		}
		return ""
	}
	return find(n)
}

var (
	errSteps   = fmt.Errorf("takes more than %d steps", querySteps)
	errMemory  = fmt.Errorf("takes more than %s of memory", textfile.Size(queryMemory))
	errResults = errors.New("has too many results")
	errDepth   = fmt.Errorf("has a result of more than %d levels", jsondoc.MaxDepth)
)

func queryError(ctx context.Context, err error, count int) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("takes longer than %s", queryTime)
	case errors.Is(err, errSteps), errors.Is(err, errMemory), errors.Is(err, errResults), errors.Is(err, errDepth):
	default:
		msg := "the filter: " + tools.Visible(err.Error())
		if count > 0 {
			msg += " (after " + textfile.Count(count, "result") + ")"
		}
		return tools.Errorf(tools.InvalidArgument, "%s", msg).WithHint("keys lists the paths of the document")
	}
	return tools.Errorf(tools.TooLarge, "the filter %s", err).WithHint("select less")
}

// filterError says where a filter is wrong.
func filterError(filter string, err error) error {
	e, ok := errors.AsType[*gojq.ParseError](err)
	if !ok {
		return tools.Errorf(tools.InvalidArgument, "the filter: %s", tools.Visible(err.Error()))
	}
	return tools.Errorf(tools.InvalidArgument, "the filter: %s at character %d", tools.Visible(e.Error()), len([]rune(filter[:min(max(e.Offset-len(e.Token), 0), len(filter))]))+1)
}

// stepped is a context that also ends after so many steps of a filter, which asks for Done
// before each, or when the program's memory has grown too much.
type stepped struct {
	context.Context
	left   int
	memory []metrics.Sample
	start  uint64
	err    error
}

func newStepped(ctx context.Context) *stepped {
	s := &stepped{Context: ctx, left: querySteps, memory: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}}
	s.start = s.heap()
	return s
}

func (s *stepped) heap() uint64 {
	metrics.Read(s.memory)
	return s.memory[0].Value.Uint64()
}

var ended = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Done implements [context.Context].
func (s *stepped) Done() <-chan struct{} {
	const between = 8 // checks of the memory; a few steps can double a value
	s.left--
	switch {
	case s.err != nil:
	case s.left < 0:
		s.err = errSteps
	case s.left%between == 0 && s.heap() > s.start+queryMemory:
		s.err = errMemory
	default:
		return s.Context.Done()
	}
	return ended
}

// Err implements [context.Context].
func (s *stepped) Err() error {
	if s.err != nil {
		return s.err
	}
	return s.Context.Err()
}

// values converts documents to values of gojq and back.
type values struct {
	order      map[uintptr][]string // of the keys of the input's objects, by the address of the map
	calculated bool                 // a result has as many digits as floating point keeps
}

// input returns a value for gojq.
func (q *values) input(n *jsondoc.Node) any {
	switch n.Kind {
	case jsondoc.Object:
		obj := make(map[string]any, len(n.Members))
		var keys []string
		for _, m := range n.Unique() {
			obj[m.Key] = q.input(m.Value)
			keys = append(keys, m.Key)
		}
		q.order[reflect.ValueOf(obj).Pointer()] = keys
		return obj
	case jsondoc.Array:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = q.input(item)
		}
		return list
	case jsondoc.String:
		return n.Text
	case jsondoc.Number:
		return json.Number(n.Raw)
	case jsondoc.Boolean:
		return n.Raw == "true"
	}
	return nil
}

// node returns a result of gojq as a document. An object of the input has its keys in their
// order, one that the filter made has them sorted.
func (q *values) node(v any, depth int) (*jsondoc.Node, error) {
	if depth > jsondoc.MaxDepth {
		return nil, errDepth
	}
	n := &jsondoc.Node{Kind: jsondoc.Number}
	switch v := v.(type) {
	case bool:
		n.Kind, n.Raw = jsondoc.Boolean, strconv.FormatBool(v)
	case string:
		n.Kind, n.Text, n.Raw = jsondoc.String, v, jsondoc.Quote(v)
	case int:
		n.Raw = strconv.Itoa(v)
	case *big.Int:
		n.Raw = v.String()
	case json.Number:
		n.Raw = v.String()
	case float64:
		if math.IsNaN(v) {
			return q.node(nil, depth)
		}
		if strings.IndexByte(strconv.FormatFloat(v, 'e', -1, 64), 'e') > 15 { // all digits that there are
			q.calculated = true
		}
		text, err := json.Marshal(min(max(v, -math.MaxFloat64), math.MaxFloat64)) // infinity as jq writes it
		n.Raw = string(text)
		return n, err
	case []any:
		n.Kind = jsondoc.Array
		for _, item := range v {
			child, err := q.node(item, depth+1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, child)
		}
	case map[string]any:
		n.Kind = jsondoc.Object
		keys, known := q.order[reflect.ValueOf(v).Pointer()]
		if !known {
			keys = slices.Sorted(maps.Keys(v))
		}
		for _, k := range keys {
			child, err := q.node(v[k], depth+1)
			if err != nil {
				return nil, err
			}
			n.Members = append(n.Members, jsondoc.Member{Key: k, Raw: jsondoc.Quote(k), Value: child})
		}
	default:
		n.Kind, n.Raw = jsondoc.Null, "null"
	}
	return n, nil
}
